"""In the judge's process: check the events of a session against its request. An unexpected one is not from our code.

It is an event of this very request: in the right order, with known keys alone, numbers and sizes within bounds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter, ValidationError

from audit.run.messages import event_models, requests, timing_requests, wire
from audit.run.messages.wire import ProtocolViolation

Event = dict[str, Any]
Ordered = Callable[[Any, Sequence[Event], bool], None]
MOST_EVENTS = 20_000
OTHER_ORDER = "the shapes were answered in another order"


def checked(request: wire.AnyRequest, lines: Sequence[str], *, finished: bool) -> tuple[Event, ...]:
    """Return the events of those lines of JSON, one each; none may be missing where the session is `finished`. Raises
    ProtocolViolation: an event that this request cannot have; says which."""
    if len(lines) > MOST_EVENTS:
        raise ProtocolViolation(f"{len(lines)} events, where a session tells {MOST_EVENTS} at most")
    shape, ordered = KINDS[request.kind]
    events = tuple(_event(line, index, shape) for index, line in enumerate(lines))
    ordered(request, events, finished)
    return events


def _event(line: str, index: int, shape: TypeAdapter[Any]) -> Event:
    try:
        event = json.loads(line, parse_constant=_no_number, object_pairs_hook=_once)
        shape.validate_python(event)
    except (ValueError, RecursionError) as error:
        raise ProtocolViolation(f"event {index} is none that a session tells: {_first_words(error)}") from None
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


def _cases(request: requests.Cases, events: Sequence[Event], finished: bool) -> None:
    """Require the cost, then the cases in order, each followed by its other inputs where requested, or those of the
    requested distribution alone."""
    shapes = request.shapes
    if request.distribution is not None:
        left = iter(enumerate(shapes))  # one that the reference refuses is left out
        for index, event in enumerate(events):
            drawn = event.get("other") == request.distribution
            told = (event.get("case"), event.get("shape"))
            if not ("cost" in event if index == 0 else drawn and any(told == due for due in left)):
                raise ProtocolViolation(f"event {index} is not the one due there")
        return
    for before, event in pairwise(events) if request.others is not None else ():
        if event.get("other") and (before.get("case") != event["case"] or event["other"] == before.get("other")):
            raise ProtocolViolation("other inputs without their case")
    events = [event for event in events if request.others is None or not event.get("other")]
    if len(events) > 1 + len(shapes) or (finished and len(events) != 1 + len(shapes)):
        raise ProtocolViolation(f"{len(events)} events for the cost and {len(shapes)} cases")
    for index, event in enumerate(events):
        due = "cost" in event if index == 0 else event.get("case") == index - 1 and event["shape"] == shapes[index - 1]
        if not due:
            raise ProtocolViolation(f"event {index} is not the one due there")


def _other_step(place: int) -> str:
    return f"event {place} answers another step than step {place}"


def _in_order(
    key: str,
    asked: str,
    *,
    last_first: bool = False,
    what: str = "shapes",
    wrong: Callable[[int], str] = lambda _: OTHER_ORDER,
) -> Ordered:
    """Return a check for one event, numbered under `key`, for each entry of the request's `asked`, in order."""

    def ordered(request: requests.Request, events: Sequence[Event], finished: bool) -> None:
        due = len(getattr(request, asked))
        if len(events) > due or (finished and len(events) != due):
            raise ProtocolViolation(f"{len(events)} events for {due} {what}")
        numbers = reversed(range(due)) if last_first else range(due)
        for index, (event, number) in enumerate(zip(events, numbers, strict=False)):
            if event[key] != number:
                raise ProtocolViolation(wrong(index))

    return ordered


def _variations(request: requests.Variations, events: Sequence[Event], finished: bool) -> None:
    """Require each case's own event, then its variations, each once, with files in the case's folder."""
    plan, of, names = request.vary, -1, set[str]()
    for index, event in enumerate(events):
        if "variation" not in event:
            of, names = of + 1, set()
        if event["of"] != of or of >= len(plan):
            raise ProtocolViolation(f"event {index} is about another case than the one due there")
        if "variation" in event:
            _variation(event, plan[of], names)
    if finished and of != len(plan) - 1:
        raise ProtocolViolation(f"events about {of + 1} of {len(plan)} cases")


