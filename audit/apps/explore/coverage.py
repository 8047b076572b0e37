"""The coverage map of any variant on any device of a record."""

from __future__ import annotations

from audit.apps.explore.absent import absent
from audit.apps.explore.choice import Choice, found
from audit.model import Record
from audit.report import evidence
from audit.report.figures import canvas
from audit.report.figures.coverage import NAME, bar, grid, panel
from audit.report.quantities import number, shape
from audit.report.view import Figure


def draw(record: Record, choice: Choice) -> Figure:
    """The map, dark where elements are written; in words why there is none, where there is none."""
    finding = found(record, NAME, choice.variant, choice.device)
    if finding is None or grid(finding) is None:
        why = finding.summary if finding else "not asked on this device"
        return absent(NAME, f"Coverage of {choice.variant}: {why}.")
    all_of, written = evidence.real(finding, "elements") or 0, evidence.real(finding, "elements_written") or 0
    words = f"{number(int(written))} of {number(int(all_of))}"
    with canvas.style():
        sheet = canvas.sheet(4.6, 3.4)
        axis = sheet.subplots()
        bar(sheet, panel(axis, finding, words), [axis])
        png = canvas.png(sheet)
    sizes = evidence.size(finding)
    where = f" at {shape(sizes)}" if sizes else ""
    told = f"Write coverage of {choice.variant}{where}, {choice.device}: {words} elements written."
    return Figure(name=NAME, alt=told, caption=told, png=png)
