"""Changes that repair a source, proposed from its text and from what was proved of it."""

from __future__ import annotations

import pytest

from audit.model import Change, Finding
from audit.model.finding import MOST_REPAIRS
from audit.review import hints
from audit.review.repairs import propose, propose_python
from tests.conftest import some
from tests.review import odd_sources

ROW = "int row = blockIdx.y * blockDim.y + threadIdx.y;"
COVERAGE = Finding(probe="coverage", target="claimed", outcome="fail", grade="proved", summary="half of it")


def seen(kind: str, *lines: int) -> Finding:
    reports = [{"kind": kind, "line": line, "kernel": "k"} for line in lines]
    evidence = {"reports": reports}
    return Finding.model_validate(
        {"probe": "memory_access", "target": "claimed", "outcome": "fail", "grade": "proved", "summary": kind,
         "evidence": evidence}
    )  # fmt: skip


def source(launch: str, *, guard: str = "row >= n", host: str = "auto out = torch::ones_like(x);") -> str:
    return (
        f"__global__ void k(float* out, int n) {{\n  {ROW}\n  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"  if ({guard}) return;\n  out[row * n + col] = 1.f;\n}}\n"
        f"torch::Tensor f(torch::Tensor x, int n) {{\n  {host}\n  {launch}\n  return out;\n}}\n"
    )


def changed(text: str, *proved: Finding) -> list[tuple[str, str]]:
    """What each change is, and its new lines; each fits its source."""
    found = propose(text, proved)
    assert all(one.applied(text) != text for one in found)
    return [(one.what, "\n".join(line.strip() for line in one.added)) for one in found]


@pytest.mark.parametrize(
    ("launch", "becomes"),
    [
        ("k<<<n, 256>>>(p, n);", "k<<<dim3(n, n), 256>>>(p, n);"),
        ("k<<<(n + 255) / 256, 256>>>(p, x.size(0));", "k<<<dim3((n + 255) / 256, x.size(0)), 256>>>(p, x.size(0));"),
        ("k<<<n, dim3(32, 8)>>>(p, n);", "k<<<dim3(n, (n + 8 - 1) / 8), dim3(32, 8)>>>(p, n);"),
        ("dim3 g(n); k<<<g, 256>>>(p, n);", "dim3 g(n); k<<<dim3(g.x, n), 256>>>(p, n);"),
    ],
)
def test_a_grid_spans_the_axis_that_the_kernel_indexes(launch: str, becomes: str) -> None:
    assert changed(source(launch), COVERAGE) == [("2-D grid", becomes)]


@pytest.mark.parametrize(
    "text",
    [
        source("k<<<dim3(n, n), 256>>>(p, n);"),
        source("k<<<n, 256>>>(p, n);", guard="col >= n"),
        source("k<<<n, 256>>>(p, n++);"),
        source("k<<<n, 256>>>(p, n); k<<<dim3(n, n), 256>>>(p, n);"),
        "int main() { return 0; }",
        "}}}} <<<>>> __global__ (",
        "",
    ],
)
def test_no_grid_is_proposed_where_the_source_does_not_say_which(text: str) -> None:
    assert changed(text, COVERAGE) == []


def test_nothing_is_proposed_without_a_proof() -> None:
    assert changed(source("k<<<n, 256>>>(p, n);", host="auto out = torch::empty_like(x);")) == []


@pytest.mark.parametrize(
    ("host", "launch", "becomes"),
    [
        ("int m = x.numel();", "k<<<m / 256, 256>>>(p, m);", "k<<<(m + 256 - 1) / 256, 256>>>(p, m);"),
        ("int t = 64, b = x.numel() / t;", "k<<<b, t>>>(p, 1);", "int t = 64, b = (x.numel() + t - 1) / t;"),
        ("int m = x.numel();", "k<<<(m + 255) / 256, 256>>>(p, m);", None),
    ],
)
def test_a_number_of_blocks_is_rounded_up(host: str, launch: str, becomes: str | None) -> None:
    kernel = (
        "__global__ void k(float* y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  y[i] = 1.f;\n}\n"
    )
    text = f"{kernel}void f(torch::Tensor x, float* p) {{\n  {host}\n  {launch}\n}}\n"
    assert [new for _, new in changed(text, COVERAGE)] == ([becomes] if becomes else [])


TREE = """__global__ void k(const float* x, float* y, int n) {
    __shared__ float s[256];
    s[threadIdx.x] = x[threadIdx.x];
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            s[threadIdx.x] += s[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) y[0] = s[0];
}
"""


