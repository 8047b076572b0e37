"""All questions by group. A group is one translation unit and one file of answers."""

from __future__ import annotations

from tests.emulated.conformance import (
    atomics,
    conversions,
    floats,
    fp8,
    groups,
    half_pairs,
    halves,
    integers,
    mathematics,
    tiles,
    vectors,
    warps,
)
from tests.emulated.conformance.entry import Entry

GROUPS: dict[str, list[Entry]] = {
    "integers": integers.ENTRIES,
    "floats": floats.ENTRIES,
    "mathematics": mathematics.ENTRIES,
    "conversions": conversions.ENTRIES,
    "halves": halves.ENTRIES,
    "half_pairs": half_pairs.ENTRIES,
    "fp8": fp8.ENTRIES,
    "atomics": atomics.ENTRIES,
    "warps": warps.ENTRIES,
    "groups": groups.ENTRIES,
    "tiles": tiles.ENTRIES,
    "vectors": vectors.ENTRIES,
}
