"""CUB and cuda::barrier on the emulated device: each function against numpy, each wrong use beside its right twin."""

from __future__ import annotations

import shutil
import subprocess
from itertools import pairwise

import numpy as np
import pytest

from audit.build.emulated.build import build
from audit.build.emulated.device import located
from audit.model.errors import Unsupported
from tests.emulated.child import DEVICES, FOLDER, run, run_on_gpu

SOURCE = FOLDER / "cub.cu"
LINES = SOURCE.read_text().splitlines()
ORDERS = ("forward", "reverse", "random", "lockstep")
BLOCK = 128

_RIGHT = """
f = functions
for order in ORDERS:
    runtime.configure(allocator="poison_nan", thread_order=order, seed=3, checker=True)
    def put(name, given, got):
        values = [each.tolist() for each in (got if isinstance(got, list) else [got])]
        answer[f"{name} {order}"] = [[each.tolist() for each in given], values, runtime.reports()]
        runtime.reset()
    x = torch.randn(3, 128)
    put("reduced", [x], f["reduced"](x, 70, False, 128))
    x = torch.randn(216)
    put("moment", [x], f["moment"](x))
    x = torch.randint(-9, 9, (128,), dtype=torch.int32)
    put("warp", [x], f["warp"](x))
    x = torch.randint(-9, 99, (1000,), dtype=torch.int32)
    put("scanned", [x], f["scanned"](x))
    x, words = torch.randn(384), torch.randint(0, 2**31 - 1, (128,), dtype=torch.int32)
    x[::7] = x[3]
    put("sorted", [x, words], f["sorted"](x, words))
    x = torch.randn(640)
    put("tiled", [x], f["tiled"](x, True))
    x = torch.randn(160)
    put("handed", [x], f["handed"](x))
    x, starts = torch.randn(3000), torch.tensor([0, 7, 7, 1500, 3000], dtype=torch.int32)
    x[::11] = x[5]
    put("device", [x, starts], f["device"](x, starts))
"""

_WRONG = """
f = functions
runtime.configure(allocator="poison_nan", checker=True)
def put(name, call):
    answer[name] = [call(), runtime.reports()]
    runtime.reset()
    runtime.recover()
x = torch.randn(3, 128)
put("no barrier between two uses", lambda: f["reduced"](x, 128, True, 128).tolist())
put("fewer threads than the template says", lambda: f["reduced"](x, 128, False, 64).tolist())
put("no wait", lambda: f["tiled"](torch.randn(640), False).tolist())
for kind in range(3):
    put(f"storage {kind}", lambda: f["wrong_device"](torch.randn(100_000), kind))
f["device"](torch.randn(50), torch.tensor([0, 50], dtype=torch.int32))
answer["launches"] = [each["kernel"] for each in runtime.launches()]
"""


@pytest.fixture(scope="module")
def built():
    return build(SOURCE)


@pytest.fixture(scope="module", params=DEVICES)
def device(request):
    return request.param


@pytest.fixture(scope="module")
def right(device, request, tmp_path_factory):
    code = _RIGHT.replace("ORDERS", repr(ORDERS))
    if device == "cuda":
        return run_on_gpu(SOURCE, code, tmp_path_factory.mktemp("cub"))
    return run(request.getfixturevalue("built"), code)


@pytest.fixture(scope="module")
def wrong(built):
    return run(built, _WRONG)


def _arrays(right, name, order):
    given, got, reports = right[f"{name} {order}"]
    assert reports == []
    return [np.array(each) for each in given], [np.array(each) for each in got]


