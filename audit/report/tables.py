"""The ablation table, the inputs one by one, claimed times against the floors, and every finding."""

from __future__ import annotations

from pydantic import JsonValue

from audit.judge import ablation_table
from audit.model import Finding, Record
from audit.report import evidence
from audit.report.quantities import NOT_PUBLISHED, UNKNOWN, anything, milliseconds
from audit.report.said import Told, listed, say
from audit.report.summary import with_difference
from audit.report.view import Code, Figure, Section, Table

READINGS = {
    "pass": say("at or over the floor"),
    "fail": say("under the floor"),
    "error": say("no floor: error"),
}


def ablation(record: Record, figures: tuple[Figure, ...]) -> Section:
    """The claimed kernel and its one-change ablations, in both orders."""
    rows = tuple(
        (
            Code(row.variant),
            listed(", ", map(Told, row.changes)) if row.changes else say("nothing (the claim)"),
            Told(row.claim_first),
            with_difference(record, row.variant, Told(row.reference_first)),
            say("yes") if row.right else say("no"),
        )
        for row in ablation_table(record)
    )
    columns = (say("Variant"), say("Changed against the claim"), say("Claim first"), say("Reference first"),
               say("Passed every probe"))  # fmt: skip
    cause = (Told(record.verdict.root_cause),) if record.verdict.root_cause else ()
    table = Table(say("The claimed kernel and variants that change one thing"), columns, rows)
    title = say("Ablation: which single change matters")
    if len(rows) < 2:
        none = say("No variant of this claim changes one thing alone.")
        return Section(title, "ablation", paragraphs=(none,), figures=figures)
    return Section(title, "ablation", paragraphs=cause, tables=(table,), figures=figures)


def inputs(record: Record) -> Section:
    """Each input and parameter of the task: its other values, and whether the claimed result followed them."""
    found = evidence.find(record, "dead_inputs", evidence.claimed_name(record))
    listed_ones = found.evidence.get("inputs") if found else None
    entries = [one for one in listed_ones if isinstance(one, dict)] if isinstance(listed_ones, list) else []
    rows = tuple(_input(entry) for entry in entries)
    columns = (say("Input"), say("Changed to"), say("Elements of the right result that move"),
               say("Of these unchanged in the claimed result"), say("Reading"))  # fmt: skip
    title = say("Inputs, and whether the result follows them")
    text = say("Each input alone had other values; an input that moves no element of the right result is untested.")
    none = say("No input was changed alone in this audit.")
    table = Table(say("Each input changed alone"), columns, rows, frozenset({2, 3}))
    return Section(title, "inputs", paragraphs=(text if rows else none,), tables=(table,) if rows else ())


def floors(record: Record, figures: tuple[Figure, ...]) -> Section:
    """Every GPU the claim names: three floors, the reported time, and what a bare ratio asks of the baseline."""
    rows = tuple(_floor(record, finding) for finding in record.findings if finding.probe == "floor")
    columns = (say("GPU"), say("Claimed ratio"), say("Compute floor, fp32"), say("Memory floor"),
               say("Matrix-unit floor"), say("Reported kernel time"), say("Baseline needed at the fp32 floor"),
               say("Reading"))  # fmt: skip
    title = say("Claimed time against the hardware floor")
    table = Table(title, columns, rows, frozenset(range(1, 7)))
    text = say(
        "A floor is the least time the stated work takes at data-sheet peak rates. A ratio alone fixes no time: its "
        "row says how long the baseline would have to take, at least, with the kernel at the fp32 floor."
    )
    empty = say("No GPU has been compared with its floor in this audit.")
    return Section(title, "floors", paragraphs=(text if rows else empty,),
                   tables=(table,) if rows else (), figures=figures)  # fmt: skip


def everything(record: Record) -> Section:
    """Every finding as the record holds it."""
    rows = tuple(
        (
            evidence.title(one.probe),
            Code(one.target),
            one.device or "",
            Told(one.outcome),
            Told(one.grade or ""),
            Told(one.summary),
        )
        for one in record.findings
    )
    columns = (say("Question"), say("About"), say("Device"), say("Outcome"), say("Grade"), say("Summary"))
    paragraphs = () if rows else (say("None yet."),)
    table = Table(say("Every finding of this audit"), columns, rows)
    tables = (table,) if rows else ()
    return Section(say("Every finding"), "findings", paragraphs=paragraphs, tables=tables, folded=True)


def _input(entry: dict[str, JsonValue]) -> tuple[str, ...]:
    name, why, how = (str(entry.get(key, "")) for key in ("input", "not_tested", "how"))
    if why or not entry.get("elements_moved"):
        return Code(name), Told(why or how), "", "", say("untested")
    moved, unchanged = (anything(entry.get(key)) for key in ("elements_moved", "elements_dead"))
    followed = say("followed") if entry.get("right") is True else say("not followed")
    return Code(name), Told(how), moved, unchanged, followed


def _floor(record: Record, finding: Finding) -> tuple[str, ...]:
    keys = ("compute_floor_ms", "memory_floor_ms", "matrix_unit_floor_ms")
    lows = [milliseconds(evidence.real(finding, key), absent=UNKNOWN) for key in keys]
    reported = milliseconds(evidence.real(finding, "reported_kernel_ms"), absent=NOT_PUBLISHED)
    needed = milliseconds(evidence.real(finding, "baseline_needed_ms"), absent=UNKNOWN)
    known = evidence.real(finding, "floor_ms") is not None
    reading = READINGS.get(finding.outcome, say("ratio only") if known else say("no floor known"))
    return finding.target, evidence.claimed_ratio(record, finding.target), *lows, reported, needed, reading
