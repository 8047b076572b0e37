"""What an audit found, as a notebook shows it: verdict, ladder, figures, texts to share."""

from __future__ import annotations

import pandas as pd

from audit.model import Record
from audit.notebook.claim import FORMATS
from audit.notebook.form import AuditForm
from audit.notebook.shown import Markdown, Picture
from audit.pipeline import Audit
from audit.report import figures as drawn
from audit.report.formats import COMMENT_CHARACTERS, OPENREVIEW_CHARACTERS
from audit.report.formats import FORMATS as KNOWN
from audit.report.quantities import NOT_MEASURED, number

PLACES = {
    "md": ("a file beside its figures", None),
    "html": ("an attachment: one file, no network", None),
    "comment": ("a GitHub issue or pull request", COMMENT_CHARACTERS),
    "openreview": ("an OpenReview comment", OPENREVIEW_CHARACTERS),
}
"""Where each text of the report goes, and the characters it may have there."""


def card(record: Record) -> Markdown:
    """The verdict with its reasons."""
    verdict = record.verdict
    lines = [f"## {record.claim.statement.title}", f"**Verdict: {verdict.name}**", verdict.root_cause or ""]
    lines += [f"- {reason}" for reason in (*verdict.reasons, *verdict.missing)]
    lines.append(f"*Speaks for*: {verdict.scope}" if verdict.scope else "")
    return Markdown("\n\n".join(line for line in lines if line))


def ladder(record: Record) -> pd.DataFrame:
    """Every variant's place; a time nobody measured reads NOT MEASURED."""
    rows = [rung.model_dump() for rung in record.ladder]
    table = pd.DataFrame(rows).set_index("variant")
    table["median_ms"] = [NOT_MEASURED if row["median_ms"] is None else number(row["median_ms"]) for row in rows]
    return table[["role", "technique", "precision", "state", "median_ms", "reason"]]


def figures(record: Record) -> list[Picture]:
    """Every figure the record has evidence for."""
    return [Picture(figure) for figure in drawn.draw(record)]


def share(audit: Audit, form: AuditForm) -> pd.DataFrame:
    """The texts that were written, each with its length and where it can be pasted or attached."""
    rows = []
    for name in FORMATS:
        place, most = PLACES[name]
        path = audit.out / KNOWN[name].file(form.language)
        length = len(path.read_text(encoding="utf-8"))
        rows.append((str(path), f"{length:,}", "no limit" if most is None else f"{most:,}", place))
    return pd.DataFrame(rows, columns=["file", "characters", "at most", "for"]).set_index("file")
