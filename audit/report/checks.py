"""Lists of checks with their answers: the soundness of the measurements, and the checklists of a review form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from audit.model import Finding, Record
from audit.report import evidence
from audit.report.messages import Recorded, headings, joined, message
from audit.report.quantities import NOT_MEASURED, count_of, number
from audit.report.view import Section, Table

HOLDS, BROKEN, DOUBTED = message("check.holds"), message("check.broken"), message("check.doubted")
OPEN = message("answer.none")
COUNTED = {HOLDS: "count.holds", BROKEN: "count.broken", DOUBTED: "count.doubted", OPEN: "count.open"}
PUBLISHED = ("order", "kernels_ran", "first_call", "late_writes", "current_stream", "untouched_process")
"""Probes of the claimed kernel on whether the time of a call can be that of its work."""
OURS = (
    "clocks",
    "timing",
    "timed_outputs",
    "same_twice",
    "l2_flush",
    "order_effect",
    "kept_by_content",
    "independent_clock",
)
"""Probes of this audit's own timings."""
CORRECTNESS = (
    *("contract", "agreement", "coverage", "inherited", "inputs_intact", "memory_access", "fresh_values", "repeat"),
    *("dead_inputs", "distributions", "precision", "alias", "layout", "nonfinite", "threads", "backend_flags"),
)
"""Probes of the claimed kernel's result."""
Row = tuple[str, str, str]


def soundness(record: Record) -> Section:
    """Return the checks of the published measurement and those of this audit's, and how many hold."""
    published, ours = _published(record), [_row(one, named=True) for one in record.findings if one.probe in OURS]
    counts = message("soundness.published_counts", answers=_counts(published))
    absent = message("soundness.no_time", absent=NOT_MEASURED, device=Recorded(record.device.name))
    own = message("soundness.ours_counts", answers=_counts(ours)) if ours else absent
    tables = [_table(message("soundness.published"), published)]
    if ours:
        tables.append(_table(message("soundness.ours"), ours))
    return Section(message("soundness.title"), "soundness", paragraphs=(counts, own), tables=tuple(tables))


def checklists(record: Record) -> Section:
    """Return the checks of the claim, of its kernel and of doing this audit again, and how many of each hold."""
    lists = (
        (message("checklists.claim"), _claim(record)),
        (message("checklists.kernel"), [_answered(record, probe) for probe in CORRECTNESS]),
        (message("checklists.again"), _again(record)),
    )
    counts = tuple(message("checklists.counts", list=name, answers=_counts(rows)) for name, rows in lists)
    tables = tuple(_table(name, rows) for name, rows in lists)
    return Section(message("checklists.title"), "checklists", paragraphs=counts, tables=tables, folded=True)


def _published(record: Record) -> list[Row]:
    claim = record.claim.statement
    timed = {one.gpu for one in claim.observation}
    count = sum(one.gpu in timed for one in claim.speedup)
    observed = count_of(count, len(claim.speedup), form="soundness.of_ratios")
    floors = [one for one in record.findings if one.probe == "floor" and one.outcome in ("pass", "fail")]
    return [
        _check("soundness.protocol", bool(claim.protocol.steps)),
        _check("soundness.kernel_times", count == len(claim.speedup), observed),
        *((message("soundness.floor", gpu=one.target), _answer(one), Recorded(one.summary)) for one in floors),
        *(_answered(record, probe) for probe in PUBLISHED),
    ]


def _claim(record: Record) -> list[Row]:
    claim = record.claim.statement
    return [
        _check("checklists.source", claim.source.fidelity == "verbatim", Recorded(claim.source.fidelity)),
        _check("checklists.flags", bool(claim.protocol.flags)),
        _check("checklists.baseline", bool(claim.baseline), Recorded(claim.baseline)),
        *(_row(one) for one in record.findings if one.probe == "task"),
    ]


def _again(record: Record) -> list[Row]:
    env, files = record.environment, record.claim.sources
    rows = [
        _check("checklists.files", bool(files), message("checklists.file_count", count=number(len(files)))),
        _check("checklists.seed", bool(env.seeds)),
        _check("checklists.compiler", bool(env.compiler)),
    ]
    proved = [one for one in evidence.of_claim(record) if one.fails_kernel and one.confirmed is not None]
    if proved:
        seen = sum(one.confirmed is True for one in proved)
        observed = count_of(seen, len(proved), form="checklists.of_failures")
        rows.append(_check("checklists.confirmed", seen == len(proved), observed))
    return rows


def _check(question: str, holds: bool, observed: str = "") -> Row:
    """Return a check that the record answers by itself."""
    return message(question), HOLDS if holds else BROKEN, observed


def _answered(record: Record, probe: str) -> Row:
    """Return a probe's answer about the claimed kernel."""
    found = evidence.find(record, probe, evidence.claimed_name(record))
    return (evidence.title(probe), OPEN, "") if found is None else _row(found)


def _row(finding: Finding, *, named: bool = False) -> Row:
    title = evidence.title(finding.probe)
    question = message("form.question_target", question=title, target=finding.target) if named else title
    return question, _answer(finding), Recorded(finding.summary)


def _answer(finding: Finding) -> str:
    """Return a finding as the answer to a check: only a proved failure breaks it."""
    if finding.outcome == "pass":
        return HOLDS
    if finding.outcome != "fail":
        return OPEN
    return BROKEN if finding.fails_kernel else DOUBTED


def _counts(rows: Iterable[Row]) -> str:
    """Return how many checks have each answer, without the answers that none has."""
    counts = Counter(answer for _, answer, _ in rows)
    return joined("comma", (message(COUNTED[one], count=str(counts[one])) for one in COUNTED if counts[one]))


def _table(caption: str, rows: Iterable[Row]) -> Table:
    return Table(caption, headings("check", "answer", "observed"), tuple(rows))
