from __future__ import annotations

from audit.review.hints import Source, reviewed

_KERNEL = "__global__ void k(float* out) { int row = blockIdx.y * blockDim.y + threadIdx.y; out[row] = 1; }\n"
_ROUNDING = "__global__ void k(const float* x, float* y) { y[0] = __half2float(__float2half(x[0])); }\n"


def test_a_hint_is_a_failure_that_fails_no_kernel() -> None:
    geometry, others = reviewed(Source(_KERNEL + "void f(int n) { k<<<n, 32>>>(out); }", target="claimed"))
    assert (geometry.probe, geometry.target, geometry.outcome, geometry.grade) == (
        "launch_geometry",
        "claimed",
        "fail",
        "hint",
    )
    assert geometry.line == 2 and not geometry.fails_kernel
    hint = {"line": 2, "message": geometry.summary}
    assert geometry.evidence == {"confirm_with": "coverage", "standing": "hint", "hints": [hint]}
    assert (others.probe, others.outcome) == ("review", "pass")


def test_a_launch_that_fits_passes() -> None:
    geometry, others = reviewed(Source(_KERNEL + "void f(int n) { k<<<dim3(1, n), 32>>>(out); }", target="fixed"))
    assert geometry.outcome == "pass" and "1 launch read" in geometry.summary
    assert others.outcome == "pass"


def test_a_source_without_a_launch_clears_nobody() -> None:
    findings = reviewed(Source(_KERNEL, target="other", advice=True))
    assert [(finding.probe, finding.outcome) for finding in findings] == [
        ("launch_geometry", "skip"),
        ("review.unlaunched_kernel", "fail"),
    ]


def test_a_rule_that_speaks_twice_is_one_finding_with_all_its_lines() -> None:
    text = "void f() { std::thread a(run);\n fork(); }"
    (finding,) = [each for each in reviewed(Source(text, target="t")) if each.probe == "review.threads"]
    assert finding.line == 1
    assert [hint["line"] for hint in finding.evidence["hints"]] == [1, 2]  # type: ignore[union-attr,index,call-overload]
    assert finding.evidence["confirm_with"] == "threads"


def test_advice_is_told_on_request_only() -> None:
    text = _KERNEL + "void f(int n) { k<<<dim3(1, n), 32>>>(out); }"
    plain = {finding.probe for finding in reviewed(Source(text, target="t"))}
    advised = {finding.probe for finding in reviewed(Source(text, target="t", advice=True))}
    assert plain == {"launch_geometry", "review"}
    assert advised == {"launch_geometry", "review.legacy_stream", "review.unchecked_launch"}


def test_rules_about_rounding_are_silent_where_lower_precision_is_declared() -> None:
    def probes(precision: str) -> set[str]:
        return {finding.probe for finding in reviewed(Source(_ROUNDING, target="t", precision=precision))}

    assert "review.cast_down" in probes("fp32")
    assert "review.cast_down" not in probes("fp16")


def test_rules_about_rounding_are_silent_on_what_the_claimed_function_does_not_reach() -> None:
    text = """#define LAUNCH(kernel) kernel<<<1, 32>>>(x)
__device__ float rounded(float v) { return __half2float(__float2half(v)); }
__global__ void plain(float* x) { x[threadIdx.x] = 1.0f; }
__global__ void lower(float* x) { x[threadIdx.x] = rounded(x[threadIdx.x]); }
void one(float* x) { LAUNCH(plain); }
void other(float* x) { LAUNCH(lower); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &one); m.def("half", &other); }
"""

    def spoken(text: str, entry: str) -> bool:
        return any(one.probe == "review.cast_down" for one in reviewed(Source(text, target="t", entry=entry)))

    assert [spoken(text, entry) for entry in ("forward", "one", "half", "other")] == [False, False, True, True]
    assert spoken(text, "") and spoken(text, "elsewhere")  # not in the source: everything counts
    assert spoken(text + "#define CALL(name) name##_kernel()\n", "forward")  # names are put together


def test_python_is_asked_the_python_rules() -> None:
    text = "import gc\ndef forward(x):\n    return gc.get_objects()\n"
    *_, finding, reached = reviewed(Source(text, target="t", python=True))
    assert (reached.probe, reached.outcome) == ("reach", "error")
    assert (finding.outcome, finding.grade) == ("fail", "hint")
    found = reviewed(Source("import gc\nfound = gc.get_objects()\n", target="t", python=True))
    probes = {each.probe: each.line for each in found}
    assert probes == {"review.heap_scan": 2, "reach": 1}


def test_python_without_a_hint_passes() -> None:
    (finding,) = reviewed(Source("def forward(x):\n    return x * 2 + 1\n", target="t", python=True))
    assert (finding.probe, finding.outcome) == ("review", "pass")


def test_what_is_not_python_is_skipped() -> None:
    (finding,) = reviewed(Source("def forward(x:\n", target="t", python=True))
    assert (finding.probe, finding.outcome) == ("review", "skip")
    assert "line 1" in finding.summary
