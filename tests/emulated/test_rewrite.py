from __future__ import annotations

import re

import pytest

from audit.build.emulated.rewrite import operator_headers, rewrite
from audit.review.cuda_source import parse
from tests.conftest import some
from tests.review.sample import SAMPLE, spoiled


def _rewritten(text: str) -> str:
    return rewrite(parse(text), name="a.cu")


def _body(text: str) -> str:
    """What follows the line marker behind the includes."""
    return _rewritten(text).split('#line 1 "a.cu"\n')[-1]


def numbered(produced: str) -> dict[int, str]:
    """Line texts by the numbers that a compiler would give them."""
    lines: dict[int, str] = {}
    number = 1
    for line in produced.split("\n"):
        if marker := re.match(r"#line (\d+) ", line):
            number = int(marker[1])
            continue
        lines[number] = line
        number += 1
    return lines


def _marked(text: str) -> str:
    """A declaration at the end of every line that ends a statement or opens a block outside macros."""
    lines = text.split("\n")
    free = [line.endswith((";", "{")) and not line.lstrip().startswith("#") for line in lines]
    numbered = enumerate(zip(lines, free, strict=True), 1)
    return "\n".join(f"{line} int MARK{number};" if ok else line for number, (line, ok) in numbered)


def test_every_line_keeps_its_number() -> None:
    lines = numbered(_rewritten(_marked(SAMPLE)))
    marks = {int(mark): number for number, line in lines.items() for mark in re.findall(r"MARK(\d+)", line)}
    assert len(marks) > 25
    assert all(mark == number for mark, number in marks.items())


def test_a_macro_stays_one_logical_line() -> None:
    produced = _rewritten("#define GO(K) \\\n  K \\\n  <float> \\\n  <<<1, \\\n 2>>> \\\n (a) \\\n; MARK\nint after;\n")
    lines = numbered(produced)
    assert lines[8] == "int after;"
    assert all(lines[number].endswith("\\") for number in range(1, 7))
    assert "MARK" in lines[7]


def test_launch() -> None:
    assert _body("void f() { k<T, 2><<<g, b, 0, s>>>(x, y); }") == (
        'void f() { ::cuemu::launch("k<T, 2>", 1, g, b, 0, s).with(x, y) % '
        "[&](auto... cuemu_arg) { k<T, 2>(cuemu_arg...); }; }"
    )


def test_launch_of_a_macro_parameter_is_named_after_the_argument() -> None:
    assert "::cuemu::launch(#K, 6, (n + 31) / 32, " in _rewritten(SAMPLE)
    assert '::cuemu::launch("k<T>", 1, ' in _body("#define GO(T) k<T><<<1, 2>>>(a)\n")


def test_null_pointers_survive_being_passed_on() -> None:
    text = "__global__ void k(float* a, int b, const int* c) {}\nvoid f() { k<<<1, 2>>>(0, 0, NULL); }"
    assert ".with(nullptr, 0, nullptr)" in _rewritten(text)


def test_static_shared_memory() -> None:
    assert _body("__global__ void k() { __shared__ volatile float a[2][N + 1], *b; }") == (
        "__global__ void k() { typedef volatile float cuemu_type_1 [2][N + 1]; "
        "cuemu_type_1& a = ::cuemu::shared<cuemu_type_1, struct cuemu_tag_1>(); "
        "typedef volatile float* cuemu_type_2; cuemu_type_2& b = ::cuemu::shared<cuemu_type_2, struct cuemu_tag_2>(); }"
    )


def test_static_shared_memory_of_a_type_defined_in_its_declaration() -> None:
    body = _body("__global__ void k() { __shared__ struct S { volatile int f; T a[2 * N], b[N]; } s[2], *p; }")
    assert body.startswith(
        "__global__ void k() { typedef struct S { volatile int f; T a[2 * N], b[N]; } cuemu_base_1; "
        "typedef cuemu_base_1 cuemu_type_1 [2]; cuemu_type_1& s = "
    )
    assert "typedef cuemu_base_1* cuemu_type_2; cuemu_type_2& p = " in body
    assert "typedef decltype(x[0]) cuemu_type_1 [N]; " in _body("void k() { __shared__ decltype(x[0]) s[N]; }")


