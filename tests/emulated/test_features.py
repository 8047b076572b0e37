"""Idioms of published extensions, which build on the first header set, and every feature that the device models.

They are right, and nothing is held against them.
"""

from __future__ import annotations

import pytest

from audit.build.emulated.build import build
from tests.conftest import some
from tests.emulated.child import FOLDER, run

CASES = {
    "softmax": "x = torch.randn(5, 300); got, want = f['softmax'](x), x.softmax(1)",
    "softmax_double": "x = torch.randn(5, 77).double(); got, want = f['softmax'](x), x.softmax(1)",
    "argmin": "x = torch.randn(6, 200); got, want = f['argmin'](x), x.argmin(1)",
    "map": "x = torch.randn(9, 50); got, want = f['map'](x), torch.nn.functional.gelu(x)",
    "half_sum": "x = torch.randn(640).half(); got, want = f['half_sum'](x), x.float().sum()",
    "cached_half": "x = torch.randn(50).half(); got, want = f['cached'](x), x",
    "cached_bfloat16": "x = torch.randn(50).bfloat16(); got, want = f['cached'](x), x",
    "tile": "x = torch.randn(16, 16); got, want = f['tile'](x), x",
    "rotate": "x = torch.randn(4, 32); got, want = f['rotate'](x), x.roll(-1, 1)",
    "by_address": "x = torch.randn(100); got, want = f['by_address'](x, True), x",
    "by_address_plain": "x = torch.randn(100); got, want = f['by_address'](x, False), x / 2",
    "no_kernel": "got, want = f['no_kernel'](torch.randn(4)), torch.tensor([98])",  # cudaErrorInvalidDeviceFunction
    "conv": "x, k = torch.randn(19, 21), torch.randn(3, 3); got = f['conv'](x, kernel=k)[0]; "
    "want = torch.conv2d(x[None, None], k[None, None], padding=1)[0, 0]",
}
PAIR = "a, b = torch.randn(SIZE).half(), torch.randn(SIZE).half(); "
TF32 = "t = lambda x: ((x.view(torch.int32) + 0x1000) & -0x2000).view(torch.float32).double(); "
FEATURES = {
    "tiled_matmul": "x = torch.randn(2, 40, 40); got, want = f['tiled_matmul'](*x), x[0] @ x[1]",
    "dynamic_shared": "x = torch.randn(3, 96); got, want = f['dynamic_shared'](x), x.flip(1)",
    "dispatch": "x = torch.randn(100).half(); got, want = f['dispatch'](x), x * 3",
    "vector_types": "x = torch.randn(40, 4); got, want = f['vector_types'](x), x.flip(1)",
    "half_pairs": PAIR.replace("SIZE", "64")
    + "got, want = f['half_pairs'](a, b), (a.double() * b.double() + 1).half()",
    "bfloat": "x = torch.randn(50).bfloat16(); got, want = f['bfloat'](x), x.float() * 2",
    "grid_group": "x = torch.randn(500); got, want = f['grid_group'](x, False), 2 * x",
    "cooperative_groups_reduce": "x = torch.randn(1000); got, want = f['cooperative_groups_reduce'](x), x.sum()[None]",
    "wmma_f16": PAIR.replace("SIZE", "32, 32") + "got, want = f['wmma_f16'](a, b), 2 * (a.float() @ b.float().T)",
    "wmma_tf32": TF32 + "x = torch.randn(2, 32, 32); got, want = f['wmma_tf32'](*x), (t(x[0]) @ t(x[1])).float()",
    "histogram": "x = torch.randint(0, 64, (500,)).int(); "
    "got, want = f['histogram'](x), torch.bincount(x // 4, minlength=16)",
    "accessors": "x = torch.randn(5, 70); got, want = f['accessors'](x), x.T",
    "shuffle_scan": "x = torch.randn(4, 32); got, want = f['shuffle_scan'](x), x.cumsum(1)",
    "warp_votes": "x = torch.randint(0, 9, (32,)).int(); same = (x[:, None] == x[None, :]).sum(1); "
    "got, want = f['warp_votes'](x), (x & 1).sum() + 100 * same + 10000 * x.max() + 1",
    "pipeline_copies": "x = torch.randn(2, 32, 4); got, want = f['pipeline_copies'](x), x.flip(1)",
    "runtime_api": "x = torch.randn(130); got, want = f['runtime_api'](x), x * 5",
    "doubles": "x = torch.rand(200).double() + 0.5; got, want = f['doubles'](x), x.rsqrt() + x.clamp(min=2.0)",
    "compare_and_swap": "x = torch.randn(700); got, want = f['compare_and_swap'](x), x.max()[None]",
    "last_block": "x = torch.randn(256); got, want = f['last_block'](x), x.sum()[None]",
    "warp_synchronous": "x = torch.randn(64); got, want = f['warp_synchronous'](x), x.sum()[None]",
}
ROUNDED = {
    **dict.fromkeys(("tiled_matmul", "wmma_f16", "wmma_tf32", "shuffle_scan", "warp_synchronous"), 1e-4),
    **dict.fromkeys(("cooperative_groups_reduce", "last_block"), 1e-3),
    **{"half_pairs": 0.004, "doubles": 1e-12},
}
"""The most that a feature may differ from the right result; any other is exact."""

_EACH = """
f = functions
for order in ("forward", "reverse", "random"):
    runtime.configure(allocator="poison_nan", thread_order=order, block_order=order, seed=5, checker=True)
    CASE
    answer[order] = [(got.double() - want.double()).abs().max().item(), runtime.reports()]
    runtime.reset()
"""


@pytest.fixture(scope="module")
def idioms():
    return build(FOLDER / "idioms.cu")


def test_no_larger_header_set_is_needed(idioms):
    assert idioms.header_set == "micro"


@pytest.mark.parametrize("name", CASES)
def test_idiom_is_right_in_every_order(name, idioms):
    for error, reports in some(run(idioms, _EACH.replace("CASE", CASES[name])).values()):
        assert error <= 1e-3
        assert reports == []


@pytest.fixture(scope="module", params=["O2", "O0"])
def features(request):
    return build(FOLDER / "features.cu", optimisation=request.param)


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_is_right_in_every_order_at_both_optimisation_levels(name, features):
    for error, reports in some(run(features, _EACH.replace("CASE", FEATURES[name])).values()):
        assert error <= ROUNDED.get(name, 0.0)
        assert {one["kind"] for one in reports} == ({"warp-mask"} if name == "warp_synchronous" else set())


def test_the_grid_is_synchronised_in_a_cooperative_launch_alone(features):
    code = "functions['grid_group'](torch.ones(500), True); answer['found'] = runtime.reports()"
    (report,) = run(features, code)["found"]
    assert (report["kind"], "not cooperative" in report["message"]) == ("trap", True)
