"""Reading findings: those about the claim, and the values in their evidence, whatever its form."""

from __future__ import annotations

from pydantic import JsonValue

from audit.judge.answers import FLOOR, is_impossible
from audit.judge.causes import shape_of
from audit.judge.evidence import deciding
from audit.model import Finding, Record, Shape
from audit.report import quantities
from audit.report.messages import Recorded, message, wordings

NOT_RUN = ("claimed_launches", "claimed_blocks")
"""Findings about a shape that was not run, or not all of it."""
LARGEST = 1e100
"""Any float32 and the product of two is below."""


def title(probe: str) -> str:
    """Return the name of a probe or of a rule of the source review for readers; an unknown probe keeps its own."""
    rule = probe.removeprefix("review.")
    if rule != probe:
        return message("form.review_rule", rule=Recorded(rule.replace("_", " ")))
    key = f"probe.{probe}"
    return message(key) if key in wordings() else probe


def claimed_name(record: Record) -> str | None:
    """Return the name of the claimed variant, which findings carry as their target."""
    claimed = record.claim.statement.claimed
    return None if claimed is None else claimed.name


def of_claim(record: Record) -> list[Finding]:
    """Return the findings about the published times, the task and the claimed kernel; none about our own variants."""
    floors = [finding for finding in record.findings if finding.probe == "floor"]
    name = claimed_name(record)
    return [*floors, *blind_tasks(record), *deciding(finding for finding in record.findings if finding.target == name)]


def device(record: Record, finding: Finding) -> str:
    """Return the name of the device that gave an answer; empty where nothing had to run."""
    known = (one.name for one in (record.device, *record.secondary_devices) if one.kind == finding.device)
    return next(map(Recorded, known), "")


def against_claim(record: Record, finding: Finding) -> bool:
    """Return whether a failure speaks against the claim: a time that others than the authors took does not."""
    return finding.claimed and (finding.probe != FLOOR or is_impossible(record, finding))


def blind_tasks(record: Record) -> list[Finding]:
    """Return the findings that the task itself cannot tell right from wrong, at its own inputs or at any."""
    return [one for one in deciding(one for one in record.findings if one.probe == "task") if one.outcome == "fail"]


def find(record: Record, probe: str, target: str | None) -> Finding | None:
    """Return the last deciding finding of a probe about a target."""
    about = deciding(finding for finding in record.findings if finding.target == target)
    return next((one for one in reversed(about) if one.probe == probe), None)


def real(finding: Finding | None, key: str) -> float | None:
    """Return a number of the evidence; None where it is absent, something else, or too large to be drawn."""
    value = finding.evidence.get(key) if finding else None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if abs(value) < LARGEST else None


def entries(finding: Finding | None, key: str) -> list[dict[str, JsonValue]]:
    """Return the objects in a list of the evidence; none where it is something else."""
    values = finding.evidence.get(key) if finding else None
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


def sizes(value: JsonValue) -> Shape | None:
    """Return named sizes of the evidence; None where the value is something else."""
    if not isinstance(value, dict):
        return None
    known = {name: count for name, count in value.items() if isinstance(count, int) and count > 0}
    return known if known and len(known) == len(value) else None


def size(finding: Finding | None) -> Shape | None:
    """Return the shape that a finding is about."""
    return shape_of(finding) if finding else None


def claimed_ratio(record: Record, gpu: str) -> str:
    """Return the ratio published for a GPU, with "about" where it is rounded."""
    stated = [one for one in record.claim.statement.speedup if one.gpu == gpu]
    return quantities.ratio(stated[0].ratio, about=stated[0].about) if stated else quantities.NOT_PUBLISHED


def tested_shapes(record: Record) -> list[Shape]:
    """Return the shapes that the findings about any variant name, each once, in order of appearance."""
    shapes: list[Shape] = []
    for finding in (one for one in record.findings if one.probe not in NOT_RUN):
        values = (finding.evidence.get("shape"), *(entry.get("shape") for entry in entries(finding, "shapes")))
        for shape in map(sizes, values):
            if shape is not None and shape not in shapes:
                shapes.append(shape)
    return shapes
