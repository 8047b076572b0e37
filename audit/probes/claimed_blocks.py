"""Are the elements that a few blocks write at the claimed shape right, where that shape is too large to run whole?

The corners of the grid and random blocks run on inputs of the claimed shape, twice, over two patterns of fresh memory;
elements that they did not write, or whose bits depend on fresh memory, are left out. In a third call shared memory and
inactive lanes hold other values: a result that depends on them is undefined. In a fourth every access of a few blocks
is checked, for behaviour within one block; of a launch of few threads all blocks, for races between them too. Where
inputs are too large to be made, a few blocks run on zeros, to see accesses outside every allocation. A value wrong
beside undefined behaviour is proved wrong if it is so in every order and under every fill. A result of another shape is
wrong, unless the host code reads values back, which blocks left out may have made. Every block is run where blocks add
into the same memory, where later launches read their results, or where all take a few seconds, if there is time: an
unwritten element is wrong then. Blocks that add into the same memory run in another order too: a result that is wrong
in that alone is undefined. The random blocks are unknown before the audit. Where the host code launches nothing at the
claimed shape, the whole result is compared. Where the claimed shape cannot be asked so, every block runs at another
one: where no shape asked counts for the claim, at the importer's first candidate if that counts, a smaller shape or the
claimed one itself; where the claim states smaller ones, at the largest that fits.

Other inputs get one call each. Where a result is a sum of thousands of numbers they are graded: no half of them
represents the whole. Fixed inputs, constant tensors that the task always makes alike, are redrawn. Where every block
is run, some numbers stand out at regular positions, numbers are sorted, rows are constant, and tensors of bytes are
filled with either end of their range. A distribution that was wrong at a shape that does not count is asked here.

The rounding of sums depends on the order of their blocks. A wrong sum is a hint, unless it is wrong by FAR times the
tolerance in every order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from audit.model import Shape
from audit.model.errors import Unsupported
from audit.probes import claimed_launches
from audit.probes.concluding import block_inputs, block_results
from audit.probes.concluding.answer import Answer, Observed, failed, grade_beside, label, passed
from audit.probes.concluding.behaviour import sentence as behaviour
from audit.probes.concluding.compare import FAR, sentence, worst_element
from audit.probes.concluding.undefined import of_blocks
from audit.probes.observing import block_calls, claimed_shape, launched_alike
from audit.probes.observing.battery import at_middle, premise
from audit.probes.observing.block_calls import BLOCKS, FEWER, WHOLE
from audit.probes.observing.called import Mode, alike
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target

NAME = "claimed_blocks"


ASKED_OF = ("claimed", "known_bad", "known_good")
"""Roles; ablations and repairs are ours, with shapes chosen for them."""


def observe(target: Target) -> Observed:
    """Make calls at the claimed shape, of BLOCKS blocks of each large launch; else one at a smaller shape."""
    shape = claimed_shape.needed(target)
    if target.variant.role not in ASKED_OF:
        raise Unsupported("blocks of the claimed shape for a variant that is no claim")
    try:
        return _at_claimed(target, shape)
    except Unsupported:
        if (seen := _at_smaller(target)) is None:
            raise
        return seen


def _at_smaller(target: Target) -> Observed | None:
    """Compare one whole call at a smaller shape that counts; None where another one was asked."""
    if not (cases := launched_alike.smaller_cases(target)):
        return None
    case = cases[claimed_shape.OWN]
    if target.is_reference:
        return _of_reference(target, case)
    event, call = claimed_shape.parts(target, case, Mode(next(iter(target.built.poisons))), blocks=WHOLE)
    smaller = {"smaller": True} if case.shape != target.claim.shapes.claimed else {}
    if (fault := _fault(target, event)) is not None:
        return {**smaller, "shape": dict(case.shape), "fault": fault}
    if (why := block_calls.why_not(event, case)) is not None:
        raise Unsupported(why)
    if not event["launches"]:
        raise Unsupported("blocks of a call that launches nothing")
    every = np.ones(case.expected.shape, dtype=bool)
    seen = {**smaller, **block_results.compared_part(target, case, event, call, every)}
    if not seen["right"]:
        return seen
    return seen | block_inputs.wrong_at_others(target, launched_alike.smaller_cases, blocks=WHOLE)


def _without_launches(target: Target, case: Case) -> Observed:
    """Compare the whole result of a call that launches no kernel: a library made it, or nobody did."""
    event, call = claimed_shape.parts(target, case, Mode(next(iter(target.built.poisons))), blocks=WHOLE)
    if event["launches"] or event["raised"] is not None:
        raise Unsupported("blocks of a call whose launches depend on values")
    return {"launches_nothing": True, "shape": dict(case.shape), **target.compared(call, case).evidence()}


def _fault(target: Target, event: dict[str, Any]) -> Observed | None:
    """Return the access outside every allocation that ended a launch; None where none did."""
    found = of_blocks(target, event["reports"], whole=False) if block_calls.faulted(event) else None
    return None if found is None else found.evidence()


def _of_reference(target: Target, case: Case) -> Observed:
    return {"shape": dict(case.shape), **target.compared(target.call(case, target.plain), case).evidence()}


def _at_claimed(target: Target, shape: Shape) -> Observed:
    """Compare calls at the claimed shape; the task's own reference runs whole."""
    if target.is_reference:
        return _of_reference(target, claimed_shape.cases_of(target)[claimed_shape.OWN])
    (found,) = claimed_shape.launched(target, [shape])
    if found.raised is None and not found.launches:
        return _without_launches(target, claimed_shape.cases_of(target)[claimed_shape.OWN])
    if (skipped := _wrong_already(target)) is not None:
        return skipped
    if found.raised is not None or found.refused is not None:
        raise Unsupported("blocks of a call that launches nothing at the claimed shape")
    try:
        cases = claimed_shape.cases_of(target)
    except Unsupported:
        if claimed_launches.reads_back(target) or (fault := block_calls.fault_without_values(target)) is None:
            raise  # host code that reads values back would follow zeros
        return {"shape": dict(shape), "fault": fault, "without_values": True}
    return _in_part(target, cases, found)


