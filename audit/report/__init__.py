"""The report stage: pure functions from a record to text, tables and figures. Runs nothing, measures nothing."""

from __future__ import annotations

from pathlib import Path

from audit.errors import BadInput
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
    files = {folder / one.file(form.language): one.make(source) for one in wanted}
    pictures = folder / formats.FIGURES
    try:
        pictures.mkdir(parents=True, exist_ok=True)
        for name in figures.NAMES:
            (pictures / f"{name}.png").unlink(missing_ok=True)
        files |= {pictures / f"{figure.name}.png": figure.png for figure in drawn}
        for path, made in files.items():
            path.write_bytes(made)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written ({error.strerror}); make room, or name another folder") from error
    return list(files)
