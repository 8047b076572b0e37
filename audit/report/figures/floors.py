"""The reported time of each GPU named against what its data sheet allows, on a log axis of milliseconds."""

from __future__ import annotations

from matplotlib.axes import Axes

from audit.model import Finding, Record
from audit.report import evidence
from audit.report.figures import canvas
from audit.report.messages import joined, message
from audit.report.quantities import milliseconds
from audit.report.view import Figure

NAME = "floors"
MARKS = (
    ("compute_floor_ms", "compute floor, fp32", "o", canvas.BLUE),
    ("memory_floor_ms", "memory floor", "s", canvas.GREEN),
    ("matrix_unit_floor_ms", "matrix-unit floor", "^", canvas.GREY),
    ("reported_kernel_ms", "reported kernel time", "X", "#C44E00"),
)
SIZES = {"memory_floor_ms": 130, "reported_kernel_ms": 95}
DRAWN_MS = (1e-12, 1e12)
"""The range of the axis."""


def draw(record: Record) -> Figure | None:
    """Return a line for each GPU; None where no GPU has a floor."""
    found = [one for one in record.findings if one.probe == "floor" and _ms(one, "floor_ms")][: canvas.MOST_LINES]
    if not found:
        return None
    with canvas.style():
        sheet = canvas.sheet(8.4, 1.6 + 0.68 * len(found))
        axis = sheet.subplots()
        for height, finding in enumerate(found):
            _line(axis, height, finding)
        _axes(axis, found, record)
        sheet.legend(
            *axis.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False, fontsize=9.5
        )
        png = canvas.png(sheet)
    alt = message("floors.alt", gpus=joined("blank", map(_in_words, found)))
    return Figure(name=NAME, alt=alt, caption=message("floors.caption"), png=png)


def _line(axis: Axes, height: int, finding: Finding) -> None:
    floor = evidence.real(finding, "floor_ms") or 1.0
    axis.axhline(height, color="#E4E4E4", linewidth=1, zorder=0)
    for key, name, mark, colour in MARKS:
        value = _ms(finding, key)
        # Every mark is named once in the legend, with or without a value on the first line.
        place = ([value], [height]) if value else ([], [])
        # The matrix-unit floor is never under the memory floor and often on it: the memory mark is an open frame.
        face = "none" if key == "memory_floor_ms" else colour
        axis.scatter(*place, marker=mark, s=SIZES.get(key, 48), facecolor=face, edgecolor=colour, linewidth=1.6,
                     zorder=3, label=name if height == 0 else None)  # fmt: skip
    reported = evidence.real(finding, "reported_kernel_ms")
    if reported:
        text = f"reported {milliseconds(reported)}, fp32 floor {milliseconds(floor)}"
    else:
        text = f"ratio only: baseline would need ≥ {milliseconds(evidence.real(finding, 'baseline_needed_ms'))}"
    places = [value for key, *_ in MARKS if (value := _ms(finding, key))]
    axis.annotate(text, (max(places), height), xytext=(12, 0), textcoords="offset points", va="center", fontsize=9.5,
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})  # fmt: skip


def _ms(finding: Finding, key: str) -> float | None:
    """Return a time within the range of the axis."""
    value = evidence.real(finding, key)
    return float(value) if value is not None and DRAWN_MS[0] < value < DRAWN_MS[1] else None


def _axes(axis: Axes, found: list[Finding], record: Record) -> None:
    values = [value for one in found for key, *_ in MARKS if (value := _ms(one, key))]
    canvas.log_axis(axis, min(values) / 1.6, max(values) * 45, "time of one call (ms, log scale)")
    axis.set_ylim(len(found) - 0.45, -0.55)
    names = [
        f"{canvas.label(one.target, limit=16)}\nclaimed {evidence.claimed_ratio(record, one.target)}" for one in found
    ]
    axis.set_yticks(range(len(found)), names)


def _in_words(finding: Finding) -> str:
    floor = milliseconds(evidence.real(finding, "floor_ms"))
    reported = evidence.real(finding, "reported_kernel_ms")
    if reported:
        return message("floors.reported", gpu=finding.target, time=milliseconds(reported), floor=floor)
    needed = milliseconds(evidence.real(finding, "baseline_needed_ms"))
    return message("floors.needed", gpu=finding.target, floor=floor, needed=needed)
