"""The report stage: pure functions from a record to text, tables and figures. It runs and measures nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from audit import claims
from audit.model import Record

if TYPE_CHECKING:
    from audit.report.formats import Form, Format
    from audit.report.view import Figure


def render(record: Record, folder: Path, form: Form | None = None, *, claim: Path | None = None) -> list[Path]:
    """Write the report and its `figures/*.png` into a folder; the same record and sources give the same bytes.

    Lines that a change touches are shown from the folder of the claim; None looks for it among those of this kit.
    Figures of an earlier report that this record does not support are removed. Raises BadInput: a format or a language
    is unknown, format pdf has no browser, or the folder cannot be written.
    """
    from audit.report import figures, formats  # jinja2 would delay every command

    form = form or formats.USUAL
    wanted = [formats.FORMATS[name] for name in formats.chosen(form.names)]
    shown = figures.draw(record)
    files = pages(record, shown, {one.file(form.language): (one, form.language) for one in wanted},
                  claims.texts(record.claim, claim))  # fmt: skip
    return formats.write(files, shown, folder, stale=figures.NAMES)


def pages(
    record: Record, shown: Iterable[Figure], wanted: Mapping[str, tuple[Format, str]], sources: Mapping[str, str]
) -> dict[str, bytes]:
    """Return the pages of a judged record by the names of their files, from its figures, the format and the language
    wanted of each, and texts of the audited claim by their files, as far as they are at hand."""
    from audit.report import content

    view = content.build(record, shown, sources)
    return {file: one.make(view, language) for file, (one, language) in wanted.items()}
