"""Results that nobody computed, held against the task: each must be wrong, else the task proves nothing."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from pydantic import JsonValue

from audit.errors import AuditError
from audit.model import Finding, Tolerance
from audit.probes.compare import Array, Comparison, bounds, compare
from audit.probes.target import Target
from audit.probes.variations import DISCRIMINATING, Variation, Varied, wanted

PROBE = "task"
Strawman = Callable[[Varied, Array], Array | None]


def finding(target: Target) -> Finding:
    """Holds every strawman against the claim's task at the largest case.

    Args:
        target: any variant of the claim; its kernel is not run. The claim's own tolerance counts.

    Returns:
        A finding of probe `task` about the claim: a proved failure if a strawman passes, which makes the task vacuous.
    """
    claim = target.claim
    try:
        varied = wanted(target).largest
    except AuditError as error:
        return Finding(probe=PROBE, target=claim.name, outcome="error", summary=str(error))
    compared = _compared(varied, claim.tolerance)
    passed = [name for name, comparison in compared.items() if comparison.right]
    told: list[JsonValue] = [
        {"strawman": name, "told_apart": not comparison.right, "elements_wrong": comparison.elements_wrong}
        for name, comparison in compared.items()
    ]
    evidence: dict[str, JsonValue] = {
        "shape": dict(varied.case.shape),
        "tolerance": claim.tolerance.relative,
        "strawmen": told,
    }
    label = varied.case.label
    if not passed:
        text = f"{label}: the task tells {len(compared)} results that nobody computed from a right one"
        return Finding(probe=PROBE, target=claim.name, outcome="pass", summary=text, evidence=evidence)
    apart = [_told_apart(one, claim.tolerance) for one in wanted(target).middle.of(DISCRIMINATING)]
    text = f"{label}: the task takes for right what nobody computed: {', '.join(passed)}"
    text += "".join((_one_number(varied.case.expected, claim.tolerance), *apart))
    return Finding(probe=PROBE, target=claim.name, outcome="fail", grade="proved", summary=text, evidence=evidence)


def _compared(varied: Varied, tolerance: Tolerance) -> dict[str, Comparison]:
    """Every strawman that this case allows, against its right result."""
    want = varied.case.expected
    may = bounds(want, tolerance)
    made = {name: make(varied, may) for name, make in STRAWMEN.items()}
    return {name: compare(one, want, tolerance) for name, one in made.items() if one is not None}


def _one_number(want: Array, tolerance: Tolerance) -> str:
    """Says so where the right result is the same number everywhere, as far as the tolerance can see."""
    middle = float(want.mean())
    same = bool((np.abs(want - middle) <= bounds(want, tolerance)).all())
    return f"; the right result is {middle:.6g} everywhere" if same else ""


def _told_apart(one: Variation, tolerance: Tolerance) -> str:
    """What the task makes of strawmen at inputs that are meant to tell."""
    compared = _compared(Varied(one.case, (), {}, None, ()), tolerance)
    wrong = sum(not comparison.right for comparison in compared.values())
    return f"; with discriminating inputs ({one.case.label}) it tells {wrong} of {len(compared)} from a right one"


def _zeros(varied: Varied, _: Array) -> Array:
    return np.zeros_like(varied.case.expected)


def _constant(varied: Varied, _: Array) -> Array:
    return np.full_like(varied.case.expected, varied.case.expected.mean())


def _first_input(varied: Varied, _: Array) -> Array | None:
    return varied.first_input


def _previous(varied: Varied, _: Array) -> Array | None:
    """The right result for other inputs, as a kernel that replays returns it."""
    others = [one.case.expected for one in varied.of("other") if one.case.expected.shape == varied.case.expected.shape]
    return others[0] if others else None


def _noise(varied: Varied, may: Array) -> Array:
    """The mean with noise as large as the tolerance; the same noise for the same case."""
    want = varied.case.expected
    draw = np.random.default_rng(zlib.crc32(want.tobytes())).uniform(-1.0, 1.0, want.shape)
    noisy: Array = want.mean() + may * draw
    return noisy


STRAWMEN: dict[str, Strawman] = {
    "zeros": _zeros,
    "constant": _constant,
    "first_input": _first_input,
    "previous_output": _previous,
    "noise": _noise,
}
"""What a kernel could return without working; None where the shapes do not allow it."""