def _in_part(target: Target, cases: Mapping[str, Case], found: claimed_shape.Launched) -> Observed:
    """Compare calls of some blocks, or all, of the launches that were found at the claimed shape."""
    large = sum(math.prod(one["grid"]) > BLOCKS for one in found.launches)
    seen = _asked(target, cases[claimed_shape.OWN], large)
    if not seen.get("right"):
        return seen
    if access := block_calls.undefined_access(target, cases[claimed_shape.OWN], found.launches):
        return seen | {"access": access}
    blocks = WHOLE if seen["blocks"] == seen["blocks_run"] else BLOCKS
    seen |= block_inputs.wrong_at_others(target, claimed_shape.cases_of, blocks=blocks)
    if access is not None and "undefined" in seen:
        seen["undefined"] = None  # what a smaller shape shows is not of this one
    return seen


def _asked(target: Target, case: Case, large: int) -> Observed:
    """Return the evidence about one case at the claimed shape, where that many launches are large."""
    blocks, entries = block_calls.called(target, case, large=large)
    returned = [event["shape"] for event, _ in entries if event["shape"] is not None]
    if not case.outputs and returned and not any(alike(shape, case.expected.shape) for shape in returned):
        return {"shape": dict(case.shape), "returned": returned[0], "due": list(case.expected.shape),
                "reads_back": claimed_launches.reads_back(target)}  # fmt: skip
    for event, _ in entries:
        if (fault := _fault(target, event)) is not None:
            return {"shape": dict(case.shape), "fault": fault}
        if (why := block_calls.why_not(event, case)) is not None:
            raise Unsupported(why)
    first, second = (call for _, call in entries)
    if (follows := block_results.follows_fresh_shared(target, case, first, blocks=blocks)) is not None:
        return {
            "shape": dict(case.shape),
            "follows_fresh_shared": follows,
            "line": entries[0][0]["launches"][-1]["line"],
        }
    seen = block_results.in_part(target, case, entries[0][0], first, second, blocks=blocks)
    if seen["right"] and blocks == WHOLE and any(launch["atomics"] for launch in entries[0][0]["launches"]):
        seen |= block_results.in_another_order(target, case)
    return seen


