"""Triton kernels on the emulated device, through Triton's own interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.run.pool import Workers
from tests.run.test_python_session import asked, value

pytest.importorskip("triton", reason="triton is not installed here")

HEAD = """
import torch
import triton
import triton.language as tl

{decorator}@triton.jit
def twice(x, y, n, block: tl.constexpr):
    index = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + index, 2 * tl.load(x + index, mask=index < n), mask=index < n)

def forward(x):
    y = torch.empty_like(x)
    {call}
    return y
"""
LAUNCH = "twice[(triton.cdiv(x.numel(), 4),)](x, y, x.numel(), block=4)"
CONFIGS = "triton.Config({'block': 4}), triton.Config({'block': 8})"


def source(call: str, decorator: str = "") -> str:
    return HEAD.format(call=call, decorator=decorator)


def test_a_launch_is_told_with_its_grid_and_line(workers: Workers, tmp_path: Path) -> None:
    text = source(LAUNCH)
    reply = asked(workers, tmp_path, text)
    assert reply.finished, reply.detail
    assert value(tmp_path) == [0, 2, 4, 6, 8, 10]
    (launch,) = reply.events[0]["launches"]
    assert (launch["kernel"], launch["grid"][:1]) == ("twice", [2])
    assert text.splitlines()[launch["line"] - 1].strip() == LAUNCH


def test_autotuning_takes_a_configuration_without_a_gpu(workers: Workers, tmp_path: Path) -> None:
    call = "twice[lambda meta: (triton.cdiv(x.numel(), meta['block']),)](x, y, x.numel())"
    reply = asked(workers, tmp_path, source(call, f"@triton.autotune(configs=[{CONFIGS}], key=['n'])\n"))
    assert reply.finished, reply.detail
    assert value(tmp_path) == [0, 2, 4, 6, 8, 10]


def test_a_kernel_the_interpreter_refuses_is_a_report_and_no_launch(workers: Workers, tmp_path: Path) -> None:
    call = "try:\n        twice[(1,)](x, y, x.numel(), block=3)\n    except Exception: return x * 2"
    reply = asked(workers, tmp_path, source(call))
    assert reply.finished, reply.detail
    (report,) = reply.events[0]["reports"]
    assert (report["kind"], report["kernel"], reply.events[0]["launches"]) == ("interpreter-failed", "twice", [])