def test_dynamic_shared_memory() -> None:
    body = _body("__global__ void k() { extern __shared__ __align__(16) char s[]; extern __shared__ T r[][8]; }")
    assert body == (
        "__global__ void k() { extern char cuemu_extern_array_s[]; "
        "char (&s)[] = *static_cast<char (*)[]>(::cuemu::dynamic_shared()); "
        "extern T cuemu_extern_array_r[][8]; typedef T cuemu_type_2[8]; "
        "cuemu_type_2 (&r)[] = *static_cast<cuemu_type_2 (*)[]>(::cuemu::dynamic_shared()); }"
    )
    copied = _body("__global__ void k() { extern __shared__ char s[]; each([=](int i) { s[i] = 0; }); }")
    assert "char* s = static_cast<char*>(::cuemu::dynamic_shared());" in copied, "no lambda copies an array of no size"


def test_shared_memory_at_namespace_scope_is_bound_where_it_is_used() -> None:
    text = (
        "extern __shared__ char raw[];\nnamespace n {\n__shared__ int count[4];\n}\n"
        "__global__ void both() { count[0] = raw[0]; }\n__global__ void none(int* raw) { raw[0] = x.count; }\n"
        "__global__ void own() { extern __shared__ float raw[]; }\n"
    )
    lines = numbered(_rewritten(text))
    assert lines[1] == "extern char cuemu_extern_array_raw[]; static ::cuemu::DynamicShared<char> raw;"
    assert lines[3] == "typedef int cuemu_type_2 [4]; struct cuemu_tag_2;"
    assert lines[5] == (
        "__global__ void both() { char (&raw)[] = *static_cast<char (*)[]>(::cuemu::dynamic_shared()); "
        "cuemu_type_2& count = ::cuemu::shared<cuemu_type_2, struct cuemu_tag_2>(); count[0] = raw[0]; }"
    )
    assert lines[6] == "__global__ void none(int* raw) { raw[0] = x.count; }"
    assert lines[7].count("raw)[] =") == 1


def test_shared_memory_in_a_function_that_the_grammar_lost() -> None:
    assert "DynamicShared" not in _rewritten("WHAT IS ( THIS void k() {\n extern __shared__ float s[];\n s[0] = 1;\n}")


def test_a_macro_that_declares_shared_memory_can_stand_twice_in_one_scope() -> None:
    assert "typedef T cuemu_type_1_##n [4]; cuemu_type_1_##n& n = " in _body("#define S(T, n) __shared__ T n[4]\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.type().is_cuda()", "x.is_cuda()"),
        ("#define CHECK(x) TORCH_CHECK(x.type().is_cuda())", "#define CHECK(x) TORCH_CHECK(x.is_cuda())"),
        ("c10::DeviceType::CUDA", "c10::DeviceType::CPU"),
        ('o.device("cuda")', 'o.device("cpu")'),
        ('torch::Device("cuda:0")', 'torch::Device("cpu")'),
        (
            'AT_DISPATCH_FLOATING_TYPES(x.type(), "k", [&] {})',
            'AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "k", [&] {})',
        ),
        (
            "AT_DISPATCH_ALL_TYPES_AND(at::kHalf, x[0].type(), n)",
            "AT_DISPATCH_ALL_TYPES_AND(at::kHalf, x[0].scalar_type(), n)",
        ),
        ("AT_DISPATCH_X(x.scalar_type(), n)", "AT_DISPATCH_X(x.scalar_type(), n)"),
        (
            's = "x.type().is_cuda() DeviceType::CUDA k<<<1, 2>>>(a)"',
            's = "x.type().is_cuda() DeviceType::CUDA k<<<1, 2>>>(a)"',
        ),
    ],
)
def test_host_expressions(text: str, expected: str) -> None:
    assert _body(text) == expected


