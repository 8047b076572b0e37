"""Does a GPU take every launch that the source makes at the claimed shape, where that is too large to run here?

The host code runs at the claimed sizes without its kernels. Grid arithmetic that overflows 32 bits, an empty grid and a
grid, block or shared memory over a limit show there and at no smaller shape, and so does the source's own check of
sizes, if it refuses the claimed ones by an exception. Where the host code reads values back from the device, its
launches may depend on them: a refusal is a hint then.
"""

from __future__ import annotations

import re
from typing import Any

from audit.model.errors import Unsupported
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed
from audit.probes.observing import claimed_shape
from audit.probes.observing.target import Target

NAME = "claimed_launches"
READS_BACK = re.compile(r"\.\s*(?:item|cpu|tolist)\s*[<(]|\bcudaMemcpyDeviceToHost\b|\bcudaMemcpyFromSymbol\b")
"""Code that copies values of the device to the host."""
MOST_LISTED = 12
_TEXT = r'"(?P<text>(?:\\.|[^"\\\n])+)"'
_CHECKS = (
    re.compile(rf"\bTORCH_CHECK\w*\s*\((?P<condition>[^;\"]{{1,400}}?),\s*{_TEXT}"),
    re.compile(rf"\bif\s*\((?P<condition>[^;\"{{}}]{{1,400}})\)\s*\{{?\s*throw\s+[\w:]+\s*\(\s*{_TEXT}"),
)
_COMPARES = re.compile(r"[<>]|[!=]=|%")
_OF_THE_DEVICE = re.compile(r"cuda|err|status|prop|device|attr|item|ptr|alloc|env|result", re.IGNORECASE)
"""Words of a condition that may depend on the device, on memory or on values."""
FEWEST_CHARACTERS = 8
"""The least length of a text in the source that identifies an exception."""


def observe(target: Target) -> Observed:
    """Make one call at the claimed shape on memory that is reserved and not touched."""
    shape = claimed_shape.needed(target)
    (found,) = claimed_shape.launched(target, [shape])
    seen: Observed = {
        "shape": dict(shape),
        "launches": [_described(launch) for launch in found.launches[:MOST_LISTED]],
        "launches_in_all": len(found.launches),
    }
    if (refused := found.refused) is not None:
        values = {key: refused[key] for key in ("kernel", "line", "refused")}
        return seen | {"refused": values, "reads_back": reads_back(target)}
    if found.raised is None:
        return seen
    source = target.reference.parent / target.variant.file
    line = refusing_line(found.raised, source.read_text(encoding="utf-8", errors="replace"))
    if line is None or found.reports or not target.cases:
        raise Unsupported(f"the claimed shape without its kernels: the host code raised {found.raised}")
    takes = dict(target.middle.shape)
    return seen | {"raised": found.raised, "line": line, "takes": takes, "reads_back": reads_back(target)}


def reads_back(target: Target) -> bool:
    """Return whether the source copies values of the device to the host, which may decide on launches and shapes."""
    source = target.reference.parent / target.variant.file
    return READS_BACK.search(source.read_text(encoding="utf-8")) is not None


def refusing_line(raised: str, source: str) -> int | None:
    """Return the line of the source's own check of sizes with the text of that exception; None where there is none. An
    exception proves nothing by itself: memory, a library or this device may cause it."""
    for check in _CHECKS:
        for match in check.finditer(source):
            text, condition = match["text"], match["condition"]
            of_sizes = _COMPARES.search(condition) and not _OF_THE_DEVICE.search(condition)
            if of_sizes and len(text) >= FEWEST_CHARACTERS and text in raised:
                return source.count("\n", 0, match.start()) + 1
    return None


def conclude(seen: Observed) -> Answer:
    """Fail at the first launch that a GPU refuses; a hint where host code reads values back."""
    shape, launches = f"{label(seen['shape'])}, the claimed shape", seen["launches_in_all"]
    if one := seen.get("refused"):
        text = f"{shape}: launch of {one['kernel']} refused: {one['refused']}"
        return failed(text, "hint" if seen["reads_back"] else "proved", line=one["line"])
    if "raised" in seen:
        text = f"{shape}, is refused: {seen['raised']}; {label(seen['takes'])} comes back with a result"
        return failed(text, "hint" if seen["reads_back"] else "proved", line=seen["line"])
    if not launches:
        return passed(f"{shape}: the host code launches no kernel")
    return passed(f"{shape}: a GPU takes every launch ({launches}); no kernel was run")


def _described(launch: dict[str, Any]) -> Observed:
    return {key: launch[key] for key in ("kernel", "line", "grid", "block", "dynamic_shared_bytes")}
