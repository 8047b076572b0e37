from __future__ import annotations

from audit.review import review_source

_KERNEL = "__global__ void k(float* out) { int row = blockIdx.y * blockDim.y + threadIdx.y; out[row] = 1; }\n"


def test_a_hint_is_a_failure_that_does_not_convict() -> None:
    (finding,) = review_source(_KERNEL + "void f(int n) { k<<<n, 32>>>(out); }", target="claimed")
    assert (finding.probe, finding.target, finding.outcome, finding.grade) == (
        "launch_geometry",
        "claimed",
        "fail",
        "hint",
    )
    assert finding.line == 2 and not finding.convicts
    hint = {"line": 2, "kernel": "k", "axis": "y", "index_line": 1, "message": finding.summary, "probe": "coverage"}
    assert finding.evidence == {"hints": [hint]}


def test_a_launch_that_fits_passes() -> None:
    (finding,) = review_source(_KERNEL + "void f(int n) { k<<<dim3(1, n), 32>>>(out); }", target="fixed")
    assert finding.outcome == "pass" and "1 launch read" in finding.summary


def test_a_source_without_a_launch_clears_nobody() -> None:
    (finding,) = review_source(_KERNEL, target="other")
    assert finding.outcome == "skip"