def _variation(event: Event, asked: requests.Vary, names: set[str]) -> None:
    name = event["variation"]
    if name in names or event["group"] not in asked.groups or "/" in name:
        raise ProtocolViolation("a variation that was not asked for, or twice")
    names.add(name)


def _timings(request: timing_requests.Timing, events: Sequence[Event], finished: bool) -> None:  # noqa: ARG001
    """Require names of the request's callables or our own, and existing sets of inputs."""
    known = {*(one.name for one in request.variants), *request.compiled}
    for index, event in enumerate(events):
        names = {event[key] for key in NAMING if key in event}
        foreign = sorted(name for name in names if name not in known and not name.startswith(event_models.OURS))
        if foreign:
            raise ProtocolViolation(
                f"event {index} speaks of {foreign[0][:80]}, which the session was not asked to time"
            )
        if event.get("inputs", 0) >= len(request.inputs):
            raise ProtocolViolation(f"event {index} names inputs there are none of")


def _published(request: timing_requests.Published, events: Sequence[Event], finished: bool) -> None:
    """Require events about the claimed code alone, under the requested protocols.

    Such a session times nothing else: a time of a baseline or of a block would be invented.
    """
    _timings(request, events, finished)
    names, protocols = {one.name for one in request.variants}, {one.name for one in request.protocols}
    for index, event in enumerate(events):
        named = {event[key] for key in NAMING if key in event}
        if not named <= names or ("samples_ms" in event and event.get("protocol") not in protocols):
            raise ProtocolViolation(f"event {index} is about another timing than the one that was asked for")


def _alone(request: timing_requests.Alone, events: Sequence[Event], finished: bool) -> None:
    """Require the readings of an empty kernel, then those of the callable unless it failed, and no other events."""
    _timings(request, events, finished)
    (name,) = [one.name for one in request.variants] or [f"baseline:{request.baseline}"]
    empty, own = _readings(timing_requests.EMPTY, timing_requests.EMPTY_CALLS), _readings(name, request.calls)
    due = [*empty, {"trying": name}, {"loaded": name}, *own]
    ended = not events or "failed" in events[-1]
    if len(events) > len(due) or (finished and len(events) != len(due) and not ended):
        raise ProtocolViolation(f"{len(events)} events for {len(due)}")
    for index, (event, wanted) in enumerate(zip(events, due, strict=False)):
        loads = {key: event[key] for key in ("loaded", "failed") if key in event}
        if event != wanted and not (loads and "loaded" in wanted and name in loads.values()):
            raise ProtocolViolation(f"event {index} is not the one due there")


def _readings(name: str, calls: int) -> list[Event]:
    pair: list[Event] = [{"independent_clock": name, "at": at, "calls": calls} for at in ("begin", "end")]
    return pair * timing_requests.READINGS


def _checked_once(_: requests.SandboxCheck, events: Sequence[Event], finished: bool) -> None:
    """Require one event, about the whole sandbox."""
    if len(events) > 1 or (finished and len(events) != 1):
        raise ProtocolViolation(f"{len(events)} events for one trial")


NAMING = ("trying", "loaded", "failed", "warmed", "variant", "profiled", "independent_clock", "answered")
"""Keys under which a timing session names a callable."""


def _of(shape: Any, ordered: Ordered) -> tuple[TypeAdapter[Any], Ordered]:
    return TypeAdapter(shape), ordered


_TIMING = _of(event_models.TimingEvent, _timings)
KINDS: dict[str, tuple[TypeAdapter[Any], Ordered]] = {
    "session": _of(event_models.StepEvent, _in_order("step", "steps", what="steps", wrong=_other_step)),
    "cases": _of(event_models.Cost | event_models.Case, _cases),
    "work": _of(event_models.Work, _in_order("weighed", "shapes", last_first=True)),
    "described": _of(event_models.Described, _in_order("described", "shapes")),
    "sized": _of(event_models.Sized, _in_order("sized", "shapes")),
    "launches": _of(event_models.Launched, _in_order("launched", "inputs")),
    "variations": _of(event_models.Varied | event_models.Variation, _variations),
    "interleaved": _TIMING,
    "published": _of(event_models.PublishedEvent, _published),
    "alone": _of(event_models.AloneEvent, _alone),
    "compiled": _TIMING,
    "sandbox_check": _of(event_models.SandboxChecked, _checked_once),
}
