"""Whether two answers agree: equal bits, NaN with NaN, or within the bound that the question states."""

from __future__ import annotations

import math
import struct

from tests.emulated.conformance.entry import EXACT, NUMBERS, Bound, Entry

_READ = {"f16": ("<e", "<H", 2), "f32": ("<f", "<I", 4), "f64": ("<d", "<Q", 8), "bf16": ("", "<H", 2)}


def differences(entry: Entry, want: bytes, got: bytes) -> list[int]:
    """Positions, in components of the result's type, where the emulated device's answer is not the GPU's."""
    reading = NUMBERS[entry.result].reading
    size = NUMBERS[entry.result].size if reading == "integer" else _READ[reading][2]
    if len(want) != len(got):
        return list(range(max(len(want), len(got)) // size))
    pairs = ((want[at : at + size], got[at : at + size]) for at in range(0, len(want), size))
    return [i for i, (a, b) in enumerate(pairs) if a != b and not _near(reading, a, b, entry.bound)]


def value(reading: str, bits: bytes) -> float:
    """The number that these bits are."""
    if reading == "bf16":
        return float(struct.unpack("<f", b"\0\0" + bits)[0])
    return float(struct.unpack(_READ[reading][0], bits)[0])


def _near(reading: str, want: bytes, got: bytes, bound: Bound) -> bool:
    if reading == "integer":
        return False
    a, b = value(reading, want), value(reading, got)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if bound == EXACT:  # both zeros are near, not equal
        return False
    if abs(_ordered(reading, want) - _ordered(reading, got)) <= bound.ulps:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    return abs(a - b) <= max(bound.absolute, bound.relative * max(abs(a), abs(b)))


def _ordered(reading: str, bits: bytes) -> int:
    """A whole number that grows by one with each next number of the type; both zeros are 0."""
    raw = int(struct.unpack(_READ[reading][1], bits)[0])
    top = 1 << (8 * len(bits) - 1)
    return raw if raw < top else top - raw
