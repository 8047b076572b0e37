"""The limits of this audit: the device, the shapes, GPUs without a measurement, and what was not asked."""

from __future__ import annotations

from audit.model import Record
from audit.model.gpus import names_in
from audit.report import evidence
from audit.report.messages import Recorded, joined, message
from audit.report.quantities import NOT_MEASURED, capability, number, shape
from audit.report.view import Section

OF_FILES = ("files", "metadata")
"""Parts of the sandbox without which claimed code can change files of others."""


def section(record: Record) -> Section:
    """Return the limits as sentences."""
    bullets = (
        *_device(record),
        *_shapes(record),
        *_claim(record),
        *not_tested(record),
        *_files(record),
        *_unconfirmed(record),
    )
    return Section(message("limitations.title"), "limitations", bullets=bullets)


def not_tested(record: Record) -> list[str]:
    """Return what the claim speaks of and this audit did not ask: GPUs, the claimed shape, and questions."""
    asked = (one for one in evidence.of_claim(record) if one.probe != "floor")
    count = len({one.probe for one in asked if one.outcome in ("skip", "error")})
    left = [message("limitations.questions", count=number(count))] if count else []
    return [*_gpus(record), *_claimed_shape(record), *left]


def _device(record: Record) -> list[str]:
    device = record.device
    ran = message(
        "limitations.device",
        device=Recorded(device.name),
        version=capability(device.compute_capability),
        note=_note(device.note),
    )
    if device.kind != "cuda":
        return [ran, message("limitations.emulated")]
    beside = [
        message("limitations.beside", device=Recorded(one.name), note=_note(one.note))
        for one in record.secondary_devices
    ]
    return [ran, *beside, message("limitations.times", device=device.name)]


def _note(text: str) -> Recorded:
    return Recorded(text.rstrip("."))


def _shapes(record: Record) -> list[str]:
    tested = sorted(evidence.tested_shapes(record), key=lambda one: tuple(one.values()))
    if not tested:
        return [message("limitations.no_shape")]
    return [message("limitations.shapes", shapes=joined("semicolon", map(shape, tested)))]


def _claimed_shape(record: Record) -> list[str]:
    claim, tested = record.claim.statement.shapes.claimed, evidence.tested_shapes(record)
    if claim in tested or not tested:
        return []
    blocks = evidence.find(record, "claimed_blocks", record.claimed_name)
    if blocks is None or blocks.outcome not in ("pass", "fail") or "smaller" in blocks.evidence:
        return [message("limitations.claimed_shape", shape=shape(claim))]
    whole = blocks.evidence.get("blocks_run") == blocks.evidence.get("blocks")
    return [message("limitations.claimed_whole" if whole else "limitations.claimed_blocks", shape=shape(claim))]


def _gpus(record: Record) -> list[str]:
    gpus = dict.fromkeys(speedup.gpu for speedup in record.claim.statement.speedup)
    timed = names_in(record.device.name) if record.measurements and record.device.kind == "cuda" else ()
    left = [gpu for gpu in gpus if gpu not in timed]
    return [message("limitations.gpus", absent=NOT_MEASURED, gpus=joined("comma", left))] if left else []


def _claim(record: Record) -> list[str]:
    source = record.claim.statement.source
    floors = message("limitations.floors")
    if source.fidelity == "reconstruction":
        return [message("limitations.reconstruction", note=_note(source.note)), floors]
    return [floors]


def _files(record: Record) -> list[str]:
    """What it costs where claimed code could write files that other builds and audits rest on."""
    missing = [one.name for one in record.environment.sandbox if one.name in OF_FILES and not one.up]
    return [message("limitations.files", limits=joined("comma", missing))] if missing else []


def _unconfirmed(record: Record) -> list[str]:
    doubtful = [one for one in evidence.of_claim(record) if one.outcome == "fail" and one.confirmed is False]
    return [
        message("limitations.unconfirmed", question=evidence.title(one.probe), target=one.target) for one in doubtful
    ]
