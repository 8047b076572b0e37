"""The judge's side: the events with which a session may answer its request. Any other was not sent by our code.

The seal (`transcript`) shows that a message left our native code; this checks that it is an event of this very request:
every event in its place, known keys alone, numbers and sizes within bounds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter, ValidationError

from audit.run import requests, session_events, timing_events, timing_requests, wire
from audit.run.transcript import ProtocolViolation

Event = dict[str, Any]
MOST_EVENTS = 20_000


def checked(request: wire.AnyRequest, lines: Sequence[str], *, finished: bool) -> tuple[Event, ...]:
    """The events of those lines of JSON.

    Args:
        request: what the session was asked.
        lines: its events, one each.
        finished: whether it ran to its end; then nothing may be missing.

    Raises:
        ProtocolViolation: an event that this request cannot have; says which.
    """
    if len(lines) > MOST_EVENTS:
        raise ProtocolViolation(f"{len(lines)} events, where a session tells {MOST_EVENTS} at most")
    shape, ordered = KINDS[request.kind]
    events = tuple(_event(line, place, shape) for place, line in enumerate(lines))
    ordered(request, events, finished)
    return events


def _event(line: str, place: int, shape: TypeAdapter[Any]) -> Event:
    try:
        event = json.loads(line, parse_constant=_no_number, object_pairs_hook=_once)
        shape.validate_python(event)
    except (ValueError, RecursionError) as error:
        raise ProtocolViolation(f"event {place} is none that a session tells: {_first_words(error)}") from None
    found: Event = event
    return found


def _first_words(error: Exception) -> str:
    """Return the first words of an error, without the value at fault."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        return f"{'.'.join(str(part) for part in first['loc'])[:120]}: {first['msg'][:120]}"
    return str(error).partition("\n")[0][:120] or type(error).__name__


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _steps(request: requests.Session, events: Sequence[Event], finished: bool) -> None:
    """One event a step, in their order, each with the step as it was asked."""
    steps = [step.model_dump(mode="json", exclude_none=True) for step in request.steps]
    if len(events) > len(steps) or (finished and len(events) != len(steps)):
        raise ProtocolViolation(f"{len(events)} events for {len(steps)} steps")
    for place, (event, step) in enumerate(zip(events, steps, strict=False)):
        if event["step"] != place or any(event.get(key) != value for key, value in step.items()):
            raise ProtocolViolation(f"event {place} answers another step than step {place}")
        if any(key in event and key not in step for key in session_events.OPTIONS):
            raise ProtocolViolation(f"event {place} has options its step was not asked with")


def _cases(request: requests.Cases, events: Sequence[Event], finished: bool) -> None:
    """The cost, then the cases in their order, each with other inputs behind it where those were asked for."""
    shapes = request.shapes
    for before, event in pairwise(events) if request.others is not None else ():
        if event.get("other") and (before.get("case") != event["case"] or event["other"] == before.get("other")):
            raise ProtocolViolation("other inputs without their case")
    events = [event for event in events if request.others is None or not event.get("other")]
    if len(events) > 1 + len(shapes) or (finished and len(events) != 1 + len(shapes)):
        raise ProtocolViolation(f"{len(events)} events for the cost and {len(shapes)} cases")
    for place, event in enumerate(events):
        due = "cost" in event if place == 0 else event.get("case") == place - 1 and event["shape"] == shapes[place - 1]
        if not due:
            raise ProtocolViolation(f"event {place} is not the one due there")


def _work(request: requests.Work, events: Sequence[Event], finished: bool) -> None:
    """One event a shape, the last first."""
    last = len(request.shapes) - 1
    _in_order([{**event, "weighed": last - event["weighed"]} for event in events], "weighed", last + 1, finished)


def _described(request: requests.Described, events: Sequence[Event], finished: bool) -> None:
    """One event a shape, in their order."""
    _in_order(events, "described", len(request.shapes), finished)


def _sized(request: requests.Sized, events: Sequence[Event], finished: bool) -> None:
    """One event a shape, in their order."""
    _in_order(events, "sized", len(request.shapes), finished)


def _launched(request: requests.Launches, events: Sequence[Event], finished: bool) -> None:
    """One event a file of arguments, in their order."""
    _in_order(events, "launched", len(request.inputs), finished)


def _in_order(events: Sequence[Event], key: str, due: int, finished: bool) -> None:
    if len(events) > due or (finished and len(events) != due):
        raise ProtocolViolation(f"{len(events)} events for {due} shapes")
    if any(event[key] != place for place, event in enumerate(events)):
        raise ProtocolViolation("the shapes were answered in another order")