def test_a_barrier_stands_where_all_threads_come() -> None:
    assert changed(TREE, seen("race-shared", 6)) == [
        ("barrier before line 8", "__syncthreads();"),
        ("barrier before line 5", "__syncthreads();"),
    ]
    assert changed(TREE, seen("race-shared", 3, 6))[0] == ("barrier before line 4", "__syncthreads();")


def test_a_barrier_is_not_put_beside_one_nor_for_other_memory() -> None:
    there = TREE.replace("        }\n    }\n", "        }\n        __syncthreads();\n    }\n")
    assert [what for what, _ in changed(there, seen("race-shared", 6))] == ["barrier before line 5"]
    assert changed(TREE, seen("race-global", 9)) == []
    assert changed(TREE, seen("race-shared", 400)) == []


FLAT = """__global__ void k(const float* x, float* y, const int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}
"""


def test_a_guard_is_made_or_made_strict() -> None:
    bad = seen("out-of-bounds-read", 3)
    assert changed(FLAT, bad) == [("guard before line 3", "if (i >= n) return;")]
    loose = FLAT.replace("    y[i]", "    if (i <= n) y[i]")
    assert changed(loose, bad) == [("comparison < on line 3", "if (i < n) y[i] = x[i];")]


@pytest.mark.parametrize(
    "text",
    [
        FLAT.replace("const int n", "const int n, const int m"),
        FLAT.replace("const int n", "const float n"),
        FLAT.replace("    y[i]", "    __syncthreads();\n    y[i]"),
        FLAT.replace("    y[i]", "    if (i < n) y[i + 1]"),
    ],
)
def test_no_guard_is_proposed_where_the_source_does_not_say_which(text: str) -> None:
    assert changed(text, seen("out-of-bounds-write", 3)) == []


def test_the_one_allocation_is_filled() -> None:
    text = source("k<<<dim3(n, n), 256>>>(p, n);", host="auto out = torch::empty({n, n}, x.options());")
    expected = [("zero-initialised output", "auto out = torch::zeros({n, n}, x.options());")]
    assert changed(text, COVERAGE) == expected
    assert changed(text, seen("uninitialised-read", 5)) == expected
    assert changed(text.replace("return out", "auto more = x.new_empty({1}); return out"), COVERAGE) == []
    assert changed(text.replace("torch::empty", "cache.empty"), COVERAGE) != expected


def test_the_cuda_source_of_a_python_file_is_repaired_in_its_lines() -> None:
    bad = seen("out-of-bounds-read", 5)
    text = f"import torch\n\nsource = '''{FLAT}'''\nmore = 1\n"
    (change,) = propose_python(text, [bad])
    assert (change.line, change.added) == (5, ("    if (i >= n) return;",))
    assert change.applied(text).split("\n")[3:6] == [FLAT.split("\n")[1], change.added[0], FLAT.split("\n")[2]]
    assert hints.changes(text, [bad], python=True) == [change]


@pytest.mark.parametrize(
    "text",
    [
        f"source = {FLAT!r}\n",
        f"one = '''{FLAT}'''\nother = '''{FLAT}'''\n",
        f"source = '''{FLAT}",
        "import torch\n",
    ],
)
def test_a_python_file_whose_lines_are_others_is_left_alone(text: str) -> None:
    assert [change for line in range(1, 8) for change in propose_python(text, [seen("out-of-bounds-read", line)])] == []


def test_changes_are_few_and_short() -> None:
    many = FLAT.replace("    y[i]", "    if (i <= n && i <= n)\n    if (i <= n)\n    if (i <= n)\n    if (i <= n) y[i]")
    assert len(propose(many, [seen("out-of-bounds-read", 6)])) == MOST_REPAIRS
    long = FLAT.replace("    y[i] =", f"    if (i <= n) /* {'x' * 400} */ y[i] =")
    assert propose(long, [seen("out-of-bounds-read", 3)]) == []


def test_a_change_fits_one_source_alone() -> None:
    change = Change(what="a change", line=2, removed=("b",), added=("c", "d"))
    assert change.applied("a\nb\n") == "a\nc\nd\n"
    for other in ("a\nB\n", "a", ""):
        with pytest.raises(ValueError, match="line 2"):
            change.applied(other)


def test_no_source_makes_a_proposal_crash() -> None:
    for text in some(odd_sources.cuda()):
        lines = range(1, min(text.count("\n") + 2, 40))
        proved = [COVERAGE, seen("out-of-bounds-read", *lines), seen("race-shared", *lines)]
        assert all(change.applied(text) != text for change in propose(text, proved)), text[:200]
    for text in some(odd_sources.python()):
        assert all(change.applied(text) != text for change in propose_python(text, [COVERAGE])), text[:200]
