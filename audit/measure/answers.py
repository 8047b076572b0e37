"""Was every timed call right for the contents it was given? What the session compared on the GPU, as findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from audit.measure import outputs
from audit.measure.comparison import PREFIX, TIMED_OUTPUTS
from audit.model import Finding
from audit.probes.answer import finding

EAGER = f"{PREFIX}eager"
"""Computes what the others are held against. Where it is not right itself, from call to call, nothing follows."""


def every_call(events: Iterable[dict[str, Any]], kept: Sequence[Finding]) -> list[Finding]:
    """The findings about kept outputs, each with what the session saw of all other calls of its callable.

    Args:
        events: of a timing session; see `audit.run.answers`.
        kept: findings about the outputs that were held against the oracle, one a callable.
    """
    found = list(events)
    contents = next((one["contents"] for one in found if isinstance(one.get("contents"), dict)), None)
    answers = {one["answered"]: one for one in found if "answered" in one}
    if contents is None or not answers or answers.get(EAGER, {}).get("wrong"):
        return list(kept)
    about = {one.target: one for one in kept if one.probe == TIMED_OUTPUTS}
    beside = [one for one in kept if one.target not in answers or one.probe != TIMED_OUTPUTS]
    return [*(_finding(name, one, contents, about.get(name)) for name, one in answers.items()), *beside]


def _finding(name: str, answers: dict[str, Any], contents: dict[str, Any], kept: Finding | None) -> Finding:
    numbers = {key: answers[key] for key in ("calls", "wrong", "drawn", "drawn_wrong", "first")}
    seen = {**(kept.evidence if kept else {}), "every_call": numbers, "contents": contents}
    return finding(TIMED_OUTPUTS, name, seen, outputs.conclude)
