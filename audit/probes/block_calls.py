"""Calls of a few blocks of the claimed shape: until they tell something, and why one tells nothing."""

from __future__ import annotations

import math
from typing import Any

from audit.probes import claimed_shape
from audit.probes.called import Call, Mode, alike
from audit.probes.cases import Case
from audit.probes.target import Target

BLOCKS, FEWER, WHOLE = 24, 4, -1
"""Blocks of each large launch, those where that is too much work, and all of them."""
WHOLE_S = 3.0
"""Every block is run where that takes no longer, as the time of a few blocks has it."""
STOPS = ("time-limit", "deadlock", "too-many-threads")


def called(target: Target, case: Case) -> list[tuple[dict[str, Any], Call]]:
    """A call a pattern of fresh memory, of a few blocks; of all where they cannot be asked apart from each other, or
    take little time."""
    entries = _with_each_memory(target, case, BLOCKS)
    if _stopped(entries[-1][0]):
        entries = _with_each_memory(target, case, FEWER)
    if not any(_together(event) or _whole_s(event) <= WHOLE_S for event, _ in entries):
        return entries
    whole = _with_each_memory(target, case, WHOLE)
    return entries if _stopped(whole[-1][0]) else whole


def _with_each_memory(target: Target, case: Case, blocks: int) -> list[tuple[dict[str, Any], Call]]:
    """A call of so many blocks a pattern of fresh memory, until one is stopped."""
    entries: list[tuple[dict[str, Any], Call]] = []
    for memory in target.built.poisons:
        entries.append(claimed_shape.parts(target, case, Mode(memory), blocks=blocks))
        if _stopped(entries[-1][0]):
            break
    return entries


def why_not(event: dict[str, Any], case: Case) -> str | None:
    """Why what a few blocks write is not what the call returns; None where it is."""
    stopped = _stopped(event)
    if event["raised"] or stopped or not _came_back(event, case):
        why = event["raised"] or (stopped and stopped["message"]) or "no tensor of the shape it must have came back"
        return f"blocks of the claimed shape: {why}"
    if (why := _together(event)) is not None:
        return why
    if not is_whole(event) and not event["blanked"]:
        return "which elements of such a result a few blocks write"
    return None


def _came_back(event: dict[str, Any], case: Case) -> bool:
    """Whether every output has the shape it must have."""
    due = [one.shape for one in case.outputs] or [case.expected.shape]
    got = [one["shape"] for one in event.get("outputs", ())] or [event["shape"]]
    return len(due) == len(got) and all(map(alike, got, due))


def _whole_s(event: dict[str, Any]) -> float:
    """The seconds that a call of a few blocks would take whole, or took; infinite where it did not come to its end."""
    if event["raised"] or _stopped(event):
        return math.inf
    shares = [one["blocks_run"] / math.prod(one["grid"]) for one in event["launches"]]
    seconds: float = event["seconds"] / min(shares, default=1.0)
    return seconds


def _stopped(event: dict[str, Any]) -> dict[str, Any] | None:
    """The report of a launch that this device gave up."""
    return next((one for one in event["reports"] if one["kind"] in STOPS), None)


def is_whole(event: dict[str, Any]) -> bool:
    """Whether every block of every launch was run."""
    return not any(_partial(event))


def _partial(event: dict[str, Any]) -> list[bool]:
    """Of each launch, whether blocks of it were left out."""
    return [one["blocks_run"] < math.prod(one["grid"]) for one in event["launches"]]


def _together(event: dict[str, Any]) -> str | None:
    """Why the blocks of a call cannot be asked apart from each other; None where they can."""
    partial = _partial(event)
    if any(partial[:-1]):
        return f"a few blocks of {len(partial)} launches that build on each other"
    if any(partial) and event["launches"][-1]["atomics"]:
        return "a few blocks of a launch whose blocks add into memory together"
    return None
