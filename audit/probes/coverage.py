"""Is every element of the output written?

Two calls with two different patterns in fresh memory, a NaN and a number: an element that still holds the pattern in
both was never written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from audit.model import Finding
from audit.probes import agreement
from audit.probes.answer import answer
from audit.probes.called import Call, Mode, Need, value_calls
from audit.probes.target import Target

NAME = "coverage"
MECHANISMS = ("under-launch", "output never written", "no-op kernel")
MAP_SIDE = 64


def modes(target: Target) -> dict[Mode, bytes]:
    """One mode for each pattern of fresh memory, and the pattern; those in which `agreement` asks where it can be."""
    asked = agreement.modes(target)
    found = {}
    for memory, pattern in target.built.poisons.items():
        found[next((mode for mode in asked if mode.memory == memory), Mode(memory))] = pattern
    return found


def needs(target: Target) -> Iterator[Need]:
    """The largest case with each pattern."""
    yield from ((mode, target.largest) for mode in modes(target))


def run(target: Target) -> Finding:
    """Counts written elements and rows at the largest case and draws a map of at most 64 x 64 cells."""
    case = target.largest
    untouched = np.ones(case.expected.size, dtype=bool)
    launches: list[JsonValue] = []
    for mode, pattern in modes(target).items():
        call = target.call(case, mode)
        value_calls([call], [case.expected])
        untouched &= _holds(call, pattern)
        launches = [{key: launch[key] for key in ("kernel", "line", "grid", "block")} for launch in call.launches]
    written = ~untouched
    rows = written.reshape(-1, case.expected.shape[-1] if case.expected.ndim else 1)
    full, total = int(np.count_nonzero(rows.any(axis=1))), rows.shape[0]
    evidence: dict[str, JsonValue] = {
        "shape": dict(case.shape),
        "elements": int(written.size),
        "elements_written": int(np.count_nonzero(written)),
        "rows": total,
        "rows_written": full,
        "map": [[1.0]] if written.all() else share_map(rows),
        "launches": launches,
    }
    if written.all():
        return answer(NAME, target, "pass", f"{case.label}: all {written.size:,} elements written", evidence=evidence)
    share = 100 * float(np.count_nonzero(untouched)) / untouched.size
    text = f"{case.label}: {full:,} of {total:,} rows written, {share:.3f} % of the output is never written"
    return answer(NAME, target, "fail", text, evidence=evidence)


def _holds(call: Call, pattern: bytes) -> npt.NDArray[np.bool_]:
    words = call.words()
    size = words.dtype.itemsize * (words.shape[1] if words.ndim > 1 else 1)
    word = np.frombuffer((pattern * math.ceil(size / len(pattern)))[:size], dtype=words.dtype)
    same = words == word
    return np.asarray(same.all(axis=1) if same.ndim > 1 else same)


def share_map(rows: npt.NDArray[np.bool_]) -> list[JsonValue]:
    """The share written, 0 to 1, in cells of at most 64 x 64 over a (rows, columns) mask."""
    bands = [np.array_split(band, min(MAP_SIDE, rows.shape[1]), axis=1)
             for band in np.array_split(rows, min(MAP_SIDE, rows.shape[0]), axis=0)]  # fmt: skip
    return [[round(float(cell.mean()), 4) for cell in band] for band in bands]
