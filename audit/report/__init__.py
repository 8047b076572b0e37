"""The report stage: pure functions from a record to text, tables and figures. Runs nothing, measures nothing."""

from __future__ import annotations

from pathlib import Path

from audit.model import Record
from audit.report import content, html, markdown

FIGURES = "figures"


def render(record: Record, folder: Path) -> list[Path]:
    """Writes `report.md`, `report.html` and `figures/*.png` into `folder`; the same record gives the same bytes.

    Figures of an earlier report that this record does not support are removed.
    """
    from audit.report import figures  # matplotlib takes half a second that other commands need not wait

    drawn = figures.draw(record)
    view = content.build(record, drawn)
    pictures = folder / FIGURES
    pictures.mkdir(parents=True, exist_ok=True)
    files = {folder / "report.md": markdown.render(view, figures=FIGURES), folder / "report.html": html.render(view)}
    for path, text in files.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    for name in figures.NAMES:
        (pictures / f"{name}.png").unlink(missing_ok=True)
    for figure in drawn:
        (pictures / f"{figure.name}.png").write_bytes(figure.png)
    return [*files, *(pictures / f"{figure.name}.png" for figure in drawn)]
