"""Runs in a child: what compute-sanitizer wrote, as reports in the words of the emulated device.

What it calls a warning is a race inside a warp, which mostly runs in step: undefined all the same.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

_PREFIX = re.compile(r"^=+ ?", re.MULTILINE)
_ACCESS = re.compile(r"^Invalid __(\w+)__ (read|write|atomic) of size (\d+) bytes", re.MULTILINE)
_UNINITIALISED = re.compile(r"^Uninitialized __(\w+)__ memory read of size (\d+) bytes", re.MULTILINE)
_RACE = re.compile(r"^(?:Error|Warning): Race reported[^\n]*", re.MULTILINE)
_PLACE = re.compile(
    r"\bat (?:0x[0-9a-f]+ in )?(?P<kernel>[^\n]+?)(?:\+0x[0-9a-f]+)?(?: in [^\n:]+:(?P<line>\d+))?$", re.MULTILINE
)
_RACED = re.compile(r"access (?:at|by [^\n]*? at) (?:0x[0-9a-f]+ in )?([^\n+]+?)\+0x")


def finished(log: str) -> bool:
    """Whether the tool reached its own summary."""
    return "SUMMARY" in log


def reports_in(log: str) -> list[dict[str, Any]]:
    """One report a kind and kernel, with how often it was printed; a library without line information has no line."""
    text = _PREFIX.sub("", log)
    blocks = re.split(r"\n\s*\n", text)
    found = [report for block in blocks for report in [_report(block)] if report is not None]
    counts = Counter((report["kind"], report["kernel"]) for report in found)
    first = {(report["kind"], report["kernel"]): report for report in reversed(found)}
    return [{**first[key], "count": count} for key, count in counts.items()]


def _report(block: str) -> dict[str, Any] | None:
    if access := _ACCESS.search(block):
        space, how, size = access.groups()
        kind = "out-of-bounds-read" if how == "read" else "out-of-bounds-write"
        return _told(kind, f"invalid {space} {how} of {size} bytes", block)
    if read := _UNINITIALISED.search(block):
        return _told("uninitialised-read", f"{read[1]} read of {read[2]} bytes that nothing has written", block)
    if race := _RACE.search(block):
        raced = _RACED.search(race[0])
        return {
            "kind": "race-shared",
            "message": "threads of a block access one word of shared memory without a barrier between",
            "kernel": raced[1].strip() if raced else "a kernel",
            "line": None,
            "library_offset": None,
        }
    return None


def _told(kind: str, message: str, block: str) -> dict[str, Any]:
    place = _PLACE.search(block)
    kernel = place["kernel"].strip() if place else "a kernel"
    line = int(place["line"]) if place and place["line"] else None
    return {"kind": kind, "message": message, "kernel": kernel, "line": line, "library_offset": None}
