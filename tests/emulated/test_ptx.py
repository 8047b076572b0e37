"""Inline PTX on the emulated device: each instruction against numpy, each fault beside its right twin."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

from audit.build.emulated import ptx
from audit.build.emulated.build import build
from audit.build.emulated.device import located
from audit.model.errors import CompileError, Unsupported
from tests.emulated.child import DEVICES, FOLDER, run, run_on_gpu

SOURCE = FOLDER / "ptx.cu"
LINES = SOURCE.read_text().splitlines()
FAULTS = {
    "misaligned_row": ("misaligned-access", "ldmatrix_x4(a, from +", 716),
    "no_wait": ("unfinished-copy", "ldmatrix", 0),
    "no_barrier": ("race-shared", "", 0),
    "misaligned_copy": ("misaligned-access", "cp.async.cg.shared.global", 716),
}
ORDERS = ("forward", "reverse", "random", "lockstep")

_START = """
M, N, K = 45, 32, 48
A, B = torch.randn(M, K).half(), torch.randn(K, N).half()
want = A.double() @ B.double()
def put(name, got, *given):
    answer[name] = [got.tolist(), runtime.reports(), *(each.tolist() for each in given)]
    runtime.reset()
    runtime.recover()
"""
_RIGHT = """
for order in ORDERS:
    runtime.configure(allocator="poison_nan", thread_order=order, seed=3, checker=True)
    put(f"product {order}", (functions["product"](A, B, 0).double() - want).abs().max())
    count = torch.zeros(2, dtype=torch.int32)
    data = torch.randn(32, 4)
    put(f"memory {order}", functions["memory"](data, count, 0), data, count)
a, b = torch.randint(-2**31, 2**31, (2, 32), dtype=torch.int32)
b[::3] = a[::3]
put("words", functions["words"](a, b), a, b)
x = torch.rand(32) * 3 + 0.01
put("functions", functions["functions"](x), x)
given = []
for kind, k in ((torch.float32, 8), (torch.bfloat16, 16), (torch.float16, 8)):
    given += [torch.randn(16, k).to(kind), torch.randn(8, k).to(kind)]
given[0], given[1] = (each.view(torch.int32).bitwise_and(-8192).view(torch.float32) for each in given[:2])
given += [torch.randint(-128, 128, (rows, 32), dtype=torch.int8) for rows in (16, 8)]
wants = torch.stack([given[i].double() @ given[i + 1].double().T for i in (0, 2, 4, 6)])
wants[1] += 1
put("shapes", functions["shapes"](*given), wants)
"""
_FAULTS = """
runtime.configure(allocator="poison_nan", checker=True)
for number in range(1, 5):
    put(f"fault {number}", torch.isfinite(functions["product"](A, B, number)).all(), torch.tensor(functions["peek"]()))
