"""The cause: the line of the source and the probe that agrees with it, and the one change that makes a kernel right."""

from __future__ import annotations

from collections.abc import Mapping

from audit.judge import AblationRow, ablation_table
from audit.judge.causes import read_in_source
from audit.judge.ladder import rungs
from audit.model import Record, Rung
from audit.model.generated import FOLDER
from audit.report import changed_lines, evidence, sizes
from audit.report.messages import Recorded, headings, joined, message
from audit.report.quantities import NONE, number, sentence
from audit.report.tables import with_difference
from audit.report.view import Code, Figure, Section, Table


def section(record: Record, figures: tuple[Figure, ...], sources: Mapping[str, str]) -> Section:
    """Return the root cause, the lines that show it, and the claimed kernel beside its one-change ablations, with each
    change that the audit generated and the lines of each change; `sources` are texts of the claim by their files."""
    ablated = ablation_table(record)
    rows = tuple(
        (
            Code(row.variant),
            joined("comma", map(Recorded, row.changes)) if row.changes else message("ablation.no_change"),
            Recorded(row.claim_first),
            with_difference(record, row.variant, Recorded(row.reference_first)),
            _failed(record, row),
        )
        for row in (ablated if ablated and not ablated[0].right else ())
    )
    columns = headings("variant", "changes", "claim_first", "reference_first", "failed")
    tables = (Table(message("ablation.table"), columns, rows),) if len(rows) > 1 else ()
    read = (*lines(record), *generated(record))
    result = record.verdict.root_cause
    cause = Recorded(result) if result else message("cause.none")
    paragraphs = (() if tables or read else (cause,)) + (() if tables else (message("ablation.none"),))
    changed = (*changed_lines.of_claim(record, sources), *changed_lines.of_generated(record))
    return Section(message("cause.title"), "cause", paragraphs=paragraphs, bullets=read, tables=tables,
                   figures=figures, commands=changed_lines.commands(record, sources),
                   blocks=tuple(one for one in changed if changed_lines.is_short(one)),
                   logs=tuple(one for one in changed if not changed_lines.is_short(one)))  # fmt: skip


def _failed(record: Record, row: AblationRow) -> str:
    """Return the questions that a variant failed; those without an answer leave it undecided."""
    if row.right:
        return NONE
    failed = evidence.failed_questions(record, row.variant)
    return joined("comma", map(evidence.title, failed)) if failed else message("state.undecided")


def lines(record: Record) -> tuple[str, ...]:
    """Return what stands on a line of the source and agrees with a failure that was proved, or with the sizes."""
    claimed = record.claim.statement.claimed
    if claimed is None:
        return ()
    file = record.claim.statement.known_as(claimed)
    shown = [
        message("cause.line", file=file, line=number(hint.line or 0),
                hint=Recorded(hint.summary), question=evidence.title(failure.probe))
        for hint, failure in read_in_source(record)
    ]  # fmt: skip
    if (rule := sizes.rule(record)) is not None:
        line, where = rule
        shown.append(message("cause.sizes", file=file, line=number(line), summary=sentence(where)))
    return tuple(shown)


def generated(record: Record) -> tuple[str, ...]:
    """Return what came of each change that the audit generated, built and asked about."""
    states = rungs([one.variant for one in record.generated], record.findings)
    claim = record.claim.statement
    return tuple(
        message("cause.generated", file=f"{FOLDER}/{one.variant.file}",
                claimed=claim.known_as(claim.claimed) if claim.claimed else "",
                change=Recorded(one.change.what), result=_result(rung))
        for one, rung in zip(record.generated, states, strict=True)
    )  # fmt: skip


def _result(rung: Rung) -> str:
    if rung.state == "undecided":
        return message("cause.generated_open", why=Recorded(rung.reason))
    known = {
        "passed": "cause.generated_right",
        "failed": "cause.generated_wrong",
        "undefined": "cause.generated_undefined",
    }
    return message(known[rung.state])
