"""The checklists of a review form, filled from the record: the claim, its kernel, and doing this audit again."""

from __future__ import annotations

from audit.model import Record
from audit.report import evidence, soundness
from audit.report.quantities import number
from audit.report.said import Told, say
from audit.report.soundness import Row, yes
from audit.report.view import Section

CORRECTNESS = (
    "contract",
    "agreement",
    "coverage",
    "inherited",
    "inputs_intact",
    "memory_access",
    "fresh_values",
    "repeat",
    "dead_inputs",
    "distributions",
    "precision",
    "alias",
    "layout",
    "nonfinite",
    "threads",
    "backend_flags",
)
"""Probes whose answer is about the result; those about the time stand under the soundness of the measurement."""


def section(record: Record) -> Section:
    """Three lists of checks and how many of each hold."""
    lists = (
        (say("The claim as published"), _claim(record)),
        (say("The claimed kernel"), [soundness.answered(record, probe) for probe in CORRECTNESS]),
        (say("Doing this audit again"), _again(record)),
    )
    counted = tuple(say("{list}: {answers}.", list=name, answers=soundness.answers(rows)) for name, rows in lists)
    tables = tuple(soundness.table(name, rows) for name, rows in lists)
    return Section(say("Checklists"), "checklists", paragraphs=counted, tables=tables, folded=True)


def _claim(record: Record) -> list[Row]:
    claim = record.claim.statement
    tasks = [one for one in record.findings if one.probe == "task"]
    return [
        yes(say("The kernel's source is published"), claim.source.fidelity == "verbatim", Told(claim.source.fidelity)),
        yes(say("The compiler flags are known"), bool(claim.protocol.flags)),
        yes(say("The baseline is named"), bool(claim.baseline), Told(claim.baseline)),
        *((evidence.title(one.probe), soundness.answer(one), Told(one.summary)) for one in tasks),
    ]


def _again(record: Record) -> list[Row]:
    env = record.environment
    proved = [one for one in evidence.of_claim(record) if one.convicts and one.confirmed is not None]
    seen = sum(one.confirmed is True for one in proved)
    told = say("{count} of {all} failures", count=number(seen), all=number(len(proved)))
    again = [yes(say("Every proved failure was seen in a second build"), seen == len(proved), told)] if proved else []
    files = say("{count} files", count=number(len(record.claim.sources)))
    return [
        yes(say("Every file audited is named with its SHA-256"), bool(record.claim.sources), files),
        yes(say("The seed is recorded"), bool(env.seeds)),
        yes(say("The compiler is recorded"), bool(env.compiler)),
        *again,
    ]
