"""The report stage: pure functions from a record to text, tables and figures. Runs nothing, measures nothing."""

from __future__ import annotations

from pathlib import Path

from audit.model import Record
from audit.report import content, formats
from audit.report.formats import USUAL, Form


def render(record: Record, folder: Path, form: Form = USUAL) -> list[Path]:
    """Writes the report in the formats wanted and `figures/*.png` into `folder`; the same record gives the same bytes.

    Figures of an earlier report that this record does not support are removed.

    Raises:
        BadInput: a format or the language is unknown, format pdf has no browser, or the folder cannot be written.
    """
    from audit.report import figures  # matplotlib takes half a second that other commands need not wait

    wanted = [formats.FORMATS[name] for name in formats.chosen(form.names)]
    drawn = figures.draw(record)
    source = formats.Source(content.build(record, drawn), form.language, record.environment.started_utc)
    pages = {one.file(form.language): one.make(source) for one in wanted}
    return formats.write(pages, drawn, folder, stale=figures.NAMES)
