"""A linted dataset as files: Markdown, one self-contained HTML file, and the rows that stand out as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from audit.lint.datasets.answer import Answer
from audit.model.errors import BadInput
from audit.report import html, markdown, safe_csv
from audit.report.formats import FIGURES
from audit.report.view import Figure, Report

COLUMNS = ("file", "row", "which", "rule", "grade", "what for")


@dataclass(frozen=True)
class Asked:
    """The files to write; None where one is not wanted. `folder` gets all of them."""

    markdown: Path | None = None
    html: Path | None = None
    csv: Path | None = None
    folder: Path | None = None


def write(asked: Asked, report: Report, answers: Sequence[Answer], figures: Sequence[Figure]) -> list[Path]:
    """Writes what is asked for and returns the paths; Markdown has its figures in a folder beside it.

    Raises:
        BadInput: a file cannot be written.
    """
    folder = asked.folder
    texts = {asked.markdown: "md", asked.html: "html", asked.csv: "csv"}
    if folder is not None:
        texts |= {folder / "lint.md": "md", folder / "lint.html": "html", folder / "lint.csv": "csv"}
    made = {"md": lambda: markdown.render(report, figures=FIGURES), "html": lambda: html.render(report),
            "csv": lambda: rows(answers)}  # fmt: skip
    written = []
    for path, kind in texts.items():
        if path is not None:
            written.append(_written(path, made[kind]().encode("utf-8")))
            if kind == "md":
                written += [_written(path.parent / FIGURES / f"{one.name}.png", one.png) for one in figures]
    return written


def rows(answers: Sequence[Answer]) -> str:
    """Every marked row as CSV; no cell begins like a formula, since names in it are others'."""
    marks = (mark for answer in answers for mark in answer.marks)
    return safe_csv.text(COLUMNS, ((one.file, one.row, one.place, one.rule, one.grade, one.text) for one in marks))


def _written(path: Path, data: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}); choose another place") from error
    return path