def _variations(request: requests.Variations, events: Sequence[Event], finished: bool) -> None:
    """For each case its own event, then its variations, each once, with files beside those of the case."""
    plan, of, names = request.vary, -1, set[str]()
    for place, event in enumerate(events):
        if "variation" not in event:
            of, names = of + 1, set()
        if event["of"] != of or of >= len(plan):
            raise ProtocolViolation(f"event {place} is about another case than the one due there")
        if "variation" in event:
            _variation(event, plan[of], names)
    if finished and of != len(plan) - 1:
        raise ProtocolViolation(f"events about {of + 1} of {len(plan)} cases")


def _variation(event: Event, asked: requests.Vary, names: set[str]) -> None:
    file = asked.inputs
    stem = file.with_name(f"{file.name.removesuffix('.inputs.pt')}.{event['variation']}")
    if event["variation"] in names or event["group"] not in asked.groups or event["stem"] != str(stem):
        raise ProtocolViolation("a variation that was not asked for, or twice")
    names.add(event["variation"])


def _timings(request: timing_requests.Timing, events: Sequence[Event], finished: bool) -> None:  # noqa: ARG001
    """Only callables of the request and our own names are spoken of, and sets of inputs there are."""
    known = {*(one.name for one in request.variants), *request.compiled}
    for place, event in enumerate(events):
        names = {event[key] for key in NAMING if key in event}
        foreign = sorted(name for name in names if name not in known and not name.startswith(timing_events.OURS))
        if foreign:
            raise ProtocolViolation(
                f"event {place} speaks of {foreign[0][:80]}, which the session was not asked to time"
            )
        if event.get("inputs", 0) >= len(request.inputs):
            raise ProtocolViolation(f"event {place} names inputs there are none of")


def _exhibited(request: timing_requests.Published, events: Sequence[Event], finished: bool) -> None:
    """Only the claimed code is spoken of, and only under the protocols that were asked for.

    No other code of ours runs beside it, so that a time of a baseline or of a block would be its own invention.
    """
    _timings(request, events, finished)
    names, protocols = {one.name for one in request.variants}, {one.name for one in request.protocols}
    for place, event in enumerate(events):
        spoken = {event[key] for key in NAMING if key in event}
        if not spoken <= names or ("samples_ms" in event and event.get("protocol") not in protocols):
            raise ProtocolViolation(f"event {place} is about another timing than the one that was asked for")


def _alone(request: timing_requests.Alone, events: Sequence[Event], finished: bool) -> None:
    """The readings of an empty kernel, then those of the callable unless it failed, and nothing else."""
    _timings(request, events, finished)
    (name,) = [one.name for one in request.variants] or [f"baseline:{request.baseline}"]
    empty, own = _readings(timing_requests.EMPTY, timing_requests.EMPTY_CALLS), _readings(name, request.calls)
    due = [*empty, {"trying": name}, {"loaded": name}, *own]
    ended = not events or "failed" in events[-1]
    if len(events) > len(due) or (finished and len(events) != len(due) and not ended):
        raise ProtocolViolation(f"{len(events)} events for {len(due)}")
    for place, (event, wanted) in enumerate(zip(events, due, strict=False)):
        loads = {key: event[key] for key in ("loaded", "failed") if key in event}
        if event != wanted and not (loads and "loaded" in wanted and name in loads.values()):
            raise ProtocolViolation(f"event {place} is not the one due there")


def _readings(name: str, calls: int) -> list[Event]:
    pair: list[Event] = [{"independent_clock": name, "at": at, "calls": calls} for at in ("begin", "end")]
    return pair * timing_requests.READINGS


def _checked_once(request: requests.SandboxCheck, events: Sequence[Event], finished: bool) -> None:  # noqa: ARG001
    """One event, about the whole sandbox."""
    if len(events) > 1 or (finished and len(events) != 1):
        raise ProtocolViolation(f"{len(events)} events for one trial")


NAMING = ("trying", "loaded", "failed", "warmed", "variant", "profiled", "independent_clock", "answered")
"""Keys under which a timing session names a callable."""
Ordered = Callable[[Any, Sequence[Event], bool], None]


def _of(shape: Any, ordered: Ordered) -> tuple[TypeAdapter[Any], Ordered]:
    return TypeAdapter(shape), ordered


_TIMING = _of(timing_events.TimingEvent, _timings)
KINDS: dict[str, tuple[TypeAdapter[Any], Ordered]] = {
    "session": _of(session_events.Step, _steps),
    "cases": _of(session_events.Cost | session_events.Case, _cases),
    "work": _of(session_events.Work, _work),
    "described": _of(session_events.Described, _described),
    "sized": _of(session_events.Sized, _sized),
    "launches": _of(session_events.Launched, _launched),
    "variations": _of(session_events.Varied | session_events.Variation, _variations),
    "interleaved": _TIMING,
    "published": _of(timing_events.ExhibitEvent, _exhibited),
    "alone": _of(timing_events.AloneEvent, _alone),
    "compiled": _TIMING,
    "sandbox_check": _of(session_events.SandboxChecked, _checked_once),
}
