"""One audit in one cell: a bar or plain lines while it runs, then its results, its log folded below; its sources."""

from __future__ import annotations

import difflib
import io
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from audit import claims
from audit.apps.notebook.claim import FORMATS, ClaimForm, KernelForm, finish, start, start_kernel
from audit.apps.notebook.form import OneAuditForm
from audit.apps.notebook.shown import Markdown, Picture, offer, table, written
from audit.audit import Audit
from audit.claims import ClaimFolder
from audit.model import Record, sanitizer
from audit.report import compare, content, markdown
from audit.report.figures import draw
from audit.report.formats import COMMENT_CHARACTERS, OPENREVIEW_CHARACTERS, Form
from audit.report.formats import FORMATS as KNOWN
from audit.report.messages import milliseconds, number
from audit.report.translation import translated
from audit.report.view import Report

LADDER, TIMES = "ladder.csv", "do_bench.csv"
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
    "given": "the text as it was given, compiled unmodified",
    "reconstruction": "our reconstruction of the published mechanism, compiled unmodified",
}
OURS = ("ablation", "repair")


def results(audit: Audit, form: OneAuditForm, zipped: Path) -> Iterator[Markdown | Picture]:
    """Give what was found, the most important first: the verdict, its figure, times by do_bench, what can be taken."""
    page = _page(audit.record, form.language)
    yield card(audit.record, form.language)
    yield from map(Picture, page.sections[0].figures)
    yield times(page, audit.out)
    offer(zipped, form)
    yield share(audit, form, zipped)


def card(record: Record, language: str = "en") -> Markdown:
    """The first page of the report: the claim, the verdict with its evidence, its cause, its answers, the speed."""
    page, safe = _page(record, language), markdown.escape
    shown = page.sections[0].card
    assert shown is not None  # the first section of a report has one
    lines = [
        f"### {safe(page.title)}",
        safe(page.lead),
        f"**{safe(page.sections[0].title)}: {safe(shown.name)}.** {safe(shown.headline)}",
    ]
    parts = ["\n".join(f"- {safe(text)}" for text in texts) for texts in (shown.evidence, shown.missing)]
    lines += parts if shown.decided else parts[::-1]
    lines.append("\n".join(f"- **{safe(name)}**: {safe(text)}" for name, text in shown.facts))
    return written("\n\n".join(line for line in lines if line))


def times(page: Report, out: Path) -> Markdown:
    """The table of do_bench; without times what is said in their place."""
    section = next(one for one in page.sections if one.slug == "measured")
    if not section.tables:
        return written(markdown.escape(section.paragraphs[0]))
    known = section.tables[-1]
    shown = table(known.columns, known.rows, numeric=known.numeric, file=out / TIMES)
    return Markdown(f"{written(markdown.escape(known.caption))}\n\n{shown}")


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


def figures(record: Record, language: str = "en") -> list[Picture]:
    """Every figure that the record has evidence for, but for the first, which stands under the verdict."""
    return [Picture(figure) for section in _page(record, language).sections[1:] for figure in section.figures]


def share(audit: Audit, form: OneAuditForm, zipped: Path) -> Markdown:
    """The files to take away, each with its length and where it can be pasted or attached."""
    rows = [(zipped, "", "no limit", "everything in one file")]
    for name in FORMATS:
        place, most = PLACES[name]
        path = audit.out / KNOWN[name].file(form.language)
        length = len(path.read_text(encoding="utf-8"))
        rows.append((path, f"{length:,}", "no limit" if most is None else f"{most:,}", place))
    linked = ((_link(path), *more) for path, *more in rows)
    return table(("Take it with you", "Characters", "At most", "For"), linked, numeric=(1, 2))


def _link(file: Path) -> markdown.Safe:
    near = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return markdown.Safe(f"[{markdown.escape(file.name)}](<{quote(near.as_posix())}>)")


def _page(record: Record, language: str) -> Report:
    """The report in that language, its figures drawn once for a record."""
    return translated(content.build(record, draw(record), claims.texts(record.claim)), language)