put("address", functions["memory"](torch.randn(32, 4), torch.zeros(2, dtype=torch.int32), 5)[0])
"""


@pytest.fixture(scope="module")
def built():
    return build(SOURCE)


@pytest.fixture(scope="module", params=DEVICES)
def device(request):
    return request.param


@pytest.fixture(scope="module")
def outcomes(device, request, tmp_path_factory):
    code = _START + _RIGHT.replace("ORDERS", repr(ORDERS))
    if device == "cuda":
        return run_on_gpu(SOURCE, code, tmp_path_factory.mktemp("ptx"))
    return run(request.getfixturevalue("built"), code)


@pytest.fixture(scope="module")
def faults(built):
    return run(built, _START + _FAULTS)


def test_a_compiler_for_a_gpu_takes_the_same_source(tmp_path):
    if not (nvcc := shutil.which("nvcc")):
        pytest.skip("no nvcc")
    words = [nvcc, "-std=c++17", "-arch=sm_80", "-cubin", "-DKERNELS_ONLY", "-o", str(tmp_path / "k"), str(SOURCE)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_it_is_right_in_every_order_of_threads(outcomes):
    for order in ORDERS:
        error, reports = outcomes[f"product {order}"]
        assert reports == []
        assert error <= 1e-3
        out, reports, data, count = outcomes[f"memory {order}"]
        assert reports == []
        expected = np.roll(np.array(data), -1, axis=0)
        expected[:, 3] = 0
        assert np.array_equal(np.array(out), expected)
        assert count == [64, 32]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_reported_at_its_line(name, faults, built):
    kind, text, error = FAULTS[name]
    _, reports, after = faults[f"fault {[*FAULTS].index(name) + 1}"]
    assert kind in {each["kind"] for each in reports} <= {kind, "uninitialised-read"}
    assert after == error
    lines = [each["line"] for each in located(reports, built.library)]
    assert all(line and text in LINES[line - 1].lower() for line in lines), lines


def test_an_address_that_shared_memory_has_not_stops_the_kernel(faults):
    _, reports = faults["address"]
    assert [each["kind"] for each in reports] == ["illegal-address"]


def test_every_shape_and_type_of_a_product(outcomes):
    out, reports, wants = outcomes["shapes"]
    assert reports == []
    for got, want, bound in zip(np.array(out), np.array(wants), (1e-5, 1e-5, 2e-2, 0), strict=True):
        assert np.abs(got - want).max() <= bound


def _bits(values):
    return np.array(values, dtype=np.int64).astype(np.int32)


def _halves(bits):
    return np.array(bits, dtype=np.int32).view(np.float16).astype(np.float64)


def _products(a, b, widths, *, signs, first=0):
    """The sum of products of fields of each number, by the widths and signs of both; `b` from a bit on."""
    total = np.zeros(len(a), dtype=np.int64)
    for i in range(32 // max(widths)):
        fields = [
            each >> start + i * bits & (1 << bits) - 1
            for each, bits, start in zip((a, b), widths, (0, first), strict=True)
        ]
        halves = [1 << bits - 1 if signed else 0 for bits, signed in zip(widths, signs, strict=True)]
        x, y = ((field ^ half) - half for field, half in zip(fields, halves, strict=True))
        total += x * y
    return total


def test_instructions_on_words(outcomes):
    out, reports, given_a, given_b = outcomes["words"]
    assert reports == []
    out, a, b = _bits(out), _bits(given_a).astype(np.int64), _bits(given_b).astype(np.int64)
    u, v, lane = a & 0xFFFFFFFF, b & 0xFFFFFFFF, np.arange(32)
    mask = ((1 << 12) - 1) << 5
    wants = {
        0: u + v,
        1: (a * b) >> 32,
        2: a * b + 7,
        3: u >> 4 & 511,
        4: ((u >> 4 & 511) ^ 256) - 256,
        5: (v & ~mask) | (u << 5 & mask),
        6: (u & v) | (0xFFFF & ~v),
        7: u >> 24 | (v >> 8 & 255) << 8 | v >> 24 << 16 | np.where(u & 0x8000, 0xFF000000, 0),
        8: 0 * u,
        9: a >> 31,
        10: (v << 9 | u >> 23),
        11: [int(each).bit_count() for each in u],
        12: np.full(32, 0x3C004248),
        13: np.full(32, 0x3F804049),
        15: np.where(a < b, 5, 6),
        16: np.where(u >= v, 1, 2),
        17: u >> 16 | u << 16,
        19: np.full(32, 0x3F810000),
        20: lane,
        21: (1 << lane) - 1,
        22: a[lane ^ 1],
        23: a[np.where(lane < 2, lane, lane - 2)],
        24: np.where(lane % 8 == 7, 9, a[np.minimum(lane + 1, 31)]),
        25: np.full(32, sum(1 << int(each) for each in lane if a[each] != b[each])),
        26: np.full(32, a.max()),
        27: np.full(32, -1),
        28: np.where((np.minimum(a, b) & 0xFFFFFFFF) > 100, np.minimum(a, b), 100),
        29: [32 - int(each).bit_length() for each in u],
        30: ~u ^ v,
        31: [(int(x) * int(y) >> 16) & 0xFFFFFFFF for x, y in zip(u, v, strict=True)],
        32: a + _products(u, v, (8, 8), signs=(True, True)),
        33: 7 + _products(u, v, (8, 8), signs=(False, True)),
        34: v + _products(u, v, (8, 8), signs=(False, False)),
        35: 7 + _products(u, v, (16, 8), signs=(True, False)),
        36: u + _products(u, v, (16, 8), signs=(False, True), first=16),
        37: 7 + np.abs(a - b),
        38: u + np.abs(u - v),
        39: np.clip(a, -128, 127),
        40: np.clip(a, 0, 255),
        41: np.minimum(u, 65535),
        42: 0x12340000 | np.clip(a, 0, 255) << 8 | np.clip(b, 0, 255),
        43: (np.clip(a, -(2**15), 2**15 - 1) & 65535) << 16 | np.clip(b, -(2**15), 2**15 - 1) & 65535,
        44: np.clip(np.rint(a.astype(np.float32) * np.float32(1.5e-7)), -128, 127),
        45: np.clip(np.trunc(a.astype(np.float32) * np.float32(0.0001)), 0, 65535),
    }
    for number, want in wants.items():
        wrapped = (np.array(want, dtype=np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
        assert np.array_equal(out[number], wrapped), number
    x, y = (_halves(bits) for bits in (given_a, given_b))
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.array_equal(_halves(out[18]), (x * y + y).astype(np.float16), equal_nan=True)


def test_functions_of_floats(outcomes, device):
    out, reports, given = outcomes["functions"]
    assert reports == []
    x = np.array(given, dtype=np.float32).astype(np.float64)
    half = x.astype(np.float16).astype(np.float64)
    wants = (2**x, np.log2(x), 1 / x, x**-0.5, np.tanh(x), x**0.5, x * x + 1, 3 / x, half, np.ceil(x))
    wants += (np.clip(x - 1.25, 0, 1), np.minimum(half, 1))
    bound = 1e-6 if device == "emulated" else 2**-10  # that of tanh.approx on a GPU
    for got, want in zip(np.array(out), wants, strict=True):
        assert np.allclose(got, want, rtol=bound, atol=bound)


def _translated(statement):
    return ptx.translated(f'# 3 "k.cu"\nvoid f() {{\n  {statement}\n}}\nint a;\n', prefix="d0")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned, for which a GPU of compute capability 9.0a (matrix"),
        (
            "cp.async.bulk.commit_group;",
            "cp.async.bulk.commit_group, for which a GPU of compute capability 9.0",
        ),
        (
            "mbarrier.init.shared.b64 [%0], 1;",
            "mbarrier.init.shared.b64, for which a GPU of compute capability 8.0",
        ),
        ("barrier.cluster.wait;", "barrier.cluster.wait, for which a GPU of compute capability 9.0 (thread block cl"),
        ("bar.sync 1, 128;", "bar.sync 1, 128, for which a GPU is needed"),
        ("AGAIN: bra AGAIN;", "AGAIN:, for which a GPU is needed"),
        ("fma.rz.f32 %0, %0, %0, %0;", "fma.rz.f32, for which a GPU is needed"),
        ("ld.global.L2::cache_hint.u32 %0, [%0], once;", "once, for which a GPU is needed"),
        ("mov.u32 %0, held;", "held, for which a GPU is needed"),
    ],
)
def test_an_instruction_that_is_not_taken_is_refused_by_name(text, name):
    with pytest.raises(Unsupported) as caught:
        _translated(f'asm volatile("{text}" : "+r"(x));')
    assert caught.value.construct.startswith(f"inline PTX with {name}")
    assert caught.value.line == 4


@pytest.mark.parametrize(
    "statement",
    [
        'asm(".global x\\n.incbin \\"token\\"");',
        'int x asm("name");',
        'asm goto("trap;" :::: out);',
        'asm("trap;" : "=a"(x));',
        'asm("mov.u32 %0, %1;" : "=r"(x) : "r" y);',
        "asm(;",
    ],
)
def test_assembly_that_is_none_of_a_gpu_is_refused(statement):
    with pytest.raises(Unsupported) as caught:
        _translated(statement)
    assert (caught.value.construct, caught.value.line) == ("inline assembly", 4)


def test_lines_behind_a_statement_keep_their_numbers():
    text = _translated('asm volatile("membar.gl;"\n      "trap;"\n# 9 "k.cu"\n  ::\n : "memory");')
    assert "asm" not in text
    assert text.split("})")[1] == '\n# 9 "k.cu"\n\n;\n}\nint a;\n'
    assert "::d0::ptx::fence<::d0::ptx::gl_>();" in text
    assert ptx.translated('# 1 "x.h" 1 3\nvoid g() { asm("nop"); }\n', prefix="d0").count("asm") == 1


@pytest.mark.parametrize(
    ("parameter", "statement", "why"),
    [
        ("float* x", 'asm("prefetch.global.L1 [%0];" ::"r"(x));', "size does not match type/size implied by its con"),
        ("int x", 'asm("prefetch.global.L1 [%0];" ::"f"(x));', "size does not match type/size implied by its con"),
        ("int* x", 'asm("cp.async.cg.shared.global [%0], [%0], 4;" ::"l"(x));', "with .cg 16 alone: a compiler"),
    ],
)
def test_what_a_compiler_for_a_gpu_refuses_does_not_compile(parameter, statement, why, tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(f"#include <torch/extension.h>\n__global__ void k({parameter}) {{ {statement} }}\n")
    with pytest.raises(CompileError, match=why):
        build(path)