def conclude(seen: Observed) -> Answer:
    """Pass where all compared elements are right."""
    inputs = "".join(f", {other.words}" for name, other in block_inputs.OTHER_INPUTS.items() if name in seen)
    inputs += f", {seen['distribution'].replace('_', ' ')} inputs" if "distribution" in seen else ""
    which = "a smaller shape that counts for the claim" if "smaller" in seen else "the claimed shape"
    text = f"{label(seen['shape'])}, {which}{inputs}"
    if "returned" in seen:
        text += f": expected a tensor of shape {seen['due']}, got one of shape {seen['returned']}"
        return failed(text, "hint" if seen["reads_back"] else "proved")
    if "follows_fresh_shared" in seen:
        text += ": elements of the result that follow what shared memory held before the kernel wrote it, "
        text += f"or a lane that takes no part: {seen['follows_fresh_shared']:,}"
        return failed(text, "undefined", line=seen["line"])
    if (found := seen.get("fault") or seen.get("access")) is not None:
        text += f", {FEWER} blocks of each launch" if "access" in seen and "every_block" not in found else ""
        text += ", every access checked" if "access" in seen else ""
        text += f", {FEWER} blocks of each launch on inputs of zeros" if "without_values" in seen else ""
        return failed(f"{text}: {behaviour(found)}", found["grade"], line=found["line"])
    if "other_order" in seen:
        text += f": right in the order of blocks, in another ({seen['other_order']}) {sentence(seen)}"
        return failed(text, "undefined", line=seen["line"])
    if "blocks" not in seen:
        text += ", at which the host code launches no kernel" if "launches_nothing" in seen else ""
        return (passed if seen["right"] else failed)(f"{text}: {sentence(seen)}")
    return _of_blocks(seen, f"{text}: {seen['blocks_run']:,} of {seen['blocks']:,} blocks run")


def _of_blocks(seen: Observed, text: str) -> Answer:
    if "unwritten" in seen:
        text += f"; {seen['unwritten']:,} of {seen['elements']:,} elements are never written"
        return failed(text, line=seen["line"])
    elements = f"{seen['elements_compared']:,}"
    if seen["right"]:
        others = [other for name, other in block_inputs.OTHER_INPUTS.items() if f"{name}_too" in seen]
        too = "".join(f", {other.preposition} {other.words} too" for other in others)
        return passed(f"{text}; right at the {elements} elements they write{too}")
    text += f"; {seen['elements_wrong']:,} of {elements} elements they write are wrong; {worst_element(seen)}"
    if "orders" in seen:
        text += f", and {FAR} times farther off than they may be in each of {seen['orders']} orders"
    elif "in_one_order" in seen and not seen["undefined"]:
        return failed(text, "hint", line=seen["line"])
    if seen.get("in_every_order"):
        text += f"; beside undefined behaviour ({seen['undefined']}), but so in every order and fill"
        return failed(text, line=seen["line"])
    if "named" in seen and seen["undefined"]:  # an older record does not name it here
        text += f"; beside undefined behaviour ({seen['undefined']}), so a GPU may differ"
    return failed(text, grade_beside(seen["undefined"]), line=seen["line"])


def _wrong_already(target: Target) -> Observed | None:
    """Return a reason to skip where the claim is wrong at a shape that it states."""
    if not any(case.counts and case.scope != "kept" for case in target.cases):
        return None
    return premise(target, at_middle(target)["first"])
