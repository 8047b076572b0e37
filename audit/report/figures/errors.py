"""Where the output of the claimed kernel is wrong, beside that of a passing variant on the same problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.judge.causes import sizes_of
from audit.model import Finding, Record, Shape
from audit.report import evidence
from audit.report.figures import maps
from audit.report.figures.maps import Key, Panel
from audit.report.messages import joined, message
from audit.report.quantities import count_of, shape
from audit.report.view import Figure

NAME, PROBE = "errors", "agreement"
KEY = Key(
    none=("cool", message("errors.none_key")),
    some=("pale", message("errors.some_key")),
    whole=("warm", message("errors.whole_key")),
)


def draw(record: Record) -> Figure | None:
    """Return both maps; None where the claimed kernel is not wrong, in one element, or its record is older."""
    claimed = evidence.find(record, PROBE, record.claimed_name)
    worst: Any = claimed.evidence.get("worst") if claimed and claimed.outcome == "fail" else None
    rows, sizes = (
        (maps.grid(worst.get("map")), sizes_of(worst.get("shape"))) if isinstance(worst, dict) else (None, None)
    )
    if claimed is None or rows is None or sizes is None or worst.get("elements") == 1:
        return None
    right = (
        Panel(maps.named(record, one.target), told, [[0.0]])
        for one in maps.of_passing(record, PROBE)
        for told in _right(one, sizes)
    )
    panels = [Panel(claimed.target, _told(worst), rows), *[*right][:1]]
    about = {
        "shape": shape(sizes),
        "panels": joined(
            "semicolon", (message("form.variant_outcome", variant=one.name, outcome=one.told) for one in panels)
        ),
    }
    return maps.figure(
        NAME, KEY, panels, alt=message("errors.alt", **about), caption=message("errors.caption", **about)
    )


def _right(finding: Finding, sizes: Shape) -> Iterator[str]:
    """Give how much is wrong of a right result at those sizes; nothing where it was not asked there."""
    entries: Any = finding.evidence.get("shapes")
    there = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    yield from (_told(one) for one in there if one.get("shape") == sizes and one.get("right") is True)


def _told(seen: dict[str, Any]) -> str:
    wrong, every = (seen.get(key) for key in ("elements_wrong", "elements"))
    if not isinstance(wrong, int) or not isinstance(every, int):
        return message("word.unknown")
    told = count_of(wrong, every, form="errors.wrong")
    return message("errors.of_output", told=told, output=str(seen["output"])) if "output" in seen else told
