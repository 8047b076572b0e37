"""What an audit found, as a notebook shows it: verdict, ladder, figures, texts to share."""

from __future__ import annotations

from pathlib import Path

from audit.apps.notebook.claim import FORMATS
from audit.apps.notebook.form import AuditForm
from audit.apps.notebook.shown import Markdown, Picture, table, written
from audit.audit import Audit
from audit.model import Record
from audit.report import compare, markdown, outcome
from audit.report import figures as drawn
from audit.report.formats import COMMENT_CHARACTERS, OPENREVIEW_CHARACTERS
from audit.report.formats import FORMATS as KNOWN
from audit.report.quantities import milliseconds

LADDER = "ladder.csv"
COLUMNS = ("Variant", "Role", "Technique", "Precision", "State", "Median", "Against eager fp32", "Why")
PLACES = {
    "md": ("a file beside its figures", None),
    "html": ("an attachment: one file, no network", None),
    "comment": ("a GitHub issue or pull request", COMMENT_CHARACTERS),
    "openreview": ("an OpenReview comment", OPENREVIEW_CHARACTERS),
}
"""Where each text of the report goes, and the characters it may have there."""


def card(record: Record) -> Markdown:
    """The verdict with its three answers and its reasons."""
    verdict, told = record.verdict, markdown.escape
    lines = [f"## {told(record.claim.statement.title)}", f"**Verdict: {verdict.name}**", told(verdict.root_cause or "")]
    lines += [f"- **{told(question)}**: {told(answer or '')}" for question, answer in outcome.answers(verdict)]
    lines += [f"- {told(reason)}" for reason in (*verdict.reasons, *verdict.missing)]
    lines.append(f"*Speaks for*: {told(verdict.scope)}" if verdict.scope else "")
    return written("\n\n".join(line for line in lines if line))


def ladder(record: Record, out: Path) -> Markdown:
    """Every variant's place, with its ratio to eager beside its time; what nobody measured reads NOT MEASURED."""
    rows = (
        (
            *(rung.variant, rung.role, rung.technique, rung.precision, rung.state),
            *(milliseconds(rung.median_ms), compare.measured(record, rung.variant), rung.reason),
        )
        for rung in record.ladder
    )
    return table(COLUMNS, rows, numeric=(5, 6), file=out / LADDER)


def figures(record: Record) -> list[Picture]:
    """Every figure the record has evidence for."""
    return [Picture(figure) for figure in drawn.draw(record)]


def share(audit: Audit, form: AuditForm) -> Markdown:
    """The texts that were written, each with its length and where it can be pasted or attached."""
    rows = []
    for name in FORMATS:
        place, most = PLACES[name]
        path = audit.out / KNOWN[name].file(form.language)
        length = len(path.read_text(encoding="utf-8"))
        rows.append((str(path), f"{length:,}", "no limit" if most is None else f"{most:,}", place))
    return table(("File", "Characters", "At most", "For"), rows, numeric=(1, 2))
