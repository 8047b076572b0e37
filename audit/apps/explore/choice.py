"""Choices in a record: a variant, a device that answered about it, a shape it was asked at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.model import Finding, Record
from audit.report import quantities

ASKED = "agreement"
"""The probe that is asked at every shape."""


@dataclass(frozen=True)
class Choice:
    """One pick; `shape` as `quantities.shape` writes it, empty where no shape was asked."""

    variant: str
    device: str
    shape: str


def first(record: Record) -> Choice:
    """The first choice: the claimed kernel on the main device, at its largest shape."""
    claimed = record.claim.statement.claimed
    variant = claimed.name if claimed else variants(record)[0]
    return nearest(record, Choice(variant, record.device.kind, ""))


def nearest(record: Record, choice: Choice) -> Choice:
    """The choice, its device and shape replaced where this variant has no answer for them."""
    there = devices(record, choice.variant)
    device = choice.device if choice.device in there else next(iter(there), record.device.kind)
    known = shapes(record, choice.variant, device)
    shape = choice.shape if choice.shape in known else (known[-1] if known else "")
    return Choice(choice.variant, device, shape)


def variants(record: Record) -> list[str]:
    """The variants, in the order of the claim."""
    return [variant.name for variant in record.claim.statement.variant]


def devices(record: Record, variant: str) -> list[str]:
    """The kinds of device that were asked about it, the main one first."""
    kinds = [record.device.kind, *(device.kind for device in record.secondary_devices)]
    answered = {finding.device or record.device.kind for finding in record.findings if finding.target == variant}
    return [kind for kind in kinds if kind in answered]


def shapes(record: Record, variant: str, device: str) -> list[str]:
    """The shapes it was asked at on that device, each once, in their order."""
    finding = found(record, ASKED, variant, device)
    return list(dict.fromkeys(quantities.shape(one["shape"]) for one in answers(finding)))


def found(record: Record, probe: str, variant: str, device: str) -> Finding | None:
    """The finding of a probe about a variant on a device; one that names no device is of the main one."""
    for finding in record.findings:
        kind = finding.device or record.device.kind
        if (finding.probe, finding.target, kind) == (probe, variant, device):
            return finding
    return None


def answers(finding: Finding | None) -> list[dict[str, Any]]:
    """The answers at every shape and in every order, as the probe writes them; other entries cannot be drawn."""
    listed = None if finding is None else finding.evidence.get("shapes")
    return [one for one in listed if isinstance(one, dict) and _is_answer(one)] if isinstance(listed, list) else []


def _is_answer(entry: dict[str, Any]) -> bool:
    shape, elements, wrong = entry.get("shape"), entry.get("elements", 0), entry.get("elements_wrong", 0)
    sizes = list(shape.values()) if isinstance(shape, dict) else [None]
    if not all(type(one) is int for one in (*sizes, elements, wrong)) or not isinstance(entry.get("order"), str):
        return False
    values = (entry.get("expected"), entry.get("got"))
    names_worst = isinstance(entry.get("index"), list) and all(isinstance(one, int | float | str) for one in values)
    clear = entry.get("right") is True or (entry.get("right") is False and names_worst)
    return clear and bool(0 <= wrong <= elements > 0)


def records(root: Path) -> dict[str, Path]:
    """The published records below a folder, by claim and device."""
    paths = sorted(root.glob("*/*/record.json"))
    return {f"{path.parent.parent.name}, {path.parent.name}": path for path in paths}
