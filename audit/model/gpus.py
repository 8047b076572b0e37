"""Peak rates of the GPUs claims are made for, with their sources."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from pydantic import PositiveFloat, PositiveInt

from audit.model.base import Frozen


class Gpu(Frozen):
    """Data-sheet peaks: TFLOP/s by arithmetic, GB/s of memory, bytes of L2 cache. None where the GPU lacks the unit.

    `words` are those of the device's own name by which it is known, `without` words that name another GPU.
    """

    words: tuple[str, ...]
    without: tuple[str, ...] = ()
    compute_capability: PositiveInt
    fp32_tflops: PositiveFloat
    tf32_tflops: PositiveFloat | None = None
    fp16_tflops: PositiveFloat | None = None
    memory_gb_s: PositiveFloat
    l2_bytes: PositiveInt
    source: str

    def compute_ms(self, flops: float) -> float:
        """Return the least time for that many fp32 floating-point operations, in milliseconds."""
        return flops / self.fp32_tflops / 1e9

    def memory_ms(self, bytes_moved: float) -> float:
        """Return the least time to move that many bytes, in milliseconds."""
        return bytes_moved / self.memory_gb_s / 1e6

    def fastest_compute_ms(self, flops: float) -> float:
        """Return the least time if every operation ran on the fastest matrix unit, whatever its precision."""
        return flops / max(self.fp32_tflops, self.tf32_tflops or 0, self.fp16_tflops or 0) / 1e9

    def is_named(self, words: frozenset[str]) -> bool:
        """True if a device's name, taken as words, is that of this GPU or of a member of this family."""
        return words.issuperset(self.words) and words.isdisjoint(self.without)


@cache
def table() -> dict[str, Gpu]:
    """Return every GPU of `gpus.toml` by name."""
    entries = tomllib.loads(Path(__file__).with_name("gpus.toml").read_text(encoding="utf-8"))
    return {name: Gpu.model_validate(entry, strict=False) for name, entry in entries.items()}


def names_in(device: str) -> frozenset[str]:
    """Return every name of a device by which a claim may call it: its words and the entries of the table that fit them.
    "NVIDIA A100-SXM4-40GB" is an "A100" and an "A100 40GB"; "NVIDIA L40S" is neither an "L4" nor an "L40"."""
    words = frozenset(re.split(r"[\s-]+", device))
    return words | {name for name, gpu in table().items() if gpu.is_named(words)}


def closest(device: str) -> str | None:
    """Return the name in the table that fits a device's own name most closely; None if the table has none."""
    words = frozenset(re.split(r"[\s-]+", device))
    fit = [name for name, gpu in table().items() if gpu.is_named(words)]
    return max(fit, key=lambda name: len(table()[name].words), default=None)


def at_hand(device: str) -> Gpu | None:
    """Return the entry of that name."""
    name = closest(device)
    return table()[name] if name else None


def described(text: str) -> str:
    """Return the table's name for `a100`, `3090` or `NVIDIA H100 80GB HBM3`; the text itself for any other GPU."""
    words = {word.upper() for word in re.split(r"[\s_-]+", text) if word} - {"NVIDIA"}
    known = {name: {word.upper() for word in gpu.words} for name, gpu in table().items()}
    without = {name: {word.upper() for word in gpu.without} for name, gpu in table().items()}
    inside = [name for name, own in known.items() if words and own >= words]
    around = [name for name, own in known.items() if own <= words and not without[name] & words]
    if inside:
        return min(inside, key=lambda name: len(known[name]))
    return max(around, key=lambda name: len(known[name]), default=text)
