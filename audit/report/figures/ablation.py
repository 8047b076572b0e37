"""The claimed kernel and its one-change ablations against the two execution orders, in words and in colour."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from audit.judge import AblationRow, ablation_table
from audit.model import Record
from audit.report.figures import canvas
from audit.report.messages import Recorded, joined, message
from audit.report.tables import with_difference
from audit.report.view import Figure

NAME = "ablation"
COLUMNS = ("claim runs first", "reference runs first")
FACES = {"right": canvas.BLUE, "wrong": canvas.ORANGE}
INKS = {"right": "white", "wrong": canvas.INK}
NO_ANSWER = ("#E4E4E4", canvas.INK)


def draw(record: Record) -> Figure | None:
    """Return the grid; None without an ablation, or where no answer is wrong."""
    rows = ablation_table(record)[: canvas.MOST_LINES]
    answers = [answer for row in rows for answer in (row.claim_first, row.reference_first)]
    if len(rows) < 2 or "wrong" not in answers:
        return None
    with canvas.style():
        sheet = canvas.sheet(7.0, 1.0 + 0.55 * len(rows))
        axis = sheet.subplots()
        _grid(axis, [_words(record, row) for row in rows])
        png = canvas.png(sheet)
    alt = message("ablation.alt", rows=joined("semicolon", map(_in_words, rows)))
    return Figure(name=NAME, alt=alt, caption=message("ablation.caption"), png=png)


def _grid(axis: Axes, rows: list[tuple[str, str, str]]) -> None:
    for height, (_, *answers) in enumerate(rows):
        for place, words in enumerate(answers):
            answer = words.partition(",")[0]
            face, ink = FACES.get(answer, NO_ANSWER[0]), INKS.get(answer, NO_ANSWER[1])
            axis.add_patch(Rectangle((place + 0.02, height + 0.06), 0.96, 0.88, facecolor=face, edgecolor="none"))
            axis.text(place + 0.5, height + 0.5, words.replace(", ", "\n"), ha="center", va="center", color=ink,
                      weight="bold", fontsize=11)  # fmt: skip
    axis.set_xlim(0, len(COLUMNS))
    axis.set_ylim(len(rows), 0)
    axis.set_xticks([0.5, 1.5], COLUMNS)
    axis.set_yticks([height + 0.5 for height in range(len(rows))], [canvas.label(row[0]) for row in rows])
    axis.xaxis.tick_top()
    axis.tick_params(length=0, labelsize=10.5)
    for spine in axis.spines.values():
        spine.set_visible(False)


def _words(record: Record, row: AblationRow) -> tuple[str, str, str]:
    return _changed(row), row.claim_first, with_difference(record, row.variant, row.reference_first)


def _changed(row: AblationRow) -> str:
    if not row.changes:
        return message("ablation.claim_itself", variant=row.variant)
    return message("ablation.only", changes=joined("and", map(Recorded, row.changes)))


def _in_words(row: AblationRow) -> str:
    answers = {"claim_first": Recorded(row.claim_first), "reference_first": Recorded(row.reference_first)}
    return message("ablation.row", changed=_changed(row), **answers)
