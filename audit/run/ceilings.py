"""Runs in a child: what this very GPU reaches, by PyTorch's own copy and matrix product, as raw samples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from audit.run.stopwatch import Stopwatch, Timed

COPY_BYTES = 256 << 20
FP32_SIDE, MATRIX_UNIT_SIDE = 4096, 8192
SAMPLES = 5
TF32_FROM = (8, 0)


def measured(stopwatch: Stopwatch) -> list[dict[str, Any]]:
    """One event a ceiling: `variant`, `shape`, `samples_ms`. TF32 is left out where the GPU has none."""
    source = torch.empty(COPY_BYTES, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    told = [_told("copy", {"bytes": 2 * COPY_BYTES}, stopwatch, lambda: target.copy_(source))]
    told.append(_product("fp32", FP32_SIDE, torch.float32, stopwatch))
    if torch.cuda.get_device_capability() >= TF32_FROM:
        with _tf32():
            told.append(_product("tf32", MATRIX_UNIT_SIDE, torch.float32, stopwatch))
    told.append(_product("fp16", MATRIX_UNIT_SIDE, torch.float16, stopwatch))
    return told


def _product(precision: str, side: int, dtype: torch.dtype, stopwatch: Stopwatch) -> dict[str, Any]:
    a, b = (torch.randn(side, side, device="cuda", dtype=dtype) for _ in range(2))
    shape = {"M": side, "N": side, "K": side}
    return _told(f"matmul_{precision}", shape, stopwatch, lambda: torch.matmul(a, b))


def _told(name: str, shape: dict[str, int], stopwatch: Stopwatch, call: Any) -> dict[str, Any]:
    call()  # loads the kernel
    samples = [stopwatch.cold([Timed(call)])[0] for _ in range(SAMPLES)]
    return {"variant": f"ceiling:{name}", "shape": shape, "samples_ms": samples}


@contextmanager
def _tf32() -> Iterator[None]:
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
