"""Peak rates of the GPUs claims are made for, with their sources."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from pydantic import PositiveFloat, PositiveInt

from audit.model.base import Frozen


class Gpu(Frozen):
    """Data-sheet peaks: TFLOP/s by arithmetic, GB/s of memory. None where the GPU lacks the unit."""

    compute_capability: PositiveInt
    fp32_tflops: PositiveFloat
    tf32_tflops: PositiveFloat | None = None
    fp16_tflops: PositiveFloat | None = None
    memory_gb_s: PositiveFloat
    source: str

    def compute_ms(self, flops: float) -> float:
        """The least time for that many fp32 floating-point operations, in milliseconds."""
        return flops / self.fp32_tflops / 1e9

    def memory_ms(self, bytes_moved: float) -> float:
        """The least time to move that many bytes, in milliseconds."""
        return bytes_moved / self.memory_gb_s / 1e6

    def fastest_compute_ms(self, flops: float) -> float:
        """The least time if every operation ran on the fastest matrix unit, whatever its precision."""
        return flops / max(self.fp32_tflops, self.tf32_tflops or 0, self.fp16_tflops or 0) / 1e9


@cache
def table() -> dict[str, Gpu]:
    """Every GPU of `gpus.toml` by name."""
    entries = tomllib.loads(Path(__file__).with_name("gpus.toml").read_text(encoding="utf-8"))
    return {name: Gpu.model_validate(entry) for name, entry in entries.items()}


def names_in(device: str) -> frozenset[str]:
    """The words of a device's own name, such as "NVIDIA A100-SXM4-40GB", among which a GPU of the table is found."""
    return frozenset(re.split(r"[\s-]+", device))
