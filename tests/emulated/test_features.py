"""Idioms of published extensions: they build on the first header set, are right, and nothing is held against them."""

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
