"""Run a few blocks of the claimed shape, and decide whether their writes are elements of the result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from audit.model.errors import AuditError, Unsupported
from audit.probes.concluding.answer import Observed
from audit.probes.concluding.undefined import checking, is_unused, of_blocks
from audit.probes.observing import claimed_shape
from audit.probes.observing.called import Call, Mode, alike
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target

BLOCKS, FEWER, WHOLE = 24, 4, -1
"""Blocks of each large launch, fewer blocks where those are too much work, and all blocks."""
WHOLE_S = 3.0
"""Every block is run if that is expected to take at most so much processor time, by that of a few blocks."""
MOST_WHOLE_S = 30.0
"""No block beyond a few is run if all are expected to take more, and more than half of a session's limit."""
MOST_CHECKED_S = 3.0
"""The processor time of a launch beyond which a call with every access checked tells nothing here."""
MOST_CHECKED_THREADS = 1 << 13
"""Threads of a launch up to which each access of all its blocks is checked."""
STOPS = ("time-limit", "deadlock", "too-many-threads")
FAULT = "illegal-address"
"""The report of an access outside every allocation, which ends a launch: what its blocks left is no result."""


def called(target: Target, case: Case, *, large: int) -> tuple[int, list[tuple[dict[str, Any], Call]]]:
    """Call with each pattern of fresh memory: a few blocks, or all where blocks depend on each other or take little
    time. The number of blocks of these calls comes first.

    `large` launches have more than BLOCKS blocks; several share that number, since they build on each other and a few
    blocks tell no more than how long all of them would take.
    """
    blocks = max(1, BLOCKS // max(1, large))
    entries = _with_each_memory(target, case, blocks)
    if faulted(entries[-1][0]):
        return blocks, entries
    if all(is_whole(event) and not stopped(event) for event, _ in entries):
        return WHOLE, entries
    if blocks > FEWER and stopped(entries[-1][0]):
        blocks, entries = FEWER, _with_each_memory(target, case, FEWER)
    if not any(_dependence(event) or whole_s(event) <= WHOLE_S for event, _ in entries):
        return blocks, entries
    if max(MOST_WHOLE_S, target.built.limit_s / 2) < (seconds := whole_s(entries[0][0])) < math.inf:
        raise Unsupported(f"every block of the claimed shape, which would take {seconds:.0f} s")
    whole = _with_each_memory(target, case, WHOLE)
    return (blocks, entries) if stopped(whole[-1][0]) else (WHOLE, whole)


def _with_each_memory(target: Target, case: Case, blocks: int) -> list[tuple[dict[str, Any], Call]]:
    """Call that number of blocks with each pattern of fresh memory; no more once a call was stopped, faulted, or left
    out blocks that others depend on."""
    entries: list[tuple[dict[str, Any], Call]] = []
    for memory in target.built.poisons:
        entries.append(claimed_shape.parts(target, case, Mode(memory), blocks=blocks))
        event = entries[-1][0]
        if stopped(event) or faulted(event) or _dependence(event):
            break
    return entries


def why_not(event: dict[str, Any], case: Case) -> str | None:
    """Return why the elements that a few blocks write are not those of the result; None where they are."""
    stop = stopped(event)
    if event["raised"] or stop or faulted(event) or not _shaped(event, case):
        ended = stop["message"] if stop else "a launch that faults" if faulted(event) else None
        why = event["raised"] or ended or "no tensor of the shape it must have came back"
        return f"blocks of the claimed shape: {why}"
    if (why := _dependence(event)) is not None:
        return why
    if not is_whole(event) and not event["blanked"]:
        return "which elements of such a result a few blocks write"
    return None


def _shaped(event: dict[str, Any], case: Case) -> bool:
    due = [one.shape for one in case.outputs] or [case.expected.shape]
    got = [one["shape"] for one in event.get("outputs", ())] or [event["shape"]]
    return len(due) == len(got) and all(map(alike, got, due))


def whole_s(event: dict[str, Any]) -> float:
    """Return the expected seconds of a call with all blocks; infinite where it did not end, or a launch was refused."""
    if event["raised"] or stopped(event) or any(one["refused"] for one in event["launches"]):
        return math.inf
    left_out = ((one, math.prod(one["grid"]) / max(1, one["blocks_run"]) - 1) for one in event["launches"])
    seconds: float = event["seconds"] + sum(one["seconds"] * times for one, times in left_out)
    return seconds


def faulted(event: dict[str, Any]) -> bool:
    """Return whether a launch of the call ended in an access outside every allocation."""
    return any(one["kind"] == FAULT for one in event["reports"])


def stopped(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return the report of a launch that this device stopped."""
    return next((one for one in event["reports"] if one["kind"] in STOPS), None)


def is_whole(event: dict[str, Any]) -> bool:
    """Return whether every block of every launch was run."""
    return not any(_partial(event))


def _partial(event: dict[str, Any]) -> list[bool]:
    """Return for each launch whether blocks of it were left out."""
    return [one["blocks_run"] < math.prod(one["grid"]) for one in event["launches"]]


def _dependence(event: dict[str, Any]) -> str | None:
    """Return why the blocks of a call depend on each other; None where they do not."""
    partial = _partial(event)
    if any(partial[:-1]):
        return f"a few blocks of {len(partial)} launches that build on each other"
    if any(partial) and event["launches"][-1]["atomics"]:
        return "a few blocks of a launch whose blocks add into memory together"
    return None


def undefined_access(target: Target, case: Case, launches: Sequence[dict[str, Any]]) -> Observed | None:
    """Return undefined behaviour of a call of FEWER blocks with every access checked; empty where every block was and
    there is none, None where nothing is known. A launch of few threads is run whole, and so are several, which build
    on each other."""
    if not target.built.checks_accesses:
        return None
    sparing = len(launches) == 1 and math.prod((*launches[0]["grid"], *launches[0]["block"])) > MOST_CHECKED_THREADS
    with suppress(AuditError):
        event, _ = claimed_shape.parts(
            target, case, checking(target), blocks=FEWER, sparing=sparing, most_s=MOST_CHECKED_S
        )
        whole = is_whole(event)
        found, ended = of_blocks(target, event["reports"], whole=whole), _ended(event)
        if found is not None and is_unused(target, found):
            return None
        if found is not None and (faulted(event) or ended):
            return found.evidence() | ({"every_block": True} if whole else {})
        return {} if found is None and whole and ended else None
    return None


def fault_without_values(target: Target) -> Observed | None:
    """Return an access outside every allocation by one of FEWER blocks of the claimed shape, whose inputs are too large
    to be made, as by an index that passed 2^31. None where there is none, or nothing is known: values may decide where
    the same happens at a smaller shape, or where a launch reads what another one wrote."""
    with suppress(AuditError):
        events = claimed_shape.without_values(target, blocks=FEWER, most_s=MOST_CHECKED_S)
        if events is not None and not faulted(events[0]) and faulted(events[1]) and len(events[1]["launches"]) == 1:
            found = of_blocks(target, events[1]["reports"], whole=False)
            return None if found is None else found.evidence()
    return None


def _ended(event: dict[str, Any]) -> bool:
    """Return whether the blocks of a call ran to their end and do not depend on blocks left out."""
    return not (event["raised"] or stopped(event) or _dependence(event))
