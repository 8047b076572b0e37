from __future__ import annotations

import pytest

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Launch, parse
from audit.review.rules.cuda.grids import launch_geometry
from audit.review.unsupported import unsupported
from tests.conftest import some
from tests.review.sample import SAMPLE, spoiled


def test_functions_have_kinds_and_parameters() -> None:
    source = parse(SAMPLE)
    assert [(each.name, each.kind, each.line) for each in source.functions] == [
        ("twice", "device", 12),
        ("k", "kernel", 16),
        ("f", "host", 33),
    ]
    kernel = source.functions[1]
    assert [(each.name, each.is_pointer) for each in kernel.parameters] == [("a", True), ("b", True), ("n", False)]
    assert SAMPLE[kernel.start :].startswith("template <typename T, int N>")
    assert SAMPLE[kernel.body_start] == "{" and SAMPLE[kernel.end - 1] == "}"


@pytest.mark.parametrize(
    ("text", "kind", "for_host"),
    [
        ("__host__ __device__ int f() { return 1; }", "device", True),
        ("static inline __device__ int f() { return 1; }", "device", False),
        ('extern "C" __global__ void f() {}', "kernel", False),
        ("#define HD __host__ __device__\nHD int f() { return 1; }", "device", True),
        ("#define KERNEL __global__ void\nKERNEL f(int* a) { a[0] = 1; }", "kernel", False),
        ("struct S { __device__ int f() const { return 1; } };", "device", False),
        ("int f() { return 1; }", "host", True),
    ],
)
def test_kind_of_a_function(text: str, kind: str, for_host: bool) -> None:
    (function,) = parse(text).functions
    assert (function.name, function.kind, function.for_host) == ("f", kind, for_host)


def test_every_launch_is_found_and_no_other() -> None:
    found = [(each.line, each.kernel_text, each.kernel_name, each.in_macro) for each in parse(SAMPLE).launches]
    assert found == [
        (6, "K", "K", True),
        (36, "(ns::k<float, 3>)", "k", False),
        (37, "ns::k<float, (3 >> 1)>", "k", False),
        (38, "::ns::k <float, 2>", "k", False),
        (43, "k<scalar_t, B<3>::v>", "k", False),
        (46, "pointer", "pointer", False),
    ]


def test_launch_configuration_is_split_at_its_own_commas() -> None:
    source = parse(SAMPLE)
    found = {each.line: each for each in source.launches}
    assert found[6].configuration == ("(n + 31) / 32", "32")
    assert found[37].configuration == ("(n + (1 << 3)) >> 3", "b", "0", "stream")
    assert found[38].configuration == ("n >> 3", "dim3(1, 2)")
    assert source.code[found[36].arguments_start : found[36].end] == "a.data_ptr<float>(), 0)"


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("k", "k"),
        ("kernels[i]", "kernels"),
        ("this->entry", "entry"),
        ("a.b::k<A<B<3 << 1>>>", "k"),
        ("k<(1 > 2), T>", "k"),
        ("name##_kernel<T>", "name##_kernel"),
    ],
)
def test_kernel_expression_in_a_macro(expression: str, name: str) -> None:
    (launch,) = parse(f"#define GO(T, name) do {{ {expression} <<<1, 2>>> (T); }} while (0)\n").launches
    assert (launch.kernel_text, launch.kernel_name) == (expression, name)


@pytest.mark.parametrize(
    "text", ["out << a <<<b;", "k<<<1>>>(a);", "k<<<1, 2, 3, 4, 5>>>(a);", "k<<<1, 2>>>;", "<<<1, 2>>>(a);"]
)
def test_no_launch(text: str) -> None:
    assert parse(f"void f() {{ {text} }}").launches == ()


def test_a_launch_beside_a_syntax_error_is_found() -> None:
    found = parse("void f() { int = ) 3; k<float><<<1, 2>>>(a, ; }\nvoid g() { q<<<1, 2>>>(a); }").launches
    assert _names(found)[-1] == "q"


def _names(found: tuple[Launch, ...]) -> list[str]:
    return [launch.kernel_name for launch in found]


def test_shared_declarations() -> None:
    source = parse(SAMPLE)
    found = [(each.line, each.base_type, each.names_and_dims, each.dynamic, each.volatile) for each in source.shared]
    assert found == [
        (8, "T", (("name", "[32][33]"),), False, False),
        (10, "char", (("raw", "[]"),), True, False),
        (11, "float", (("scratch", "[32]"),), False, False),
        (17, "float", (("t", "[32][N + 1]"), ("u", ""), ("p", "")), False, False),
        (18, "int", (("v", "[2]"),), False, True),
        (19, "int", (("w", "[2]"),), False, True),
        (20, "float4", (("four", "[N]"),), False, False),
        (21, "float", (("late", "[32]"),), False, False),
        (22, "std::pair<int, float>", (("pairs", "[2]"),), False, False),
        (23, "struct { int a; float c; }", (("both", ""),), False, False),
        (25, "float", (("aligned", "[2]"),), False, False),
        (26, "T", (("first", "[sizeof(T) > 4 ? 2 : N]"),), False, False),
        (27, "unsigned char", (("bytes", "[]"),), True, False),
        (28, "float", (("rows", "[][32]"),), True, True),
    ]
    assert source.shared[3].pointers == ("", "", "*")
    assert SAMPLE[source.shared[11].start :].startswith("alignas(16) __shared__")


def test_includes_and_positions() -> None:
    source = parse(SAMPLE)
    assert [(each.header, each.line) for each in source.includes] == [("torch/extension.h", 2), ("cuda_runtime.h", 3)]
    inside = SAMPLE.index("TORCH_CHECK")
    assert source.line_of(inside) == 34
    function = source.function_at(inside)
    assert function is not None and function.name == "f"
    assert source.function_at(SAMPLE.index("namespace ns")) is None


def test_errors_are_counted_and_local() -> None:
    assert parse("__global__ void k(int* a) { a[0] = 1; }").error_count == 0
    source = parse("int = ) 3;\n__global__ void k(int* a) { a[0] = 1; }")
    assert source.error_count > 0
    assert [each.name for each in source.functions] == ["k"]


def test_offsets_hold_with_characters_beyond_ascii() -> None:
    text = "// größer als 1 €\n" + SAMPLE
    plain, shifted = parse(SAMPLE).launches, parse(text).launches
    assert [launch.start - (len(text) - len(SAMPLE)) for launch in shifted] == [launch.start for launch in plain]


def test_nothing_crashes() -> None:
    for text in some(spoiled()):
        source = parse(text)
        assert source.text == text
        lines = [each.line for each in (*launch_geometry.find(CudaReading(source)), *unsupported(source))]
        assert all(0 < line <= text.count("\n") + 1 for line in lines)
