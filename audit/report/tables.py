"""Tables: the claim as stated, what was checked and how it came out, every variant, and claimed times against floors.

What was checked has one row a question about the claimed kernel, its task and its times.
"""

from __future__ import annotations

from itertools import groupby

from audit.claims.importers.writer import NOT_STATED
from audit.judge.causes import labelled, shape_of
from audit.judge.evidence import deciding
from audit.model import Claim, Finding, Observation, Record, Rung, Shape, Speedup
from audit.report import evidence
from audit.report.messages import (
    NONE,
    NOT_PUBLISHED,
    UNKNOWN,
    Message,
    Recorded,
    count_of,
    headings,
    joined,
    message,
    milliseconds,
    number,
    ratio,
    sentence,
    shape,
)
from audit.report.view import Code, Figure, Link, Section, Table


def lead(record: Record) -> str:
    """Return the claim in one line."""
    claim = record.claim.statement
    ratios = [
        message("form.ratio_on_gpu", gpu=one.gpu, ratio=ratio(one.ratio, about=one.about)) for one in claim.ratios
    ]
    dtype = () if claim.dtype in claim.baseline else (claim.dtype,)
    who = dict.fromkeys(one.by or claim.source.authors for one in claim.ratios) or (claim.source.authors,)
    return message(
        "claim.lead" if ratios else "claim.lead_given" if claim.source.fidelity == "given" else "claim.lead_without",
        authors=joined("comma", (message("claim.unnamed") if one == NOT_STATED else Recorded(one) for one in who)),
        audited=message(f"claim.{claim.source.fidelity}"),
        **({"ratios": joined("comma", ratios)} if ratios else {}),
        baseline=Recorded(claim.baseline),
        shape=joined("comma", (shape(claim.shapes.claimed), *dtype)),
    )


def claimed(record: Record) -> Section:
    """Return what is claimed, where, against what and how it was evaluated."""
    claim, source = record.claim.statement, record.claim.statement.source
    fidelity, note = Recorded(source.fidelity), sentence(source.note)
    facts: list[tuple[str, str]] = [
        (message("claim.task"), Recorded(claim.task)),
        (message("claim.source"), message("claim.published_by", authors=source.authors, title=Recorded(source.title),
                                          published=source.published)),
        (message("claim.address"), Link(source.url)),
        (message("claim.kernel"), message("form.fidelity_note", fidelity=fidelity, note=note)),
        (message("claim.baseline"), Recorded(claim.baseline)),
        (message("claim.shape"), joined("comma", (shape(claim.shapes.claimed), claim.dtype))),
    ]  # fmt: skip
    if claim.protocol.flags:
        facts.append((message("claim.flags"), Code(" ".join(claim.protocol.flags))))
    steps = enumerate(claim.protocol.steps, 1)
    bullets = tuple(message("claim.step", number=str(number), step=Recorded(step)) for number, step in steps)
    return Section(message("claim.title"), "claim", facts=tuple(facts), bullets=bullets, tables=_ratios(claim),
                   folded=True)  # fmt: skip


def _ratios(claim: Claim) -> tuple[Table, ...]:
    """Return every number with who states it and where; nothing where no number is published. Those of another shape
    than the claimed one name it beside their GPU."""
    stated = {one.gpu: one for one in claim.ratios}
    seen = {one.gpu: one for one in claim.observation}
    rows = []
    for gpu in dict.fromkeys((*stated, *seen)):
        one, other = stated.get(gpu), seen.get(gpu)
        times = (other.kernel_ms, other.baseline_ms) if other else (None, None)
        rows.append(
            (
                *(gpu, ratio(one.ratio, about=one.about) if one else NONE, _by(claim, one)),
                *(milliseconds(time, absent=NOT_PUBLISHED) for time in times),
                _by(claim, other),
            )
        )
    for one in claim.other_ratios:
        named = joined("comma", (one.gpu, shape(one.shape or {})))
        about = ratio(one.ratio, about=one.about)
        rows.append((named, about, _by(claim, one), NOT_PUBLISHED, NOT_PUBLISHED, message("word.nobody")))
    columns = headings("gpu", "claimed_ratio", "ratio_stated_by", "kernel_time_reported", "baseline_time_reported",
                       "times_reported_by")  # fmt: skip
    return (Table(message("claim.table"), columns, tuple(rows), frozenset({1, 3, 4})),) if rows else ()


