"""The claimed kernel and its one-change ablations against the two execution orders, in words and in colour."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from audit.judge import AblationRow, ablation_table
from audit.model import Record
from audit.report.figures import canvas
from audit.report.said import Told, listed, say
from audit.report.summary import with_difference
from audit.report.view import Figure

NAME = "ablation"
COLUMNS = ("claim runs first", "reference runs first")
FACES = {"right": canvas.BLUE, "wrong": canvas.ORANGE}
INKS = {"right": "white", "wrong": canvas.INK}
NO_ANSWER = ("#E4E4E4", canvas.INK)


def draw(record: Record) -> Figure | None:
    """None without an ablation, before any order has been tried, or where the orders tell nothing: all are right."""
    rows = ablation_table(record)
    answers = [answer for row in rows for answer in (row.claim_first, row.reference_first)]
    if len(rows) < 2 or "wrong" not in answers:
        return None
    with canvas.style():
        sheet = canvas.sheet(7.0, 1.0 + 0.55 * len(rows))
        axis = sheet.subplots()
        _grid(axis, [_words(record, row) for row in rows])
        png = canvas.png(sheet)
    text = "Grid of the claimed kernel and its one-change ablations in both execution orders. {rows}."
    alt = say(text, rows=listed("; ", map(_told, rows)))
    caption = say(
        "One change at a time, each in both execution orders. Right in both columns is what a right kernel shows."
    )
    return Figure(name=NAME, alt=alt, caption=caption, png=png)


def _grid(axis: Axes, rows: list[tuple[str, str, str]]) -> None:
    for height, (_, *answers) in enumerate(rows):
        for place, words in enumerate(answers):
            answer = words.partition(",")[0]
            face, ink = FACES.get(answer, NO_ANSWER[0]), INKS.get(answer, NO_ANSWER[1])
            axis.add_patch(Rectangle((place + 0.02, height + 0.06), 0.96, 0.88, facecolor=face, edgecolor="none"))
            axis.text(
                place + 0.5,
                height + 0.5,
                words.replace(", ", "\n"),
                ha="center",
                va="center",
                color=ink,
                weight="bold",
                fontsize=11,
            )
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
        return say("{variant} (nothing changed)", variant=row.variant)
    return say("only {changes}", changes=listed(" and ", map(Told, row.changes)))


def _told(row: AblationRow) -> str:
    text = "{changed}: {claim_first} claim first, {reference_first} reference first"
    answers = {"claim_first": Told(row.claim_first), "reference_first": Told(row.reference_first)}
    return say(text, changed=_changed(row), **answers)
