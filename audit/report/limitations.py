"""What this audit cannot say: the device, the shapes, GPUs nobody measured, and every skip and error."""

from __future__ import annotations

import re

from audit.model import Finding, Record
from audit.report import evidence
from audit.report.quantities import NOT_MEASURED, capability, shape
from audit.report.said import Told, listed, say
from audit.report.view import Code, Section, Table


def section(record: Record) -> Section:
    """The limits as sentences, then a table of what gave no answer."""
    bullets = (*_device(record), *_shapes(record), *_gpus(record), *_claim(record), *_unconfirmed(record))
    return Section(say("Limitations of this audit"), "limitations", bullets=bullets, tables=_unanswered(record))


def _device(record: Record) -> list[str]:
    device = record.device
    told = say(
        "The kernels ran on {device} (compute capability {version}): {note}.",
        device=Told(device.name),
        version=capability(device.compute_capability),
        note=Told(device.note.rstrip(".")),
    )
    if device.kind == "cuda":
        text = "Evidence beside it comes from the {device}: {note}."
        beside = [say(text, device=Told(one.name), note=Told(one.note.rstrip("."))) for one in record.beside]
        return [told, *beside, say("Times speak only for {device}.", device=device.name)]
    return [
        told,
        say("The emulated device answers questions of correctness. It gives no time and no verdict on speed."),
    ]


def _shapes(record: Record) -> list[str]:
    tested = sorted(evidence.tested_shapes(record), key=lambda one: tuple(one.values()))
    if not tested:
        return [say("No shape has been run yet.")]
    told = [say("Shapes run: {shapes}.", shapes=listed("; ", (shape(one) for one in tested)))]
    claim = record.claim.statement.shapes.claimed
    if claim not in tested:
        blocks = evidence.find(record, "claimed_blocks", evidence.claimed_name(record))
        if blocks is not None and blocks.outcome in ("pass", "fail"):
            text = "Of the claimed shape ({shape}) this device ran a few blocks; smaller shapes stand for the rest."
            return [*told, say(text, shape=shape(claim))]
        text = "The claimed shape ({shape}) was not run on this device; smaller ones stand for it."
        told.append(say(text, shape=shape(claim)))
    return [*told]


def _gpus(record: Record) -> list[str]:
    gpus = dict.fromkeys(speedup.gpu for speedup in record.claim.statement.speedup)
    left = [gpu for gpu in gpus if not (record.measurements and _is(gpu, record))]
    text = "{absent} in this audit: {gpus}."
    return [say(text, absent=NOT_MEASURED, gpus=listed(", ", left))] if left else []


def _is(gpu: str, record: Record) -> bool:
    pattern = rf"(?<![A-Za-z0-9]){re.escape(gpu)}(?![A-Za-z0-9])"
    return record.device.kind == "cuda" and re.search(pattern, record.device.name) is not None


def _claim(record: Record) -> list[str]:
    source = record.claim.statement.source
    told = [say("Hardware floors are data-sheet peaks; real kernels stay above them.")]
    if source.fidelity != "verbatim":
        note = Told(source.note.rstrip("."))
        told.insert(0, say("The kernel audited is a reconstruction: {note}.", note=note))
    return [*told]


def _unconfirmed(record: Record) -> list[str]:
    doubtful = [one for one in evidence.of_claim(record) if one.outcome == "fail" and one.confirmed is False]
    text = "Not seen again in a second build: {question} ({target})."
    return [say(text, question=evidence.title(one.probe), target=one.target) for one in doubtful]


def _unanswered(record: Record) -> tuple[Table, ...]:
    silent = [one for one in record.findings if one.outcome in ("skip", "error")]
    if not silent:
        return ()
    columns = (say("Question"), say("About"), say("Device"), say("Outcome"), say("Why there is no answer"))
    caption = say("Questions without an answer; they clear nobody")
    return (Table(caption, columns, tuple(_row(one) for one in silent)),)


def _row(finding: Finding) -> tuple[str, ...]:
    title, device = evidence.title(finding.probe), finding.device or ""
    return title, Code(finding.target), device, Told(finding.outcome), Told(finding.summary)
