"""Is what a few blocks write at the claimed shape right, where that shape is too large to run whole?

The corners of the grid and drawn blocks run on inputs of the claimed shape, twice, over two patterns of fresh memory;
elements that they did not write, or whose bits depend on fresh memory, are left out. Blocks that add into memory
together, or whose results later launches read, cannot be asked so. The draw of the blocks is unknown before the audit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from audit.model import Finding, Grade
from audit.model.errors import Unsupported
from audit.probes import claimed_shape
from audit.probes.answer import answer
from audit.probes.battery import at_middle, premise
from audit.probes.called import Call, Case
from audit.probes.compare import Comparison, compare
from audit.probes.target import Target
from audit.probes.undefined import undefined_beside

NAME = "claimed_blocks"
MECHANISMS = ("index arithmetic that overflows", "size dispatch", "wrong numbers")
BLOCKS = 24
ASKED_OF = ("claimed", "rogue", "honest")
"""Roles: ablations and repairs are ours, and their shapes are chosen for them."""


def run(target: Target) -> Finding:
    """Two calls at the claimed shape, BLOCKS blocks of each large launch."""
    shape = claimed_shape.needed(target)
    if target.variant.role not in ASKED_OF:
        raise Unsupported("blocks of the claimed shape for a variant that is no claim")
    if target.is_reference:
        return _of_reference(target)
    if (skipped := _wrong_already(target)) is not None:
        return skipped
    (found,) = claimed_shape.launched(target, [shape])
    if found.raised is not None or found.refused is not None or not found.launches:
        raise Unsupported("blocks of a call that launches nothing at the claimed shape; see claimed_launches")
    case = claimed_shape.case_of(target)
    told = [claimed_shape.parts(target, case, blocks=BLOCKS, memory=memory) for memory in target.built.poisons]
    for event, _ in told:
        if (why := _why_not(event, case)) is not None:
            raise Unsupported(why)
    first, second = (call for _, call in told)
    kept = _same(first, second)
    if not kept.any():
        raise Unsupported("elements of the result that the blocks run at the claimed shape write")
    return _finding(target, case, told[0][0], compared=_compared(target, first, case, kept), kept=kept)


def _wrong_already(target: Target) -> Finding | None:
    """A skip where the claim is wrong at a smaller shape that counts: a few blocks of a large one add nothing."""
    if not any(case.counts for case in target.cases):
        return None
    return premise(NAME, target, at_middle(target)["first"])


def _finding(
    target: Target, case: Case, event: dict[str, Any], *, compared: Comparison, kept: npt.NDArray[np.bool_]
) -> Finding:
    last = event["launches"][-1]
    run_blocks, blocks = last["blocks_run"], math.prod(last["grid"])
    elements = int(np.count_nonzero(kept))
    evidence: dict[str, JsonValue] = {
        "shape": dict(case.shape),
        "blocks_run": run_blocks,
        "blocks": blocks,
        "elements_compared": elements,
        **compared.evidence(),
    }
    text = f"{case.label}, the claimed shape: {run_blocks:,} of {blocks:,} blocks run"
    if compared.right:
        return answer(NAME, target, "pass", f"{text}; right at the {elements:,} elements they write", evidence=evidence)
    place = ", ".join(str(i) for i in compared.index or ())
    text += f"; {compared.elements_wrong:,} of {elements:,} elements they write are wrong; at [{place}] expected "
    text += f"{compared.expected:.6g}, got {compared.got:.6g}"
    grade: Grade = "undefined" if target.cases and undefined_beside(target, target.middle) else "proved"
    return answer(NAME, target, "fail", text, grade=grade, evidence=evidence, shape=case.shape, line=last["line"])


def _why_not(event: dict[str, Any], case: Case) -> str | None:
    """Why what a few blocks write is not what the call returns; None where it is."""
    stopped = next((one for one in event["reports"] if one["kind"] in ("time-limit", "deadlock")), None)
    if event["raised"] or stopped or event["shape"] != list(case.expected.shape):
        why = event["raised"] or (stopped and stopped["message"]) or "no tensor of the shape it must have came back"
        return f"a few blocks of the claimed shape: {why}"
    partial = [one["blocks_run"] < math.prod(one["grid"]) for one in event["launches"]]
    if any(partial[:-1]):
        return f"a few blocks of {len(partial)} launches that build on each other"
    if any(partial) and event["launches"][-1]["atomics"]:
        return "a few blocks of a launch whose blocks add into memory together"
    if any(partial) and not event["blanked"]:
        return "which elements of such a result a few blocks write"
    return None


def _same(first: Call, second: Call) -> npt.NDArray[np.bool_]:
    """The elements that do not hang on what fresh memory held."""
    same = first.raw() == second.raw()
    kept: npt.NDArray[np.bool_] = same.all(axis=1).reshape(first.event["shape"])
    return kept


def _compared(target: Target, call: Call, case: Case, kept: npt.NDArray[np.bool_]) -> Comparison:
    """As if every other element were right: the scale of the whole result counts."""
    got = np.where(kept, call.values(), case.expected)
    return compare(got, case.expected, target.tolerance, dtype=case.dtype, least_scale=case.size, also=case.also)


def _of_reference(target: Target) -> Finding:
    """The task's own reference, all of it."""
    case = claimed_shape.case_of(target)
    call = target.call(case, target.plain)
    compared = target.compared(call, case)
    evidence: dict[str, JsonValue] = {"shape": dict(case.shape), **compared.evidence()}
    text = f"{case.label}, the claimed shape: {compared.sentence()}"
    return answer(NAME, target, "pass" if compared.right else "fail", text, evidence=evidence, shape=case.shape)
