"""Questions to the authors, each derived from a finding about what they state; never about a time that others took."""

from __future__ import annotations

from collections.abc import Callable

from audit.judge.answers import FLOOR
from audit.model import Finding, Record
from audit.report import evidence
from audit.report.quantities import anything, milliseconds, number, ratio, shape
from audit.report.said import Told, listed, say
from audit.report.view import Section
from audit.report.weaknesses import GRADES


def section(record: Record) -> Section:
    """A question for each failure of the claimed kernel, gravest first, then for what the numbers leave open."""
    failed = [one for grade in GRADES for one in evidence.of_claim(record) if one.grade == grade and one.claimed]
    failed = [one for one in failed if one.probe != FLOOR or one.target in _own_times(record)]
    bullets = tuple(dict.fromkeys([*(_about(one) for one in failed), *_times(record), *_source(record)]))
    paragraphs = () if bullets else (say("None."),)
    return Section(say("Questions to the authors"), "questions", paragraphs=paragraphs, bullets=bullets)


def _about(finding: Finding) -> str:
    ask = ASKED.get(finding.probe)
    return ask(finding) if ask else say("How do you read this observation: {summary}?", summary=Told(finding.summary))


def _coverage(finding: Finding) -> str:
    rows, written = evidence.real(finding, "rows"), evidence.real(finding, "rows_written")
    if rows is None or written is None or rows == written:
        text = "Which launch was meant to write the rest of the output? Observed: {summary}."
        return say(text, summary=Told(finding.summary))
    asked = "{count} of {all} rows were written. Which launch was meant to write the others?"
    told = say(asked, count=number(written), all=number(rows))
    sizes = evidence.size(finding)
    return say("At {shape}, {told}", shape=shape(sizes), told=told) if sizes else told


def _order(_: Finding) -> str:
    return say(
        "Was the kernel's result ever compared before the reference had run in the same process, "
        "and what was the difference then?"
    )


def _inherited(_: Finding) -> str:
    return say(
        "Is the output meant to be allocated uninitialised, and which part of it does the kernel leave as it was?"
    )


def _agreement(finding: Finding) -> str:
    text = "For which shapes and inputs is the kernel meant to be right? Observed: {summary}."
    return say(text, summary=Told(finding.summary))


def _contract(finding: Finding) -> str:
    expected, got = (anything(finding.evidence.get(key)) for key in ("expected", "got"))
    text = "What does the kernel's entry point take and return? Expected {expected}, got {got}."
    return say(text, expected=expected, got=got)


def _limits(finding: Finding) -> str:
    text = "On which GPU was this launch taken at the claimed shape? Observed: {summary}."
    return say(text, summary=Told(finding.summary))


def _inputs(_: Finding) -> str:
    return say("Is the kernel meant to change its inputs?")


def _access(finding: Finding) -> str:
    return say("Is this memory access intended: {summary}?", summary=Told(finding.summary))


def _geometry(finding: Finding) -> str:
    summary = Told(finding.summary)
    if finding.line is None:
        text = "Which launch shape was the index arithmetic written for? Read from the source: {summary}."
        return say(text, summary=summary)
    text = "Which launch shape was the index arithmetic written for on line {line}? Read from the source: {summary}."
    return say(text, line=number(finding.line), summary=summary)


def _dead(finding: Finding) -> str:
    text = "Which inputs is the result meant to depend on? Observed: {summary}."
    return say(text, summary=Told(finding.summary))


def _kept(finding: Finding) -> str:
    text = "Is a result meant to outlive its call, and what tells that its inputs changed? Observed: {summary}."
    return say(text, summary=Told(finding.summary))


def _bits(finding: Finding) -> str:
    text = "Which precision does the claim speak of, for the kernel and for its baseline? Observed: {summary}."
    return say(text, summary=Told(finding.summary))


def _own(finding: Finding) -> str:
    text = "Which kernel of the source is meant to do the work? Observed: {summary}."
    return say(text, summary=Told(finding.summary))


def _stream(finding: Finding) -> str:
    text = "On which stream is the result ready, and on which was it timed? Observed: {summary}."
    return say(text, summary=Told(finding.summary))


def _task(finding: Finding) -> str:
    text = "For which inputs can the published check fail? Observed: {summary}."
    return say(text, summary=Told(finding.summary))


def _floor(finding: Finding) -> str:
    reported, floor = (milliseconds(evidence.real(finding, key)) for key in ("reported_kernel_ms", "floor_ms"))
    text = "How was {reported} timed on {gpu}, where the stated work takes at least {floor} in fp32?"
    return say(text, reported=reported, gpu=finding.target, floor=floor)


def _times(record: Record) -> list[str]:
    claim = record.claim.statement
    stated = [one for one in claim.speedup if claim.stated_by_authors(one)]
    bare = [one for one in stated if one.gpu not in _own_times(record)]
    if not bare:
        return []
    told = [say("{ratio} on {gpu}", ratio=ratio(one.ratio, about=one.about), gpu=one.gpu) for one in bare]
    text = "Which kernel and baseline times, in milliseconds, stand behind {ratios}?"
    return [say(text, ratios=listed(", ", told))]


def _own_times(record: Record) -> set[str]:
    """The GPUs for which the authors themselves state times."""
    claim = record.claim.statement
    return {one.gpu for one in claim.observation if claim.stated_by_authors(one)}


def _source(record: Record) -> list[str]:
    if record.claim.statement.source.fidelity == "verbatim":
        return []
    return [
        say(
            "Does the reconstruction audited here match your kernel? "
            "Your own text can be audited with the same command."
        )
    ]


ASKED: dict[str, Callable[[Finding], str]] = {
    "agreement": _agreement,
    "contract": _contract,
    "claimed_blocks": _agreement,
    "claimed_launches": _limits,
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
    "sweep": _agreement,
}