def source(folder: ClaimFolder) -> Markdown:
    """The claimed source with its SHA-256, as the audit compiles it."""
    claim, claimed = folder.claim, folder.claim.claimed
    if claimed is None:
        return Markdown("This folder holds no claimed kernel.")
    digest = next(one.sha256 for one in folder.audited.sources if one.file == claimed.file)
    language = "python" if claimed.file.endswith(".py") else "cuda"
    head = f"`{claimed.file}`: {UNMODIFIED[claim.source.fidelity]}. SHA-256 `{digest}`"
    return Markdown(f"{head}\n\n{fenced(_text(folder.source_of(claimed)), language)}")


def changes(folder: ClaimFolder) -> Markdown:
    """Every ablation and repair against the claimed source: what it changes, in how many lines, and these, folded."""
    claimed = folder.claim.claimed
    if claimed is None:
        return table((), ())
    before, rows, folded = _text(folder.source_of(claimed)).splitlines(), [], []
    for variant in (one for one in folder.claim.variant if one.role in OURS):
        after = _text(folder.source_of(variant)).splitlines()
        lines = list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]  # the names of the files
        counts = [number(sum(line[0] == sign for line in lines)) for sign in "-+"]
        rows.append((variant.file, " and ".join(variant.changes) or variant.technique, *counts))
        summary = markdown.tag(f"{variant.file} against {claimed.file}")
        shown = fenced("\n".join(lines), "diff")
        folded.append(f"<details><summary>{summary}</summary>\n\n{shown}\n\n</details>")
    columns = ("File", "Changes against the claimed source", "Lines removed", "Lines added")
    return Markdown("\n\n".join([table(columns, rows, numeric=(2, 3)), *folded]))


def fenced(text: str, language: str) -> str:
    """A fenced block; a very long one ends with how much is left."""
    left = len(text) - MOST_SHOWN
    shown = text if left <= 0 else f"{text[:MOST_SHOWN]}\n… and {left:,} more characters in the file"
    return markdown.fenced(shown, language)


def _text(path: Path) -> str:
    """The source as a compiler reads it: what an editor hides is named."""
    return sanitizer.visible(path.read_text(encoding="utf-8"))


class Log(io.StringIO):
    """All lines of an audit; each is also written to `live` as it comes, where that is not None."""

    def __init__(self, live: TextIO | None) -> None:
        super().__init__()
        self.live = live

    def write(self, text: str) -> int:
        """Keep a text, and show it where somebody reads along."""
        if self.live is not None:
            self.live.write(text)
        return super().write(text)

    def flush(self) -> None:
        """Show what `live` holds back."""
        if self.live is not None:
            self.live.flush()


def run(form: ClaimForm | KernelForm) -> Audit:
    """Run the audit, show its results in place of its lines, and end it; return it for closer looks.

    Where a person watches there is a bar; else the lines come as they are said. Raises BadInput: as `start` and
    `start_kernel`, or a file cannot be written."""
    log, cell = Log(None if form.interactive else sys.stdout), import_module("IPython.display")
    try:
        with redirect_stdout(log):
            audit = start(form) if isinstance(form, ClaimForm) else start_kernel(form)
            with_results(audit, form, log, cell)
    except BaseException:
        if form.interactive:
            cell.display(folded(log))
        raise
    return audit


def with_results(audit: Audit, form: ClaimForm | KernelForm, log: Log, cell: Any) -> None:
    """Run the stages of an audit, then show what it found first and its log last."""
    try:
        audit.run(Form(form.language, FORMATS))
        bundle = finish(audit, form)
    finally:
        audit.close()
    cell.clear_output(wait=True)
    log.live = None
    for one in (*results(audit, form, bundle), folded(log)):
        cell.display(one)


def folded(log: Log) -> Markdown:
    """Return the log as one line that opens."""
    return Markdown(f"<details><summary>Log of the audit</summary>\n\n{fenced(log.getvalue(), 'text')}\n\n</details>")
