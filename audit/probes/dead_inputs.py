"""Does every input that moves the reference's result move the claim's?

An element whose right value moves by more than twice what it may be off, while the claim returns the same bits for both
inputs, is wrong for one of them. Where the claim folder has discriminating inputs, each input is changed among those.
"""

from __future__ import annotations

import numpy as np
from pydantic import JsonValue

from audit.model import Finding, Grade
from audit.probes.answer import answer
from audit.probes.battery import Asked, at_middle
from audit.probes.called import value_calls
from audit.probes.compare import bounds
from audit.probes.target import Target
from audit.probes.undefined import undefined_beside
from audit.probes.variations import DISCRIMINATING

NAME = "dead_inputs"
MECHANISMS = (
    "input never read",
    "dropped parameter",
    "constant output",
    "partial computation",
    "degenerate task",
    "loss by its expectation",
)

LEAST_SHARE = 0.01
"""Fewer elements than this share keep their bits by chance where a result has been rounded to few of them."""


def run(target: Target) -> Finding:
    """One call for each input at the middle case, with that input alone replaced."""
    asked = at_middle(target)
    first = asked.get(DISCRIMINATING, asked["first"])
    changed = [one for one in asked.values() if one.group == "inputs"]
    told: list[JsonValue] = []
    dead: list[tuple[str, str]] = []
    among = "among discriminating inputs, " if first.what == DISCRIMINATING else ""
    for one in changed:
        moved, unmoved = _counts(target, first, one)
        is_dead = unmoved > LEAST_SHARE * moved
        told.append({"input": one.what, "elements_moved": moved, "elements_dead": unmoved, "right": not is_dead})
        if is_dead:
            dead.append((_words(one.what), f"{moved:,} elements must move, {unmoved:,} keep their bits"))
    evidence: dict[str, JsonValue] = {"shape": dict(first.case.shape), "inputs": told}
    if dead:
        text = f"{first.case.label}: {among}with other values in {': '.join(dead[0])}"
        text += f"; so too in {', '.join(name for name, _ in dead[1:])}" if len(dead) > 1 else ""
        grade: Grade = "undefined" if undefined_beside(target, first.case) else "proved"
        return answer(NAME, target, "fail", text, grade=grade, evidence=evidence)
    text = f"{first.case.label}: the result follows each of {len(changed)} inputs that the reference follows"
    return answer(NAME, target, "pass", text, evidence=evidence)


def _counts(target: Target, first: Asked, changed: Asked) -> tuple[int, int]:
    """Elements that must move with that input, and those of them that did not."""
    value_calls([first.call, changed.call], [first.case.expected, changed.case.expected])
    was, now = first.case.expected, changed.case.expected
    if was.shape != now.shape:
        return 0, 0
    may = bounds(was, target.tolerance) + bounds(now, target.tolerance)
    moved = (np.abs(now - was) > may).reshape(-1)
    written = np.isfinite(first.call.values()).reshape(-1)  # fresh memory holds NaN; what nobody writes is not dead
    same = written & (first.call.raw() == changed.call.raw()).all(axis=1)
    return int(np.count_nonzero(moved)), int(np.count_nonzero(moved & same))


def _words(variation: str) -> str:
    """`input_0_weight` as `input 0 (weight)`."""
    _, index, *name = variation.split("_", 2)
    return f"input {index} ({name[0]})" if name else f"input {index}"
