"""The numbers a source names, and the products it writes of them."""

from __future__ import annotations

import pytest

from audit.claims.shapes.counting import smallest
from audit.claims.shapes.numbers import LARGEST, Side, demanded, named


@pytest.mark.parametrize(
    ("source", "numbers"),
    [
        ("#define BM 128\n__shared__ float s[BM][33];", {33, 128}),
        ("constexpr int TM = 8; int rows = blockIdx.x * TM * 16 + 1;", {8, 16, 128}),
        ("const int threads = 256; k<<<(n + threads * 4 - 1) / (threads * 4), threads>>>(x);", {4, 256, 1024}),
        ("k<<<n / 3, 192>>>(x); int i = blockIdx.x * blockDim.x * 4;", {3, 4, 192, 768}),
        ("dim3 block(16, 24); int i = blockIdx.y * blockDim.y * 2;", {2, 16, 24, 32, 48}),
        ("int span = 1 << 10;", {10, 1024}),
        ("#define TILE (BK * 4)\n#define BK 32\n", {4, 32, 128}),
        (
            "template <int BLOCK, int VPT> __global__ void k(float* x) { int base = BLOCK * VPT; }\n"
            "void f() { k<96, 5><<<1, 96>>>(x); }",
            {5, 96, 480},
        ),
        ('float y = 1e-5f + 3.0f + .75; // 4096 columns\n/* 77 */ const char* s = "128";', set()),
        ("unsigned mask = 0xffffffffu; int n = 0x40; long many = 100000;", {64}),
        ("int tile = 0x40u; int many = 4'096; int few = 0b1100;", {12, 64, 4096}),
    ],
)
def test_cuda(source: str, numbers: set[int]) -> None:
    assert named([source]) == numbers


@pytest.mark.parametrize(
    ("source", "product"),
    [
        ("const int q = n / 64; for (int i = 0; i < (q + 8 - 1) / 8; ++i) f(i);", 512),
        ("f(round_up(n / 64, 16));", 1024),
        ("int tiles = k >> 5; for (int t = 0; t < tiles; t += 4) f(t);", 128),
        ("#define G 128\nint groups = n / G; int left = groups % 8;", 1024),
        ("steps = n // 64\nrest = triton.cdiv(steps // 4, 2)", 256),
    ],
)
def test_a_quotient_that_is_divided_again_needs_both_divisors(source: str, product: int) -> None:
    assert product in named([source])


@pytest.mark.parametrize(
    "source",
    [
        "int blocks = n / 256; k<<<blocks, 256>>>(x, n / 4);",
        "int warps = blockDim.x / 32; if (warps % 4) f();",
        "const int T = 512; const int W = T / 32; int z = W / 16;",
    ],
)
def test_other_quotients_add_no_product(source: str) -> None:
    assert max(named([source])) <= 512


@pytest.mark.parametrize(
    ("source", "multiples", "equal"),
    [
        ('constexpr int BM = 64;\nTORCH_CHECK(a.size(0) % BM == 0 && k % 32 == 0, "no");', {64, 32}, set()),
        ("if (n % 4 != 0) { throw 1; }", {4}, set()),
        ('TORCH_CHECK(!(cols % 8), "no");', {8}, set()),
        ('constexpr int HEAD = 64;\nTORCH_CHECK(q.size(3) == HEAD, "no");', set(), {64}),
        ("assert x.shape[1] % 128 == 0 and x.shape[0] == 512", {128}, {512}),
        ("int r = i % 32; y[i] = i / 64;", set(), set()),
        ('TORCH_CHECK(x.size(0) == y.size(0), "no");', set(), set()),
    ],
)
def test_what_checks_demand(source: str, multiples: set[int], equal: set[int]) -> None:
    assert demanded([source]) == (multiples, equal)


def test_python_names_numbers_in_its_code_and_in_its_kernels() -> None:
    source = '''"""Made for 4096 rows."""
import torch
BLOCK = 512  # not 768
KERNEL = """
// 999
#define TILE 48
"""

def f(x):
    """At most 1000."""
    return kernel[(x.numel() // (BLOCK * 2),)](x, WARPS=6)
'''
    assert named([source]) == {2, 6, 48, 512, 1024}


LIMIT = {1_000_000, 1_000_001}


