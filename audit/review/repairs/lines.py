"""Changes of whole lines, from places in a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from audit.model import Finding
from audit.model.generated import MOST_CHARACTERS, MOST_LINES, Change
from audit.review.cuda_source import CudaSource


def failed(proved: Sequence[Finding], *probes: str) -> bool:
    """Return whether one of those probes proved a failure."""
    return any(one.probe in probes for one in proved)


def reports(proved: Sequence[Finding], kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the reports of an access checker that have one of those kinds and a line."""
    for finding in proved:
        listed = finding.evidence.get("reports") if finding.probe == "memory_access" else None
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, dict) and one.get("kind") in kinds and isinstance(one.get("line"), int):
                yield one


def replaced(source: CudaSource, start: int, end: int, new: str, *, what: str) -> list[Change]:
    """Return the change of the text between two offsets; none where its lines are too long or too many to show."""
    text = source.text
    first, past = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    past = len(text) if past < 0 else past
    changed = text[first:start] + new + text[end:past]
    return _shown(source.line_of(start), text[first:past].split("\n"), changed.split("\n"), what)


def inserted(line: int, added: str, *, what: str) -> list[Change]:
    """Return the change that puts a line before the one of that number."""
    return _shown(line, [], [added], what)


def _shown(line: int, removed: list[str], added: list[str], what: str) -> list[Change]:
    short = all(len(one) <= MOST_CHARACTERS for one in (*removed, *added))
    readable = all(one.replace("\t", "").rstrip("\r").isprintable() for one in (*removed, *added))
    shown = short and readable and max(len(removed), len(added)) <= MOST_LINES
    return [Change(what=what, line=line, removed=tuple(removed), added=tuple(added))] if shown else []
