"""The events of a timing process as measurements of the record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from audit.measure.checks import READ
from audit.measure.protocols import ALONE, ALONE_HOT, BUSY, BY_HOW, PUBLISHED, SPAN
from audit.model import Measurement, Shape


def measurements_of(events: Iterable[dict[str, Any]], *, session: str, shape: Shape) -> list[Measurement]:
    """The samples of one process; ceilings have shapes of their own.

    What is timed as published was timed there one after another, in any process: it belongs to no session.
    """
    return [one for event in events for one in _of(event, session, shape)]


def _of(event: dict[str, Any], session: str, shape: Shape) -> Iterator[Measurement]:
    if "contrast" in event:
        size = dict(event["contrast"])
        yield _measurement(READ, size, ALONE, event["cold_ms"], session)
        yield _measurement(READ, size, ALONE_HOT, event["hot_ms"], session)
    elif "profiled" in event:
        yield _measurement(event["profiled"], shape, BUSY, event["busy_ms"], session)
        yield _measurement(event["profiled"], shape, SPAN, event["span_ms"], session)
    elif "how" in event:
        yield _measurement(event["variant"], shape, BY_HOW[event["how"]], event["samples_ms"], session).model_copy(
            update={"blocks": tuple(event["blocks"]), "positions": tuple(event["positions"])}
        )
    elif "samples_ms" in event:
        protocol = event.get("protocol", ALONE)
        own = "" if protocol.startswith(PUBLISHED) else session
        yield _measurement(event["variant"], event.get("shape", shape), protocol, event["samples_ms"], own)


def _measurement(variant: str, shape: Shape, protocol: str, samples: list[float], session: str) -> Measurement:
    return Measurement(
        variant=variant,
        shape=dict(shape),
        protocol=protocol,
        samples_ms=tuple(float(sample) for sample in samples),
        session=session,
    )
