"""The claimed kernel and its one-change ablations against the two execution orders, or the questions that it failed."""

from __future__ import annotations

from dataclasses import dataclass

from audit.judge import AblationRow, ablation_table
from audit.judge.evidence import deciding_about
from audit.model import Record
from audit.report import evidence
from audit.report.drawing import SMALL, WIDE, Box, Paint, Part, Words
from audit.report.figures import raster
from audit.report.messages import Recorded, headings, joined, message
from audit.report.tables import with_difference
from audit.report.view import Figure

NAME = "ablation"
MOST_QUESTIONS = 3
INHERITED = message("ablation.inherited")
"""Right with the very bits that another computation left in memory."""
PASSED, FAILED, HINT = message("outcome.pass"), message("outcome.proved"), message("outcome.hint")
NONE = message("answer.none")
RIGHT, WRONG = message("order.right"), message("order.wrong")
FACES: dict[str, tuple[Paint, Paint]] = {
    **dict.fromkeys((RIGHT, PASSED), ("cool", "on-cool")),
    **dict.fromkeys((WRONG, FAILED), ("warm", "on-warm")),
    INHERITED: ("pale", "text"),
}
OTHER: tuple[Paint, Paint] = ("quiet", "text")
HEAD, LEFT, ROW = 54, 120, 58


@dataclass(frozen=True)
class Grid:
    """The columns, and for each variant what changed and its answers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def draw(record: Record) -> Figure | None:
    """Return the grid; None without an ablation, or where no answer is wrong."""
    rows = ablation_table(record)[: raster.MOST_LINES]
    orders = any("wrong" in (row.claim_first, row.reference_first) for row in rows)
    grid = _of_orders(record, rows) if orders else _of_questions(record, rows)
    if len(rows) < 2 or not grid.columns:
        return None
    result = joined("semicolon", (_in_words(grid, *row) for row in grid.rows))
    caption = message("ablation.orders" if orders else "ablation.questions")
    alt = message("ablation.alt", rows=result)
    return raster.figure(NAME, HEAD + len(grid.rows) * ROW, _drawn(grid), alt=alt, caption=caption)


def _of_orders(record: Record, rows: list[AblationRow]) -> Grid:
    found = []
    for row in rows:
        same = with_difference(record, row.variant, row.reference_first) != row.reference_first
        found.append((_changed(row), (Recorded(row.claim_first), INHERITED if same else Recorded(row.reference_first))))
    return Grid(headings("claim_first", "reference_first"), tuple(found))


def _of_questions(record: Record, rows: list[AblationRow]) -> Grid:
    """Return how each variant came out in the questions that the claimed kernel failed."""
    asked = evidence.failed_questions(record, record.claimed_name)[:MOST_QUESTIONS]
    found = ((_changed(row), tuple(_answer(record, row.variant, probe) for probe in asked)) for row in rows)
    return Grid(tuple(map(evidence.title, asked)), tuple(found))


def _answer(record: Record, variant: str, probe: str) -> str:
    """Return the answer; what fails no variant in the table beside it is a hint here too."""
    outcomes = [one.outcome for one in deciding_about(record.findings, variant) if one.probe == probe]
    if "fail" in outcomes:
        return FAILED if probe in evidence.failed_questions(record, variant) else HINT
    return PASSED if "pass" in outcomes else NONE


def _drawn(grid: Grid) -> list[Part]:
    """Return the grid with a heading over each column and what changed left of each row."""
    wide = (WIDE - LEFT) / len(grid.columns)
    parts: list[Part] = [
        Words(LEFT + (place + 0.5) * wide, HEAD / 2, name, anchor="middle", wide=wide - 8, most=3, bold=True)
        for place, name in enumerate(grid.columns)
    ]
    for line, (changed, answers) in enumerate(grid.rows):
        top = HEAD + line * ROW
        parts.append(Words(0, top + ROW / 2, changed, wide=LEFT - 8, most=3))
        for place, words in enumerate(answers):
            left, (face, ink) = LEFT + place * wide, FACES.get(words, OTHER)
            dashed = words == INHERITED
            parts.append(Box(left + 2, top + 3, wide - 4, ROW - 6, face, "warm" if dashed else "none", dashed))
            place_of = {"x": left + wide / 2, "y": top + ROW / 2, "wide": wide - 12}
            parts.append(Words(text=words, paint=ink, size=SMALL, anchor="middle", most=3, bold=True, **place_of))
    return parts


def _changed(row: AblationRow) -> str:
    if not row.changes:
        return message("ablation.claim_itself", variant=row.variant)
    return message("ablation.only", changes=joined("and", map(Recorded, row.changes)))


def _in_words(grid: Grid, changed: str, answers: tuple[str, ...]) -> str:
    pairs = zip(grid.columns, answers, strict=True)
    found = (message("form.question_answer", question=column, answer=answer) for column, answer in pairs)
    return message("form.question_answer", question=changed, answer=joined("comma", found))