def test_a_compiler_for_a_gpu_takes_the_same_source(tmp_path):
    if not (nvcc := shutil.which("nvcc")):
        pytest.skip("no nvcc")
    words = [nvcc, "-std=c++17", "-arch=sm_80", "-cubin", "-DKERNELS_ONLY", "-o", str(tmp_path / "k"), str(SOURCE)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("order", ORDERS)
def test_reductions_of_a_block_and_of_parts_of_warps(right, order, device):
    (x,), (out,) = _arrays(right, "reduced", order)
    assert np.allclose(out[:, :3].T, [x.sum(1), x.max(1), x[:, :70].sum(1)], atol=1e-4)
    if device == "emulated":
        assert np.isnan(out[:, 3]).all()  # a thread that is promised no result
    (x,), (out,) = _arrays(right, "moment", order)
    assert np.allclose(out, [x.sum(), (x**2).sum(), 216], atol=1e-3)
    (x,), (out,) = _arrays(right, "warp", order)
    rows = x.reshape(16, 8)
    sums = rows.cumsum(1)
    want = [rows.sum(1), rows[:, :3].sum(1), sums.ravel(), (sums - rows).ravel(), np.repeat(sums[:, -1], 8)]
    assert np.array_equal(out, np.concatenate(want))


@pytest.mark.parametrize("order", ORDERS)
def test_scans_of_tiles_with_a_running_prefix(right, order):
    (x,), ((sums, before, largest),) = _arrays(right, "scanned", order)
    tiles = [slice(at, at + 3 * BLOCK) for at in range(0, x.size, 3 * BLOCK)]
    assert np.array_equal(sums, x.cumsum())
    assert np.array_equal(before, np.concatenate([x[tile].cumsum() - x[tile] for tile in tiles]))
    assert np.array_equal(largest, np.concatenate([np.maximum.accumulate(x[tile]) for tile in tiles]))


@pytest.mark.parametrize("order", ORDERS)
def test_sorts_are_stable_and_know_their_bits(right, order):
    (x, words), (keys, places, low, merged) = _arrays(right, "sorted", order)
    down = np.argsort(-x, kind="stable")
    assert np.array_equal(keys, x[down])
    assert np.array_equal(places, down)
    assert np.array_equal(low, words[np.argsort(words & 15, kind="stable")])
    assert np.array_equal(merged, np.sort(x))


@pytest.mark.parametrize("order", ORDERS)
def test_functions_of_the_whole_device(right, order):
    (x, starts), (out, sums, ahead, keys, places, row_sums, rows) = _arrays(right, "device", order)
    assert np.allclose(out, [x.sum(), x.max(), x.argmax(), x.max()], atol=1e-4)
    assert np.allclose(sums, x.cumsum(), atol=1e-4)
    assert np.array_equal(ahead, [-9, *np.maximum.accumulate(x)[:-1]])
    down = np.argsort(-x, kind="stable")
    assert np.array_equal(keys, x[down])
    assert np.array_equal(places, down)
    parts = [x[a:b] for a, b in pairwise(starts)]
    assert np.allclose(row_sums, [part.sum() for part in parts], atol=1e-4)
    assert np.array_equal(rows, np.concatenate([np.sort(part) for part in parts]))


@pytest.mark.parametrize("order", ORDERS)
def test_barriers_order_what_their_threads_do(right, order):
    (x,), (out,) = _arrays(right, "tiled", order)
    assert np.allclose(out, x.reshape(-1, BLOCK).sum(0)[::-1], atol=1e-4)
    (x,), (out,) = _arrays(right, "handed", order)
    assert np.allclose(out, [0] * 32 + 2 * list(x.reshape(-1, 32).sum(0)), atol=1e-4)


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("no barrier between two uses", "race-shared", "Reduce(storage)."),
        ("fewer threads than the template says", "uninitialised-read", "Reduce(storage)."),
        ("no wait", "unfinished-copy", "tile[i % 2]"),
    ],
)
def test_a_wrong_use_is_reported_at_its_line(name, kind, text, wrong, built):
    _, reports = wrong[name]
    assert kind in {each["kind"] for each in reports}
    lines = [each["line"] for each in located(reports, built.library) if each["kind"] == kind]
    found = {LINES[line - 1].strip() if line else "" for line in lines}
    assert all(text in line or line == "return a < b ? b : a;" for line in found), found
    assert any(text in line for line in found)


def test_storage_that_is_too_small_and_items_that_are_not_there(wrong):
    assert wrong["storage 0"] == [1, []]
    for name, kind in (("storage 1", "out-of-bounds-write"), ("storage 2", "out-of-bounds-read")):
        error, reports = wrong[name]
        assert error == 0
        assert [(each["kind"], each["kernel"]) for each in reports] == [(kind, "cub::DeviceReduce")]


def test_a_function_of_the_device_is_one_launch(wrong, built):
    assert built.header_set == "micro"
    parts = ["Reduce"] * 3 + ["Scan"] * 2 + ["RadixSort", "SegmentedReduce", "RadixSort"]
    assert wrong["launches"][-8:] == [f"cub::Device{part}" for part in parts]


def test_a_form_of_a_call_that_the_headers_lack_is_no_error_of_the_source(tmp_path):
    path = tmp_path / "k.cu"
    call = "cub::WarpReduce<int>(storage).HeadSegmentedSum(1, threadIdx.x == 3)"
    storage = "__shared__ cub::WarpReduce<int>::TempStorage storage;"
    kernel = f"__global__ void k(int* x) {{\n  {storage}\n  *x = {call};\n}}\n"
    path.write_text(f"#include <torch/extension.h>\n#include <cub/warp/warp_reduce.cuh>\n{kernel}")
    with pytest.raises(Unsupported) as caught:
        build(path)
    assert (caught.value.construct, caught.value.line) == ("a form of CUB that the emulated device lacks", 5)