def test_what_follows_the_includes() -> None:
    produced = _rewritten("#include <a.h>\n#include <b.h>\nint x;\n")
    assert produced == (
        '#line 1 "a.cu"\n#include <a.h>\n#include <b.h>\n#include "cuemu/after_includes.h"\n#line 3 "a.cu"\nint x;\n'
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("int x;", 1),
        ("#include <a.h>", 2),
        ("#ifdef A\n#include <a.h>\n#endif\nint x;\n", 4),
        ("#if A\n#if B\n#include <a.h>\n#endif\n#endif\nint x;\n", 6),
        ("#include <a.h>\nvoid f() {}\n#include <b.h>\nint x;\n", 4),
        ("#include <a.h>\nvoid f() {}\n#include <torch/extension.h>\nint x;\n", 2),
        ("void f() {}\n#include <torch/extension.h>\n", 1),
        ("#include <b.h>\nvoid f() {}\n#include <b.h>\nint x;\n", 2),
        ("void f() {}\n#include <b.h>\nvoid g() {}\n#include <b.h>\n", 3),
        ("#ifndef GUARD\n#include <a.h>\nint f() { return 1; }\n#endif\n", 3),
    ],
)
def test_place_behind_the_includes(text: str, line: int) -> None:
    assert f'after_includes.h"\n#line {line} "a.cu"\n' in _rewritten(text)


def test_macros_of_nvcc_are_renamed_in_code_alone() -> None:
    body = _body('#if __CUDA_ARCH__ < 700\n__shared__ int s[__CUDA_ARCH__]; // __CUDA_ARCH__\n"__NVCC__";\n#endif')
    assert body.startswith("#if CUEMU_CUDA_ARCH < 700\n")
    assert "cuemu_type_1 [CUEMU_CUDA_ARCH]" in body
    assert body.count("_ARCH__") == body.count("__NVCC__") == 1
    assert "__CUDA_ARCH_LIST__" in _body("#ifdef __CUDA_ARCH_LIST__\n#endif")


def test_headers_of_refused_libraries_go() -> None:
    assert "cudnn" not in _rewritten("#include <cudnn.h>\n#include <cuda_runtime.h>\n")


def test_file_name_is_quoted() -> None:
    assert rewrite(parse(""), name='a"\\b').startswith('#line 1 "a\\"\\\\b"\n')


def test_operator_headers() -> None:
    text = (
        "torch::matmul(a, b); at::zeros({}); // torch::relu(\n torch::Tensor c(d); at::cuda::stream(); torch :: mm (a)"
    )
    assert operator_headers(parse(text)) == ["matmul", "mm", "zeros"]


def test_nothing_crashes_and_lines_stay() -> None:
    for text in some(spoiled()):
        produced = numbered(_rewritten(text))
        assert max(produced, default=1) >= len(text.split("\n")) - 1


@pytest.mark.parametrize("cast", ["(void*)", "(const void *)", "reinterpret_cast<const void*>", "( void const* )"])
def test_a_kernel_handed_over_as_an_address_keeps_its_signature(cast: str) -> None:
    body = _body(f"void f() {{ cudaLaunchKernel({cast}(k<float>), g, b, a, 0, s); }}")
    assert body == "void f() { cudaLaunchKernel((k<float>), g, b, a, 0, s); }"


@pytest.mark.parametrize(
    ("written", "produced"),
    [
        ("(const void*)&n::k<1>", "::cuemu::Address{} % &n::k<1>"),
        ("reinterpret_cast<void*>(k<1>)", "::cuemu::kernel_address(k<1>)"),
        ("(const void*)x", "(const void*)x"),
    ],
)
def test_a_kernel_kept_as_an_address_can_be_launched_from_it(written: str, produced: str) -> None:
    kernel = "template <int I> __global__ void k() {} "
    assert _body(f"{kernel}void f() {{ const void* p = {written}; }}").endswith(f"const void* p = {produced}; }}")


def test_a_cast_elsewhere_stays() -> None:
    text = "void f() { launch((void*)k, g); void* a[] = {(void*)&x}; }"
    assert _body(text) == text


