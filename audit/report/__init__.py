"""The report stage: pure functions from a record to text, tables and figures. It runs and measures nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from audit.model import Record

if TYPE_CHECKING:
    from audit.report.formats import Form


def render(record: Record, folder: Path, form: Form | None = None) -> list[Path]:
    """Write the report and its `figures/*.png` into a folder; the same record gives the same bytes.

    Figures of an earlier report that this record does not support are removed.

    Raises:
        BadInput: a format or the language is unknown, format pdf has no browser, or the folder cannot be written.
    """
    from audit.report import content, figures, formats  # matplotlib and jinja2 would delay every command

    form = form or formats.USUAL
    wanted = [formats.FORMATS[name] for name in formats.chosen(form.names)]
    drawn = figures.draw(record)
    source = formats.Source(content.build(record, drawn), form.language, record.environment.started_utc)
    pages = {one.file(form.language): one.make(source) for one in wanted}
    return formats.write(pages, drawn, folder, stale=figures.NAMES)
