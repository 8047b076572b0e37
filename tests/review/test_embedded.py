from __future__ import annotations

from audit.review import hints

_KERNEL = "__global__ void k(float* y) { y[blockIdx.y * blockDim.y + threadIdx.y] = 1; }"


def lines_of(text: str, rule: str) -> list[int]:
    return [hint.spot.line for hint in hints.of_python(text) if hint.rule.name == rule]


def test_cuda_in_a_string_is_read_with_the_lines_of_the_file() -> None:
    text = f'import torch\n\nCUDA = """\n{_KERNEL}\nvoid f(int n) {{\n  k<<<n, 64>>>(y);\n}}\n"""\n'
    assert text.splitlines()[5] == "  k<<<n, 64>>>(y);"
    assert lines_of(text, "launch_geometry") == [6]


def test_a_string_with_escaped_line_breaks_gives_its_own_line() -> None:
    text = f'import torch\nCUDA = "{_KERNEL}\\nvoid f(int n) {{\\n  k<<<n, 64>>>(y);\\n}}\\n"\n'
    assert lines_of(text, "launch_geometry") == [2]


def test_strings_joined_over_lines_count_as_one_source() -> None:
    text = f'CUDA = (\n  "{_KERNEL}"\n  "void f(int n) {{ k<<<n, 64>>>(y); }}"\n)\n'
    assert lines_of(text, "launch_geometry") == [2]


def test_two_sources_are_read_apart() -> None:
    one = f'A = """\n{_KERNEL}\n"""\n'
    other = 'B = """\n__global__ void q() {}\nvoid f(int n) { k<<<n, 64>>>(y); q<<<1, 1>>>(); }\n"""\n'
    assert lines_of(one + other, "launch_geometry") == []
    assert lines_of(one + other, "unlaunched_kernel") == [2]


def test_a_string_without_a_kernel_is_text() -> None:
    assert hints.of_python('TEXT = """\nvoid f(int n) { k<<<n, 64>>>(y); }\n"""\n') == []
