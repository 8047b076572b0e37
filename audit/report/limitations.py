"""What this audit cannot say: the device, the shapes, GPUs nobody measured, and every skip and error."""

from __future__ import annotations

import re

from audit.model import Finding, Record
from audit.report import evidence
from audit.report.quantities import NOT_MEASURED, capability, shape
from audit.report.view import Code, Section, Table


def section(record: Record) -> Section:
    """The limits as sentences, then a table of what gave no answer."""
    bullets = (*_device(record), *_shapes(record), *_gpus(record), *_claim(record), *_unconfirmed(record))
    return Section("Limitations of this audit", "limitations", bullets=bullets, tables=_unanswered(record))


def _device(record: Record) -> list[str]:
    device = record.device
    version, note = capability(device.compute_capability), device.note.rstrip(".")
    told = f"The kernels ran on {device.name} (compute capability {version}): {note}."
    if device.kind == "cuda":
        beside = [
            f"Evidence beside it comes from the {other.name}: {other.note.rstrip('.')}." for other in record.beside
        ]
        return [told, *beside, f"Times speak only for {device.name}."]
    return [told, "The emulated device answers questions of correctness. It gives no time and no verdict on speed."]


def _shapes(record: Record) -> list[str]:
    tested = sorted(evidence.tested_shapes(record), key=lambda one: tuple(one.values()))
    if not tested:
        return ["No shape has been run yet."]
    told = [f"Shapes run: {'; '.join(shape(one) for one in tested)}."]
    claim = record.claim.statement.shapes.claimed
    if claim not in tested:
        told.append(f"The claimed shape ({shape(claim)}) was not run on this device; smaller ones stand for it.")
    return told


def _gpus(record: Record) -> list[str]:
    gpus = dict.fromkeys(speedup.gpu for speedup in record.claim.statement.speedup)
    left = [gpu for gpu in gpus if not (record.measurements and _is(gpu, record))]
    return [f"{NOT_MEASURED} in this audit: {', '.join(left)}."] if left else []


def _is(gpu: str, record: Record) -> bool:
    pattern = rf"(?<![A-Za-z0-9]){re.escape(gpu)}(?![A-Za-z0-9])"
    return record.device.kind == "cuda" and re.search(pattern, record.device.name) is not None


def _claim(record: Record) -> list[str]:
    source = record.claim.statement.source
    told = ["Hardware floors are data-sheet peaks; real kernels stay above them."]
    return (
        told
        if source.fidelity == "verbatim"
        else [f"The kernel audited is a reconstruction: {source.note.rstrip('.')}.", *told]
    )


def _unconfirmed(record: Record) -> list[str]:
    doubtful = [one for one in evidence.of_claim(record) if one.outcome == "fail" and one.confirmed is False]
    return [f"Not seen again in a second build: {evidence.title(one.probe)} ({one.target})." for one in doubtful]


def _unanswered(record: Record) -> tuple[Table, ...]:
    silent = [one for one in record.findings if one.outcome in ("skip", "error")]
    if not silent:
        return ()
    columns = ("Question", "About", "Device", "Outcome", "Why there is no answer")
    return (Table("Questions without an answer; they clear nobody", columns, tuple(_row(one) for one in silent)),)


def _row(finding: Finding) -> tuple[str, ...]:
    title, device = evidence.title(finding.probe), finding.device or ""
    return title, Code(finding.target), device, finding.outcome, finding.summary
