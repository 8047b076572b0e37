"""Questions to the authors, each derived from a finding."""

from __future__ import annotations

from collections.abc import Callable

from audit.model import Finding, Record
from audit.report import evidence
from audit.report.quantities import anything, milliseconds, number, ratio, shape
from audit.report.view import Section


def section(record: Record) -> Section:
    """One question a failure of the claimed kernel, then what would settle what the numbers leave open."""
    failed = [one for one in evidence.of_claim(record) if one.outcome == "fail"]
    bullets = tuple(dict.fromkeys([*(_about(one) for one in failed), *_times(record), *_source(record)]))
    return Section("Questions to the authors", "questions", paragraphs=() if bullets else ("None.",), bullets=bullets)


def _about(finding: Finding) -> str:
    ask = ASKED.get(finding.probe)
    return ask(finding) if ask else f"How do you read this observation: {finding.summary}?"


def _coverage(finding: Finding) -> str:
    rows, written = evidence.real(finding, "rows"), evidence.real(finding, "rows_written")
    if rows is None or written is None or rows == written:
        return f"Which launch was meant to write the rest of the output? Observed: {finding.summary}."
    sizes = evidence.size(finding)
    where = f"At {shape(sizes)}, " if sizes else ""
    return f"{where}{number(written)} of {number(rows)} rows were written. Which launch was meant to write the others?"


def _order(_: Finding) -> str:
    return (
        "Was the kernel's result ever compared before the reference had run in the same process, "
        "and what was the difference then?"
    )


def _inherited(_: Finding) -> str:
    return "Is the output meant to be allocated uninitialised, and which part of it does the kernel leave as it was?"


def _agreement(finding: Finding) -> str:
    return f"For which shapes and inputs is the kernel meant to be right? Observed: {finding.summary}."


def _contract(finding: Finding) -> str:
    expected, got = (anything(finding.evidence.get(key)) for key in ("expected", "got"))
    return f"What does the kernel's entry point take and return? Expected {expected}, got {got}."


def _inputs(_: Finding) -> str:
    return "Is the kernel meant to change its inputs?"


def _access(finding: Finding) -> str:
    return f"Is this memory access intended: {finding.summary}?"


def _geometry(finding: Finding) -> str:
    where = f" on line {number(finding.line)}" if finding.line is not None else ""
    return f"Which launch shape was the index arithmetic written for{where}? Read from the source: {finding.summary}."


def _dead(finding: Finding) -> str:
    return f"Which inputs is the result meant to depend on? Observed: {finding.summary}."


def _kept(finding: Finding) -> str:
    return (
        f"Is a result meant to outlive its call, and what tells that its inputs changed? Observed: {finding.summary}."
    )


def _bits(finding: Finding) -> str:
    return f"Which precision does the claim speak of, for the kernel and for its baseline? Observed: {finding.summary}."


def _own(finding: Finding) -> str:
    return f"Which kernel of the source is meant to do the work? Observed: {finding.summary}."


def _stream(finding: Finding) -> str:
    return f"On which stream is the result ready, and on which was it timed? Observed: {finding.summary}."


def _task(finding: Finding) -> str:
    return f"For which inputs can the published check fail? Observed: {finding.summary}."


def _floor(finding: Finding) -> str:
    reported, floor = (milliseconds(evidence.real(finding, key)) for key in ("reported_kernel_ms", "floor_ms"))
    return f"How was {reported} timed on {finding.target}, where the stated work takes at least {floor} in fp32?"


def _times(record: Record) -> list[str]:
    seen = {observation.gpu for observation in record.claim.statement.observation}
    bare = [one for one in record.claim.statement.speedup if one.gpu not in seen]
    if not bare:
        return []
    told = ", ".join(f"{ratio(one.ratio, about=one.about)} on {one.gpu}" for one in bare)
    return [f"Which kernel and baseline times, in milliseconds, stand behind {told}?"]


def _source(record: Record) -> list[str]:
    if record.claim.statement.source.fidelity == "verbatim":
        return []
    return [
        "Does the reconstruction audited here match your kernel? Your own text can be audited with the same command."
    ]


ASKED: dict[str, Callable[[Finding], str]] = {
    "agreement": _agreement,
    "contract": _contract,
    "coverage": _coverage,
    "current_stream": _stream,
    "dead_inputs": _dead,
    "distributions": _agreement,
    "fresh_values": _kept,
    "kernels_ran": _own,
    "late_writes": _stream,
    "precision": _bits,
    "task": _task,
    "floor": _floor,
    "inherited": _inherited,
    "inputs_intact": _inputs,
    "launch_geometry": _geometry,
    "memory_access": _access,
    "order": _order,
}
