"""The claimed kernel and its one-change ablations against the two execution orders, or the questions that it failed."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from audit.judge import AblationRow, ablation_table
from audit.judge.evidence import deciding
from audit.model import Finding, Record
from audit.report import evidence
from audit.report.figures import canvas
from audit.report.messages import Recorded, headings, joined, message
from audit.report.tables import with_difference
from audit.report.view import Figure

NAME = "ablation"
MOST_QUESTIONS = 3
INHERITED = message("ablation.inherited")
"""Right with the very bits that another computation left in memory."""
PASSED, FAILED, NONE = message("outcome.pass"), message("outcome.proved"), message("answer.none")
FACES = {"right": canvas.BLUE, PASSED: canvas.BLUE, "wrong": canvas.ORANGE, FAILED: canvas.ORANGE, INHERITED: "#F6E3BF"}
INKS = {"right": "white", PASSED: "white"}
NO_ANSWER = "#E4E4E4"
COLUMN_LETTERS, ANSWER_LETTERS = 17, 20


@dataclass(frozen=True)
class Grid:
    """The columns, and for each variant what changed and its answers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def draw(record: Record) -> Figure | None:
    """Return the grid; None without an ablation, or where no answer is wrong."""
    rows = ablation_table(record)[: canvas.MOST_LINES]
    orders = any("wrong" in (row.claim_first, row.reference_first) for row in rows)
    grid = _of_orders(record, rows) if orders else _of_questions(record, rows)
    if len(rows) < 2 or not grid.columns:
        return None
    with canvas.style():
        sheet = canvas.sheet(2.3 + 1.8 * len(grid.columns), 1.0 + 0.62 * len(rows))
        _drawn(sheet.subplots(), grid)
        png = canvas.png(sheet)
    result = joined("semicolon", (_in_words(grid, *row) for row in grid.rows))
    caption = message("ablation.orders" if orders else "ablation.questions")
    return Figure(name=NAME, alt=message("ablation.alt", rows=result), caption=caption, png=png)


def _of_orders(record: Record, rows: list[AblationRow]) -> Grid:
    """Return the answers in both execution orders."""
    found = []
    for row in rows:
        same = with_difference(record, row.variant, row.reference_first) != row.reference_first
        found.append((_changed(row), (Recorded(row.claim_first), INHERITED if same else Recorded(row.reference_first))))
    return Grid(headings("claim_first", "reference_first"), tuple(found))


def _of_questions(record: Record, rows: list[AblationRow]) -> Grid:
    """Return how each variant came out in the questions that the claimed kernel failed."""
    about = {row.variant: deciding(one for one in record.findings if one.target == row.variant) for row in rows}
    claimed = about.get(evidence.claimed_name(record) or "", [])
    failed = dict.fromkeys(one.probe for one in claimed if one.fails_kernel or one.grade == "undefined")
    asked = tuple(failed)[:MOST_QUESTIONS]
    found = ((_changed(row), tuple(_answer(about[row.variant], probe) for probe in asked)) for row in rows)
    return Grid(tuple(map(evidence.title, asked)), tuple(found))


def _answer(findings: list[Finding], probe: str) -> str:
    outcomes = [one.outcome for one in findings if one.probe == probe]
    return FAILED if "fail" in outcomes else PASSED if "pass" in outcomes else NONE


def _drawn(axis: Axes, grid: Grid) -> None:
    for height, (_, answers) in enumerate(grid.rows):
        for place, words in enumerate(answers):
            corner, face = (place + 0.02, height + 0.06), FACES.get(words, NO_ANSWER)
            hatch = "//" if words == INHERITED else None
            axis.add_patch(Rectangle(corner, 0.96, 0.88, facecolor=face, edgecolor=canvas.ORANGE, hatch=hatch, lw=0))
            axis.text(place + 0.5, height + 0.5, fill(words, ANSWER_LETTERS), ha="center", va="center",
                      color=INKS.get(words, canvas.INK), weight="bold", fontsize=10)  # fmt: skip
    axis.set_xlim(0, len(grid.columns))
    axis.set_ylim(len(grid.rows), 0)
    names = [fill(canvas.label(name), COLUMN_LETTERS) for name in grid.columns]
    axis.set_xticks([place + 0.5 for place in range(len(names))], names)
    changed = [fill(canvas.label(row[0]), COLUMN_LETTERS) for row in grid.rows]
    axis.set_yticks([height + 0.5 for height in range(len(changed))], changed)
    axis.xaxis.tick_top()
    axis.tick_params(length=0, labelsize=10.5)
    for spine in axis.spines.values():
        spine.set_visible(False)


def _changed(row: AblationRow) -> str:
    if not row.changes:
        return message("ablation.claim_itself", variant=row.variant)
    return message("ablation.only", changes=joined("and", map(Recorded, row.changes)))


def _in_words(grid: Grid, changed: str, answers: tuple[str, ...]) -> str:
    pairs = zip(grid.columns, answers, strict=True)
    found = (message("form.question_answer", question=column, answer=answer) for column, answer in pairs)
    return message("form.question_answer", question=changed, answer=joined("comma", found))
