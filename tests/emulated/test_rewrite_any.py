"""The rewriter on text that is hardly CUDA: it ends, keeps line numbers, and changes no line without a launch."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from audit.build.emulated.rewrite import operator_headers, rewrite
from audit.review.cuda_source import parse
from tests.emulated.test_rewrite import numbered

TOKENS = st.sampled_from([
    "<<<", ">>>", "<<", ">>", "<", ">", "(", ")", "[", "]", "{", "}", ",", ";", "=", "::", "->", "*", "&", "#", "##",
    "\\\n",
    "\n", "\n", " ", "'", '"', '"""', 'R"x(', ')x"', "/*", "*/", "//", "?:", "k", "k<1, 2>", "template <typename T>",
    "__global__ void k(", "__shared__ float s[4]", "extern __shared__ int d[]", "#define M(x) x<<<1, 1>>>(x)", "#if 0",
    "#include <cuda.h>", "#endif", "torch::zeros(", ".type()", ".is_cuda()", "DeviceType::CUDA", 'Device("cuda:0")',
    "0",
    "AT_DISPATCH_FLOATING_TYPES(", "NULL", "return", "namespace n {", 'extern "C" {', "\u202e", "\u00e9", "\U0001f600",
    "\t", "\r\n", "\f", "float* x", "dim3", "operator()",
])  # fmt: skip
JUNK = st.lists(TOKENS, max_size=60).map(" ".join)
NAMES = st.sampled_from(["k", "n::k", "k<1>", "k<float, 2>"])
SIZES = st.sampled_from(["1, 1", "grid, block", "dim3(1, 2), 32, 0, s", "(n + 31) / 32, f(a, b)"])
LAUNCHES = st.builds(lambda name, size, arguments: f"  {name}<<<{size}>>>({arguments});", NAMES, SIZES,
                     st.sampled_from(["", "x", "x, NULL, 0", "f(x), y[1]"]))  # fmt: skip
LINES = st.sampled_from([
    "  int a = 1;", "  x[a] = b << 3;", "  // k<<<1, 1>>>(x);", '  f("k<<<1, 1>>>(x);");', "", "  a = b > c;",
])  # fmt: skip


def rewritten(text: str) -> str:
    source = parse(text)
    operator_headers(source)
    return rewrite(source, name="a.cu")


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(JUNK)
def test_any_text_is_rewritten_and_keeps_its_lines(text: str) -> None:
    made = rewritten(text)
    assert max(numbered(made)) >= text.count("\n")


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.lists(LINES | LAUNCHES, min_size=1, max_size=12))
def test_lines_without_a_launch_stay(lines: list[str]) -> None:
    text = "\n".join(["void host(float* x, float* y) {", *lines, "}", ""])
    made = numbered(rewritten(text))
    for number, line in enumerate(text.split("\n"), 1):
        launched = "cuemu::launch" in made[number]
        assert launched == (line in lines and "<<<" in line and not line.lstrip().startswith(("//", "f(")))
        assert launched or made[number] == line


def test_every_one_of_very_many_launches_is_rewritten() -> None:
    many = "void h() {\n" + "k<<<1, 1>>>(x);\n" * 2000 + "}\n"
    assert rewritten(many).count("cuemu::launch") == 2000