def _by(claim: Claim, number: Speedup | Observation | None) -> str:
    if number is None:
        return message("word.nobody")
    who = Recorded(number.by or claim.source.authors)
    where = (number.url,) if number.url and number.url != claim.source.url else ()
    note = (Recorded(number.note),) if isinstance(number, Observation) and number.note else ()
    return joined("semicolon", (who, *where, *note)) if where or note else who


FLOORS = ("compute_floor_ms", "memory_floor_ms", "matrix_unit_floor_ms")


def variants(record: Record, figures: tuple[Figure, ...]) -> Section:
    """Return one row a variant: both orders, coverage, state and time."""
    rows = tuple(
        (
            *(Code(one.name), Recorded(one.role), Recorded(one.technique), one.precision),
            *_orders(record, one.name),
            coverage(record, one.name),
            *(state(rung), milliseconds(rung.median_ms if rung else None)),
        )
        for one in record.claim.statement.variant
        for rung in [record.rung(one.name)]
    )
    columns = headings("variant", "role", "technique", "precision", "claim_first", "reference_first", "coverage",
                       "state", "time")  # fmt: skip
    table = Table(message("variants.table"), columns, rows, frozenset({8}))
    return Section(message("variants.title"), "variants", tables=(table,), figures=figures, folded=True)


def floors(record: Record, figures: tuple[Figure, ...]) -> Section:
    """Return the floors of every GPU the claim names, the reported time, and the baseline that a bare ratio needs."""
    rows = tuple(_floor(record, finding) for finding in record.findings if finding.probe == "floor")
    columns = headings("gpu", "claimed_ratio", "compute_floor", "memory_floor", "matrix_unit_floor", "reported_time",
                       "baseline_needed", "reading")  # fmt: skip
    title = message("floors.title")
    table = Table(title, columns, rows, frozenset(range(1, 7)))
    text = message("floors.introduction" if rows else "floors.none")
    tables = (table,) if rows else ()
    return Section(title, "floors", paragraphs=(text,), tables=tables, figures=figures, folded=True)


def coverage(record: Record, variant: str) -> str:
    """Return how much of the output is written, in rows where whole rows are missing."""
    found = evidence.find(record, "coverage", variant)
    elements, written = evidence.real(found, "elements"), evidence.real(found, "elements_written")
    if elements is None or written is None:
        return _no_answer(found)
    if written == elements:
        return message("coverage.all", count=number(elements))
    rows = in_rows(found)
    return count_of(*rows, form="coverage.rows") if rows else count_of(written, elements, form="coverage.elements")


def in_rows(found: Finding | None) -> tuple[float, float] | None:
    """Return how many rows are written, of how many; None where no row of several is missing, or of several outputs."""
    rows, written = evidence.real(found, "rows"), evidence.real(found, "rows_written")
    if rows is None or written is None or rows in (1, written) or (found and "output" in found.evidence):
        return None
    return written, rows


def with_difference(record: Record, variant: str, answer: str) -> str:
    """Return the answer of reference first; where the order fails, whether the result is the reference's bit for bit.

    A variant that is right in both orders may equal the reference too, by summing in the same order.
    """
    found = evidence.find(record, "order", variant)
    side = found.evidence.get("reference_first") if found and found.outcome == "fail" else None
    same = isinstance(side, dict) and side.get("difference_zero") is True
    return message("order.difference_zero", answer=answer) if same and answer == "right" else answer


def _orders(record: Record, variant: str) -> tuple[str, str]:
    found = evidence.find(record, "order", variant)
    late = _side(found, "reference_first")
    return _side(found, "claim_first"), with_difference(record, variant, late)


def _side(found: Finding | None, key: str) -> str:
    side = found.evidence.get(key) if found else None
    if not isinstance(side, dict) or not isinstance(side.get("right"), bool):
        return _no_answer(found)
    return message("order.right" if side["right"] else "order.wrong")


def _no_answer(found: Finding | None) -> Message:
    if found is None or found.outcome in ("pass", "fail"):
        return message("answer.none")
    return message("answer.none_because", outcome=Recorded(found.outcome))


def state(rung: Rung | None) -> str:
    """Return the state of a variant in the words of tests."""
    return message("state.not_judged" if rung is None else f"state.{rung.state}")


