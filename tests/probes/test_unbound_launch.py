"""A Triton kernel whose launches cannot bind their arguments is wrong on every device; another exception is none."""

from __future__ import annotations

from pathlib import Path

import pytest

import audit
from tests.importers import published

pytestmark = pytest.mark.audits

KERNEL = """import torch
import triton
import triton.language as tl


@triton.jit
def twice(x, y, n, block: tl.constexpr):
    index = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + index, 2 * tl.load(x + index, mask=index < n), mask=index < n)


def helper(x, y, n, block):
    return None


def kernel(x):
    y = torch.empty_like(x)
    CALL
    return y
"""
TASK = "import torch\n\nN = 1000\n\n\ndef reference(x):\n    return 2 * x\n\n\n"
TASK += "def get_inputs():\n    return [torch.randn(N)]\n"


@pytest.mark.parametrize(
    ("call", "verdict", "words"),
    [
        (
            "twice[(16,)](x, y, x.numel())",
            "wrong",
            "missing 1 required positional argument: 'block': no launch of twice",
        ),
        (
            "twice[(16,)](x, y, 1000, 64, block=64)",
            "wrong",
            "got multiple values for argument 'block': no launch of twice",
        ),
        ("helper(x, y, 1000)", "undecided", "missing 1 required positional argument: 'block'"),
        ("twice[(16,)](x, y, x.numel(), block=64)", "no defect found", ""),
    ],
)
def test_a_launch_that_binds_no_arguments_is_wrong(tmp_path: Path, call: str, verdict: str, words: str) -> None:
    source = published.write(tmp_path / "s", twice__py=KERNEL.replace("CALL", call), task__py=TASK)
    record = audit.check(source / "twice.py", source / "task.py", tolerance=1e-5, device="emulated", seed=5)
    found = next(one for one in record.findings if one.probe == "contract")
    assert (record.verdict.name, found.outcome) == (
        verdict,
        {"wrong": "fail", "undecided": "error"}.get(verdict, "pass"),
    ), found
    assert words in found.summary


LARGE = TASK.replace("N = 1000", "N = 3 * 2**30")
"""A claimed shape whose inputs the emulated device does not make."""


WIDE = TASK.replace("N = 1000", "N = 32768\nwidth = (32768,)").replace("torch.randn(N)", "torch.randn(N, *width)")
"""A claimed shape of which no smaller one keeps the width, so that none that is asked counts."""


def test_a_launch_that_binds_no_arguments_at_a_shape_that_is_not_run_is_wrong_too(tmp_path: Path) -> None:
    text = KERNEL.replace("CALL", "twice[(16,)](x, y, x.numel())")
    source = published.write(tmp_path / "s", twice__py=text, task__py=WIDE)
    record = audit.check(source / "twice.py", source / "task.py", tolerance=1e-5, device="emulated", seed=5)
    assert record.verdict.name == "wrong"
    assert "N=32768: the call raised" in record.verdict.reasons[0]


def test_what_triton_refuses_at_the_largest_shape_asked_counts_where_memory_ends_the_claimed_one(
    tmp_path: Path,
) -> None:
    text = KERNEL.replace("CALL", "twice[(x.numel() // 8,)](x, y, x.numel(), block=8)")
    text = text.replace("tl.arange(0, block)", "tl.arange(0, n)")  # n is no constexpr
    source = published.write(tmp_path / "s", twice__py=text, task__py=LARGE)
    record = audit.check(source / "twice.py", source / "task.py", tolerance=1e-5, device="emulated", seed=5)
    assert record.verdict.name == "cannot be built"
    assert "arange's arguments must be of type tl.constexpr" in record.verdict.reasons[0]
