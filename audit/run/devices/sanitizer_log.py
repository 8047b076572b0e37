"""Parse compute-sanitizer's logs into reports with the kinds of the emulated device.

The documented text formats of memcheck, initcheck, racecheck and synccheck, from toolkit 11 on. A line of detail
belongs to the headline above it. racecheck's warnings are races inside a warp, which are undefined since Volta too. A
line number counts only in a CUDA source: an instruction may come from a header of the toolkit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from audit.run.devices.device import report

_PREFIX = re.compile(r"^=+ ?", re.MULTILINE)
_HEADLINE = re.compile(
    r"^(?:Invalid\s__|Uninitialized __|Potential invalid __|Barrier\serror\sdetected|Warpgroup MMA sequence error"
    r"|(?:Error|Warning): Race reported|(?:ERROR|RACECHECK|LEAK) SUMMARY|Program hit|Host API|Leaked|Unused)"
)
_ACCESS = re.compile(r"^Invalid __(\w+)__ (read|write|atomic) of size (\d+) bytes")
_REMOTE = re.compile(r"^Potential invalid __\w+__ (read|write|atomic) of size (\d+) bytes")
_UNINITIALISED = re.compile(r"^Uninitialized __(\w+)__ memory read of size (\d+) bytes")
_RACE = re.compile(r"^(Error|Warning): Race reported between (\w+) access\b")
_BARRIER = re.compile(r"^Barrier error detected\.? *([^\n]*?)\.? *$", re.MULTILINE)
_WARPGROUP = re.compile(r"^(Warpgroup MMA sequence error[^\n]*)")
_ADDRESS = re.compile(r"^ *Address 0x([0-9a-f]+)", re.MULTILINE)
_HAZARDS = re.compile(r"\[(\d+) hazards?\]")
_AFTER_AT = re.compile(r"(?:\bat|Device Frame:) *([^\n]+)")
_NEW = re.compile(r"(?P<kernel>.+?)\+0x[0-9a-f]+(?: in (?P<file>[^\n:\[]+):(?P<line>\d+))?")
_OLD_LINE = re.compile(r"0x[0-9a-f]+ in (?P<file>[^\n:]+):(?P<line>\d+):(?P<kernel>.+)")
_OLD = re.compile(r"0x[0-9a-f]+ in (?P<kernel>.+)")
_SOURCES = (".cu", ".cuh")


@dataclass(frozen=True)
class _Location:
    """The function of an instruction, and its line if it is in a CUDA source."""

    function: str
    line: int | None


def finished(log: str) -> bool:
    """Return whether the tool reached its own summary."""
    return "SUMMARY" in log


def reports_in(log: str, *, tool: str) -> list[dict[str, Any]]:
    """Return one report a kind, function and line, counted by prints, or by racecheck's hazards.

    Args:
        log: the tool's log.
        tool: its name, part of every report.
    """
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for block in _blocks(_PREFIX.sub("", log)):
        if (one := _report(block)) is None:
            continue
        first = found.setdefault((one["kind"], one["kernel"], one["line"]), {**one, "count": 0})
        first["count"] += one["count"]
    return [{**one, "tool": tool} for one in found.values()]


def _blocks(text: str) -> Iterator[str]:
    """Yield each headline with the lines below it."""
    block: list[str] = []
    for line in text.splitlines():
        if _HEADLINE.match(line):
            yield "\n".join(block)
            block = []
        block.append(line)
    yield "\n".join(block)


def _report(block: str) -> dict[str, Any] | None:
    for headline, read in _READERS.items():
        if found := headline.match(block):
            return read(found, block)
    return None


def _of_access(found: re.Match[str], block: str) -> dict[str, Any]:
    space, how, size = found.groups()
    if "misaligned" in block:
        return _report_of("misaligned-access", f"misaligned {space} {how} of {size} bytes", block)
    kind = "out-of-bounds-read" if how == "read" else "out-of-bounds-write"
    return _report_of(kind, f"invalid {space} {how} of {size} bytes", block)


def _of_race(found: re.Match[str], block: str) -> dict[str, Any]:
    inside = " inside a warp, without __syncwarp()" if found[1] == "Warning" else ", without a barrier between"
    lines = " and ".join(f"line {one.line}" for one in _locations(block) if one.line is not None)
    text = f"threads of a block access one word of shared memory{inside}{f' ({lines})' if lines else ''}"
    hazards = sum(int(count) for count in _HAZARDS.findall(block))
    return {**_report_of("race-shared", text, block), "count": max(1, hazards)}


def _of_barrier(found: re.Match[str], block: str) -> dict[str, Any]:
    """Report divergence as such: the log does not say whether the missing threads had ended."""
    what = found[1].lower()
    kind = "barrier-divergence" if what.startswith("divergent") else "warp-mask"
    return _report_of(kind, f"barrier error: {what}" if what else "barrier error", block)


_REMOTELY = "in a block of the cluster that may not have begun, or may have ended"
_READERS: dict[re.Pattern[str], Callable[[re.Match[str], str], dict[str, Any]]] = {
    _ACCESS: _of_access,
    _REMOTE: lambda found, block: _report_of("race-shared", f"a {found[1]} of {found[2]} bytes {_REMOTELY}", block),
    _UNINITIALISED: lambda found, block: _report_of(
        "uninitialised-read", f"{found[1]} read of {found[2]} bytes that nothing has written", block
    ),
    _RACE: _of_race,
    _BARRIER: _of_barrier,
    _WARPGROUP: lambda found, block: _report_of("warp-mask", found[1].rstrip(". "), block),
}


def _report_of(kind: str, message: str, block: str) -> dict[str, Any]:
    found = _locations(block)
    own = next((one for one in found if one.line is not None), found[0] if found else _Location("a kernel", None))
    address = _ADDRESS.search(block)
    about = report(kind, message, kernel=own.function, line=own.line)
    return {**about, "address": int(address[1], 16) if address else None}


def _locations(block: str) -> list[_Location]:
    """Return the locations of a report's instructions, in the order of the log; frames of a backtrace come last."""
    found = []
    for after in _AFTER_AT.finditer(block):
        text = after[1]
        match = _OLD_LINE.match(text) or _OLD.match(text) or _NEW.match(text)
        if match is not None:
            parts = match.groupdict()
            known = (parts.get("file") or "").endswith(_SOURCES)
            found.append(_Location(parts["kernel"].strip(), int(parts["line"]) if known else None))
    return found
