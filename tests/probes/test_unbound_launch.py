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
