"""Compare the writes of blocks of the claimed shape with the right result, in one order of the blocks and in others."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.model.errors import AuditError, Unsupported
from audit.probes.concluding.answer import Observed
from audit.probes.concluding.behaviour import ACROSS_BLOCKS, UNSYNCHRONISED, lanes_interleave
from audit.probes.concluding.compare import FAR, Comparison, compare
from audit.probes.concluding.undefined import checked, checking, further_fills, undefined_beside
from audit.probes.observing import block_calls, claimed_shape
from audit.probes.observing.block_calls import FEWER, WHOLE
from audit.probes.observing.called import Call, Mode
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target

FILL = "zero"
"""The contents of shared memory and inactive lanes in the third call; the others have a pattern of NaN, or zero."""
_LEFT_UNWRITTEN = re.compile(r"__shared__|shfl")


def in_part(target: Target, case: Case, event: dict[str, Any], first: Call, second: Call, *, blocks: int) -> Observed:
    """Return the evidence about two calls over different patterns of fresh memory: unwritten or compared elements; with
    `in_every_order` where elements are wrong beside undefined behaviour, and no sum of several blocks."""
    kept = same(first, second).reshape(case.expected.shape)
    if block_calls.is_whole(event) and (left := unwritten(target, first, second)):
        last = event["launches"][-1]
        return {
            "shape": dict(case.shape),
            "right": False,
            "blocks_run": last["blocks_run"],
            "blocks": math.prod(last["grid"]),
            "elements": kept.size,
            "unwritten": left,
            "line": last["line"],
        }
    seen = compared_part(target, case, event, first, kept)
    if seen.get("undefined") and "orders" not in seen and "in_one_order" not in seen:
        seen["in_every_order"] = wrong_in_every_order(target, case, blocks=blocks, kept=kept)
    return seen


def compared_part(
    target: Target, case: Case, event: dict[str, Any], call: Call, kept: npt.NDArray[np.bool_], *, times: float = 1.0
) -> Observed:
    """Return the evidence about the elements in `kept`, compared within `times` the tolerance."""
    if not kept.any():
        raise Unsupported("elements of the result that the blocks run at the claimed shape write")
    found, last = compared(target, call, case, kept, times=times), event["launches"][-1]
    seen: Observed = {
        "shape": dict(case.shape),
        "blocks_run": last["blocks_run"],
        "blocks": math.prod(last["grid"]),
        "elements_compared": int(np.count_nonzero(kept)),
        **found.evidence(),
    }
    if found.right:
        return seen
    undefined = undefined_beside(target, target.middle) if target.cases else None
    adds = block_calls.is_whole(event) and any(launch["atomics"] for launch in event["launches"])
    seen |= {"line": last["line"], "undefined": undefined} | ({"named": True} if undefined else {})
    return seen | (_in_orders(target, case) if adds else {})


def unwritten(target: Target, *calls: Call) -> int:
    """Return the number of elements that hold fresh memory's pattern in every call, each with another pattern."""
    patterns = target.built.poisons.values()
    return int(
        np.count_nonzero(np.logical_and.reduce([one.holding(held) for one, held in zip(calls, patterns, strict=True)]))
    )


def _in_orders(target: Target, case: Case) -> Observed:
    """Return the number of orders of blocks and threads if the result is far off in all; else `in_one_order`."""
    memory = next(iter(target.built.poisons))
    for order in target.orders:
        try:
            event, call = claimed_shape.parts(target, case, Mode(memory, order), blocks=WHOLE)
        except AuditError:
            return {"in_one_order": True}
        every = np.ones(case.expected.shape, dtype=bool)
        if block_calls.why_not(event, case) is not None or compared(target, call, case, every, times=FAR).right:
            return {"in_one_order": True}
    return {"orders": len(target.orders)}


def wrong_in_every_order(target: Target, case: Case, *, blocks: int, kept: npt.NDArray[np.bool_]) -> bool:
    """Return whether the elements in `kept` that those blocks write are wrong in every order of threads and blocks and
    under every fill of shared memory and inactive lanes; False where undefined behaviour was seen that neither tells.

    Lanes of a warp may run in many more orders, and a race in device memory may be one with blocks that are left out.
    """
    beyond = {UNSYNCHRONISED, *(() if blocks == WHOLE else (ACROSS_BLOCKS,))}
    if not beyond.isdisjoint(one.kind for one in checked(target, target.middle).seen):
        return False
    try:
        event, _ = claimed_shape.parts(target, case, checking(target), blocks=FEWER)
        seen = [(one["kind"], one["message"]) for one in event["reports"]]
        if lanes_interleave(seen) or not beyond.isdisjoint(kind for kind, _ in seen):
            return False
        return not any(_right_ones(target, case, blocks=blocks, kept=kept))
    except AuditError:
        return False


def _right_ones(target: Target, case: Case, *, blocks: int, kept: npt.NDArray[np.bool_]) -> Iterator[bool]:
    """Yield whether the result is right, for each order and fill, see `further_fills`; True for a call that gives no
    answer."""
    memory, pattern = next(iter(target.built.poisons.items()))
    for order in (*target.built.orders, *target.built.more_orders):
        calls: list[Call] = []
        for fill in target.built.fills or (None,):
            if not further_fills(calls):
                break
            event, call = claimed_shape.parts(target, case, Mode(memory, order, fill), blocks=blocks)
            calls.append(call)
            if block_calls.why_not(event, case) is not None:
                yield True
                continue
            written = kept & np.asarray(~call.holding(pattern)).reshape(case.expected.shape)
            yield not written.any() or compared(target, call, case, written).right


def in_another_order(target: Target, case: Case) -> Observed:
    """Return the evidence of a result that is far off where the blocks run in another order; empty if none is."""
    memory, *_, order = next(iter(target.built.poisons)), *target.orders
    try:
        event, call = claimed_shape.parts(target, case, Mode(memory, order), blocks=WHOLE)
    except AuditError:
        return {}
    if block_calls.why_not(event, case) is not None:
        return {}
    found = compared(target, call, case, np.ones(case.expected.shape, dtype=bool), times=FAR)
    line = event["launches"][-1]["line"]
    return {} if found.right else {"other_order": order, "line": line, **found.evidence()}


def follows_fresh_shared(target: Target, case: Case, first: Call, *, blocks: int) -> int | None:
    """Return the number of elements that differ where shared memory starts as zeros; None if none, or unknown."""
    source = (target.reference.parent / target.variant.file).read_text(encoding="utf-8", errors="replace")
    if FILL not in target.built.fills or not _LEFT_UNWRITTEN.search(source):
        return None
    memory = next(iter(target.built.poisons))
    event, other = claimed_shape.parts(target, case, Mode(memory, fill=FILL), blocks=blocks)
    if block_calls.why_not(event, case) is not None:
        return None
    return int(np.count_nonzero(~same(first, other))) or None


def same(first: Call, second: Call) -> npt.NDArray[np.bool_]:
    """Return the elements that do not depend on the contents of fresh memory."""
    alike = first.words() == second.words()
    kept: npt.NDArray[np.bool_] = alike if alike.ndim == 1 else alike.all(axis=1)
    return kept.reshape(first.event["shape"])


def compared(target: Target, call: Call, case: Case, kept: npt.NDArray[np.bool_], *, times: float = 1.0) -> Comparison:
    """Compare as if every other element were right; the scale is that of the whole result."""
    tolerance = target.tolerance.model_copy(update={"relative": times * target.tolerance.relative})
    got = call.values().reshape(case.expected.shape)
    return compare(got, case.right, tolerance, least_scale=case.least(0.0), kept=kept)