def _floor(record: Record, finding: Finding) -> tuple[str, ...]:
    lows = [milliseconds(evidence.real(finding, key), absent=UNKNOWN) for key in FLOORS]
    reported = milliseconds(evidence.real(finding, "reported_kernel_ms"), absent=NOT_PUBLISHED)
    needed = milliseconds(evidence.real(finding, "baseline_needed_ms"), absent=UNKNOWN)
    known = "ratio_only" if evidence.real(finding, "floor_ms") is not None else "unknown"
    reading = message(f"floors.{known if finding.outcome == 'skip' else finding.outcome}")
    return finding.target, evidence.claimed_ratio(record, finding.target), *lows, reported, needed, reading


HINTS = "hints"
"""The key of the evidence that a hint of the source review has."""
RESULTS = ("proved", "undefined", "hint", "pass", "open")
"""The results of a question, in the order of the table."""


def checked(record: Record) -> Section:
    """Return the questions with an answer, gravest first, then those without one by the reason for that."""
    asked = sorted(_deciding(record), key=lambda one: _grave(record, one))
    rows = [_row(record, one) for one in asked if _result(one) != "open"]
    left = sorted((one for one in asked if _result(one) == "open"), key=_why)
    rows += [_unanswered(why, list(found)) for why, found in groupby(left, _why)]
    device = record.device
    caption = (
        message("checked.table_gpu", device=Recorded(device.name))
        if device.kind == "cuda"
        else message("checked.table")
    )
    table = Table(caption, headings("question", "outcome", "observed", "device"), tuple(rows))
    paragraphs = () if rows else (message("checked.none"),)
    return Section(message("checked.title"), "checked", paragraphs=paragraphs, tables=(table,) if rows else ())


def _kinds(record: Record, finding: Finding) -> str:
    """Return the kinds of device on which a question came out so; empty where nothing had to run."""
    alike = [one for one in record.findings if (one.probe, one.target, one.outcome, one.grade)
             == (finding.probe, finding.target, finding.outcome, finding.grade)]  # fmt: skip
    kinds = dict.fromkeys(one.device for one in (finding, *alike) if one.device)
    return joined("comma", (message(f"device.{kind}") for kind in kinds))


def apart(finding: Finding) -> tuple[str, Shape | None]:
    """Return the sentence of a finding without the shape that it begins with, and the shape that it speaks of."""
    sizes, left = labelled(finding.summary)
    return (left.removeprefix(": "), sizes) if sizes else (left, shape_of(finding))


def _deciding(record: Record) -> list[Finding]:
    """Return the last deciding answer to each question about the claimed kernel, the task and the published times.

    Hints of the source review stand under the cause and the weaknesses, and a bare ratio asks nothing of a floor.
    """
    task = deciding(one for one in record.findings if one.probe == "task")
    about = [*evidence.of_claim(record), *task]
    shown = [one for one in about if HINTS not in one.evidence and (one.probe, one.outcome) != ("floor", "skip")]
    return list({(one.probe, one.target, _result(one)): one for one in shown}.values())


def _grave(record: Record, finding: Finding) -> tuple[bool, int]:
    """Return the place of an answer in the table: failures of the claim come first."""
    result = _result(finding)
    aside = result in ("proved", "undefined") and not evidence.against_claim(record, finding)
    return aside or RESULTS.index(result) > 1, RESULTS.index(result)


def _result(finding: Finding) -> str:
    return finding.grade or ("pass" if finding.outcome == "pass" else "open")


def _row(record: Record, finding: Finding) -> tuple[str, ...]:
    title: str = evidence.title(finding.probe)
    if finding.probe == "floor":
        title = message("form.question_target", question=title, target=finding.target)
    return title, result_of(record, finding), Recorded(finding.summary), _kinds(record, finding)


def result_of(record: Record, finding: Finding) -> Message:
    """Return "passed", "failed" or "hint"; a failure outside the claim, or at a time of others, says so."""
    result = message(f"outcome.{_result(finding)}")
    if finding.outcome != "fail" or evidence.against_claim(record, finding):
        return result
    return message("outcome.of_others" if finding.probe == "floor" else "outcome.not_claimed", outcome=result)


def _why(finding: Finding) -> str:
    """Return why there is no answer, without the shape that stands inside the sentence."""
    first, _, left = finding.summary.partition(": ")
    sizes, left = labelled(left)
    return f"{first}{left}" if sizes else finding.summary


def _unanswered(why: str, found: list[Finding]) -> tuple[str, ...]:
    titles = joined("comma", (evidence.title(one.probe) for one in found))
    return titles, message("answer.none"), Recorded(why), ""
