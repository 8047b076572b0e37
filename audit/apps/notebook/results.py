"""The sources and the results of an audit as a notebook shows them."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from audit.apps.notebook.claim import FORMATS
from audit.apps.notebook.form import AuditForm
from audit.apps.notebook.shown import Markdown, Picture, table, written
from audit.audit import Audit
from audit.claims import ClaimFolder
from audit.model import Record, sanitizer
from audit.report import compare, markdown, outcome
from audit.report import figures as drawn
from audit.report.formats import COMMENT_CHARACTERS, OPENREVIEW_CHARACTERS
from audit.report.formats import FORMATS as KNOWN
from audit.report.quantities import milliseconds, number

LADDER = "ladder.csv"
COLUMNS = ("Variant", "Role", "Technique", "Precision", "State", "Median", "Against eager fp32", "Why")
PLACES = {
    "md": ("a file beside its figures", None),
    "html": ("an attachment: one file, no network", None),
    "comment": ("a GitHub issue or pull request", COMMENT_CHARACTERS),
    "openreview": ("an OpenReview comment", OPENREVIEW_CHARACTERS),
}
"""The place that each text of the report is for, and the most characters there."""
MOST_SHOWN = 200_000
"""Characters of a source in a cell."""
UNMODIFIED = {
    "verbatim": "the published text, compiled unmodified",
    "reconstruction": "our reconstruction of the published mechanism, compiled unmodified",
}
OURS = ("ablation", "repair")


def card(record: Record) -> Markdown:
    """The verdict with its three answers and its reasons."""
    verdict, safe = record.verdict, markdown.escape
    lines = [
        f"## {safe(record.claim.statement.title)}",
        f"**Verdict: {verdict.name}**",
        safe(verdict.root_cause or ""),
    ]
    lines += [f"- **{safe(question)}**: {safe(answer or '')}" for question, answer in outcome.answers(verdict)]
    lines += [f"- {safe(reason)}" for reason in (*verdict.reasons, *verdict.missing)]
    lines.append(f"*Speaks for*: {safe(verdict.scope)}" if verdict.scope else "")
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


def source(folder: ClaimFolder) -> Markdown:
    """The claimed source with its SHA-256, as the audit compiles it."""
    claim, claimed = folder.claim, folder.claim.claimed
    if claimed is None:
        return Markdown("This folder holds no claimed kernel.")
    digest = next(one.sha256 for one in folder.audited.sources if one.file == claimed.file)
    language = "python" if claimed.file.endswith(".py") else "cuda"
    head = f"`{claimed.file}`: {UNMODIFIED[claim.source.fidelity]}. SHA-256 `{digest}`"
    return Markdown(f"{head}\n\n{_fenced(_text(folder.source_of(claimed)), language)}")


def changes(folder: ClaimFolder) -> Markdown:
    """Every ablation and repair against the claimed source: what it changes, in how many lines, and these, folded."""
    claimed = folder.claim.claimed
    if claimed is None:
        return table((), ())
    before, rows, folded = _text(folder.source_of(claimed)), [], []
    for variant in (one for one in folder.claim.variant if one.role in OURS):
        lines = _difference(before, _text(folder.source_of(variant)))
        counts = [number(sum(line[0] == sign for line in lines)) for sign in "-+"]
        rows.append((variant.file, " and ".join(variant.changes) or variant.technique, *counts))
        summary = markdown.tag(f"{variant.file} against {claimed.file}")
        shown = _fenced("\n".join(lines), "diff")
        folded.append(f"<details><summary>{summary}</summary>\n\n{shown}\n\n</details>")
    columns = ("File", "Changes against the claimed source", "Lines removed", "Lines added")
    return Markdown("\n\n".join([table(columns, rows, numeric=(2, 3)), *folded]))


def _difference(before: str, after: str) -> list[str]:
    """The lines of a unified diff, without the names of the files above them."""
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]


def _fenced(text: str, language: str) -> str:
    """A fenced block no text can end; a very long one ends with how much is left."""
    left = len(text) - MOST_SHOWN
    shown = text if left <= 0 else f"{text[:MOST_SHOWN]}\n… and {left:,} more characters in the file"
    fence = "`" * (3 + max(map(len, re.findall("`+", shown)), default=0))
    return f"{fence}{language}\n{shown.rstrip()}\n{fence}"


def _text(path: Path) -> str:
    """The source as a compiler reads it: what an editor hides is named."""
    return sanitizer.visible(path.read_text(encoding="utf-8"))