@pytest.mark.parametrize(
    ("source", "limits"),
    [
        ("def f(n):\n    return n > 1_000_000", LIMIT),
        ("def f(n):\n    return 0xF4240 <= n", LIMIT),
        ("def f(n):\n    return g() if n >= 1e6 else 0", LIMIT),
        ("def f(n):\n    return n < 1000 * 1000", LIMIT),
        ("def f(n):\n    return n < 10 ** 6", LIMIT),
        ("MOST = int(1e6)\n\ndef f(n):\n    return n > MOST and n < 9", LIMIT),
        ("def f(n):\n    return n > 1 << 20", {1 << 20, (1 << 20) + 1}),
        ("if (n > 1'000'000) f<<<1, 64>>>(x);", LIMIT),
        ("if (n * 1 >= (long)0xF4240u) { f(); }", LIMIT),
        ("return 1e6 < n ? 1 : 2;", LIMIT),
        ("#define MOST (1 << 20)\nif (x->size(0) <= MOST) f();", {1 << 20, (1 << 20) + 1}),
        ("bool wide = n > (1LL << 20);", {1 << 20, (1 << 20) + 1}),
        ("long seed = 1000000; int mask = 1 << 20; f(1'000'000); if (x > -1e9 || y > 1e30f) f();", set()),
        ("def f(x):\n    return x * 1_000_000 + 1e6", set()),
    ],
)
def test_limits_above_every_tile_count_where_something_is_compared_with_them(source: str, limits: set[int]) -> None:
    assert {one for one in named([source]) if one > LARGEST} == limits


BYTES = "size_t bytes = sizeof({}) * cols; if (bytes > 48 * 1024) f();"
HALVES = {24576, 24577, 12288, 12289, 6144, 6145}
"""The limit where the bytes of an element are not named."""


@pytest.mark.parametrize(
    ("source", "limits"),
    [
        (BYTES.format("float"), {12288, 12289}),
        (BYTES.format("double"), {6144, 6145}),
        (BYTES.format("half"), {24576, 24577}),
        (BYTES.format("scalar_t"), HALVES),
        ("if (48 * 1024 < cols * sizeof(float)) f();", {12288, 12289}),
        ("size_t bytes = (size_t)(cols + 1) * sizeof(at::Half);\nreturn bytes > 49152;", {24576, 24577}),
        ("def f(x):\n    most = x.numel() * x.element_size()\n    return most > 49152", HALVES),
        ("size_t bytes = sizeof(float) * cols; if (cols > 48 * 1024) f();", {49153}),
    ],
)
def test_a_limit_of_bytes_is_one_of_elements(source: str, limits: set[int]) -> None:
    assert named([source]) - {48, 1024, 49152} == limits


@pytest.mark.parametrize(
    ("comparison", "next_to"),
    [
        ("n > 1024", {1025}),
        ("n <= 1024", {1025}),
        ("1024 < n", {1025}),
        ("1024 >= n", {1025}),
        ("n >= 1024", set()),
        ("n < 1024", set()),
        ("1024 <= n", set()),
        ("1024 > n", set()),
        ("n == 1024", set()),
        ("n << 1024", set()),
    ],
)
def test_a_number_that_counts_with_smaller_ones_has_its_next_one_as_a_limit(comparison: str, next_to: set[int]) -> None:
    for source in (f"if ({comparison}) f();", f"def f(n):\n    return {comparison}"):
        found = {one for one in named([source]) if isinstance(one, Side)}
        assert found == next_to


def test_several_sources_are_one() -> None:
    assert named(["#define A 12", "#define B 20"]) == {12, 20}


@pytest.mark.parametrize("text", ["", "(" * 5000, "#define A A\nint b = A * A;", "x = " + "1 +" * 3000 + "1"])
def test_a_source_that_cannot_be_read_names_few_and_raises_nothing(text: str) -> None:
    assert len(named([text])) <= 1


PARTITIONS = """
import triton
import triton.language as tl

@triton.jit
def partial(a, part, K, STEP: tl.constexpr, SPLITS: tl.constexpr):
    size = {size}
    for k in {loop}:
        tl.store(part, tl.load(a + k))

def forward(a, part):
    splits = 24
    partial[(splits,)](a, part, a.shape[0], 96, splits)
"""


@pytest.mark.parametrize(
    ("size", "loop"),
    [
        ("K // SPLITS", "range(0, size, STEP)"),
        ("K // SPLITS", "tl.range(tl.program_id(0) * size, (tl.program_id(0) + 1) * size, STEP)"),
        ("tl.cdiv(K, SPLITS)", "range(tl.cdiv(size, STEP))"),
        ("tl.cdiv(K, SPLITS)", "range(size // STEP)"),
    ],
)
def test_a_partition_of_a_size_that_is_walked_in_steps_is_one_number(size: str, loop: str) -> None:
    found = named([PARTITIONS.format(size=size, loop=loop)])
    assert found == {24, 96, 24 * 96}
    assert smallest({"K": 92160}, found) == {"K": 2304}