@pytest.mark.parametrize(
    ("written", "produced"),
    [
        ("(int)x", "::cuemu::cast<int>(x)"),
        ("(unsigned  char) x + 1", "::cuemu::cast<unsigned char>(x) + 1"),
        ("static_cast<int8_t>(x)", "::cuemu::cast<int8_t>(x)"),
        ("int(x)", "::cuemu::cast<int>(x)"),
        ("(long)(int)x", "::cuemu::cast<long>(::cuemu::cast<int>(x))"),
        ("x << y", "::cuemu::shifted(x) << y"),
        ("1u << x >> y", "::cuemu::shifted(::cuemu::shifted(1u) << x) >> y"),
        ("x + 1 >> y", "::cuemu::shifted(x + 1) >> y"),
        *(
            (text, text)
            for text in (
                "(float)x",
                "static_cast<T>(x)",
                "(int*)x",
                "(bool)x",
                "x << 3",
                "sizeof(int) * x",
                "T<U<2>>(x)",
            )
        ),
    ],
)
def test_casts_to_integers_and_shifts_of_device_functions(written: str, produced: str) -> None:
    assert _body(f"__device__ void f() {{ auto z = {written}; }}") == f"__device__ void f() {{ auto z = {produced}; }}"
    of_host = f"void f() {{ auto z = {written}; }}"
    assert _body(of_host) == of_host


def test_launch_bounds_are_checked_where_the_body_starts() -> None:
    check = " ::cuemu::launch_bounds({});"
    for head, bounds in (
        ("template <int N> __global__ void __launch_bounds__(N, 2) k(float* x)", "N, 2"),
        ("__launch_bounds__(f(2) * 32) __global__ void k(float (*x)[3])", "f(2) * 32"),
        ("#define K __global__ __launch_bounds__(64)\n#ifdef K\n#endif\nK void k()", "64"),
    ):
        assert _body(f"{head} {{ g(); }}\nvoid h() {{}}") == f"{head} {{{check.format(bounds)} g(); }}\nvoid h() {{}}"
    for text in (
        "__global__ void __launch_bounds__(64) k(float* x);\n__global__ void other() {}",
        "__global__ void __launch_bounds__(N) k(int N) {}",
        "// __launch_bounds__(64)\n__global__ void k() {}",
    ):
        assert _body(text) == text


def _constant(name: str, sizes: str) -> str:
    attribute = '__attribute__((used, section(".nv.constants")))'
    return f" static const unsigned long cuemu_constant_{name} {attribute} = {sizes};"


def test_sizes_of_constants_are_kept_and_variables_tell_their_place() -> None:
    text = "__constant__ float a[2] = {1, 2}, b;"
    places = " CUEMU_GAPS(a) CUEMU_VARIABLE(a, kConstant) CUEMU_VARIABLE(b, kConstant)"
    assert _body(f"{text} int c;") == f"CUEMU_KEPT {text}{_constant('a', 'sizeof(a) + sizeof(b)')}{places} int c;"
    text = "__device__ __constant__ S<int, 2> s;"
    word, places = _constant("s", "sizeof(s)"), " CUEMU_GAPS(s) CUEMU_VARIABLE(s, kConstant)"
    assert _body(f"namespace n {{ static {text} }}") == f"namespace n {{ static CUEMU_KEPT {text}{word}{places} }}"
    text = "__constant__ struct S { int n[3]; } s;"
    assert _body(text) == f"CUEMU_KEPT {text}{word}{places}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("__device__ float a[3];", "a"),
        ("__device__ alignas(16) float a[3][4] = {{1}};", "a"),
        ("__managed__ int counter;", "counter"),
        ("__device__ volatile float *p = nullptr;", "p"),
        ("__device__ __attribute__((aligned(16))) float4 q{};", "q"),
        ("__device__ auto f = [](float x) { return x; };", "f"),
    ],
)
def test_a_variable_of_the_device_tells_its_place(text: str, name: str) -> None:
    places = f"CUEMU_GAPS({name}) CUEMU_VARIABLE({name}, kVariable)"
    assert _body(f"static {text} int c;") == f"static CUEMU_KEPT {text} {places} int c;"


@pytest.mark.parametrize(
    "text",
    [
        "extern __constant__ float a[];",
        "template <class T> __constant__ T a;",
        "struct S { __constant__ int a; };",
        "__device__ float f(float x[3]);",
        "__device__ float f(float x = 3) { return x; }",
        "__device__ __forceinline__ S operator+(S a, S b) { return a; }",
        "__device__ struct S { int a[3]; };",
        "__global__ void k() { __device__ static int a[3]; }",
        "#define C __constant__\nC float a[3];",
        "#ifdef __device__\n#endif\nint a[3];",
        "inline __device__ int a[3];",
    ],
)
def test_functions_members_and_templates_tell_no_place(text: str) -> None:
    assert _body(text) == text
