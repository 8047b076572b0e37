"""Group findings by cause, and list the shapes and devices that show them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from audit.judge.evidence import objects
from audit.model import Finding, Place, Record, Shape

LEAD = ("coverage", "memory_access", "fresh_values", "dead_inputs")
"""Probes whose sentence comes first where several have one cause."""
LABEL = re.compile(r"(?:\w+=\d+, )*\w+=\d+(?=: )")
_OTHER_SHAPES = {"contract": "got", "repeat": "later"}
"""Keys of evidence that a call returned other shapes than it must, or than the call before it."""
STOPS = ("illegal-address", "misaligned-access")
"""Accesses at which a GPU stops the kernel."""
FIRST_BITS = "bit for bit the result of the first call"


def causes(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Return the findings grouped by cause, in the order of the first of each group.

    Two findings have one cause where their evidence has the same elements: unwritten elements, as many wrong elements
    at one shape or the same worst one, or a result that keeps the bits of an earlier call. Undefined behaviour and the
    values that depend on it have one cause, and so have a kernel that did not run to its end and all that fails.
    """
    if (ended := unfinished(findings)) is not None:
        stopped, shape = ended.evidence.get("kind") in STOPS, shape_of(ended)
        follow = [one for one in findings if one is not ended and (stopped or shape_of(one) == shape)]
        apart = [one for one in findings if one is not ended and one not in follow]
        return [[ended, *follow], *causes(apart)]
    groups: list[tuple[set[Hashable], list[int]]] = []
    for index, finding in enumerate(findings):
        marks, together = set(_marks(finding)), [index]
        others = []
        for known, members in groups:
            if known & marks:
                marks, together = known | marks, [*members, *together]
            else:
                others.append((known, members))
        groups = [*others, (marks, together)]
    return [[findings[index] for index in members] for members in sorted(sorted(members) for _, members in groups)]


def unfinished(findings: Iterable[Finding]) -> Finding | None:
    """Return the failure that says that a kernel did not run to its end: an access stopped it, or its launch was
    refused. The result then has none of its values, and follows no input."""
    failed = [one for one in findings if one.fails_kernel]
    stopped = (one for one in failed if one.evidence.get("kind") in STOPS)
    refused = (one for one in failed if one.probe == "contract" and one.evidence.get("refused"))
    return next(iter((*stopped, *refused)), None)


def reason(members: list[Finding]) -> str:
    """Return one cause in one sentence: the leading finding, and the other probes that show it."""
    first, others = led(members)
    return f"{first.probe}: {first.summary}" + (f"; seen too by {', '.join(others)}" if others else "")


def led(members: list[Finding]) -> tuple[Finding, tuple[str, ...]]:
    """Return the leading finding of one cause, and the other probes that show it."""
    first = unfinished(members) or min(
        members, key=lambda one: LEAD.index(one.probe) if one.probe in LEAD else len(LEAD)
    )
    return first, tuple(dict.fromkeys(one.probe for one in members if one.probe != first.probe))


def device_name(record: Record, finding: Finding) -> str | None:
    """Return the name of the device that gave an answer; None for one without a device."""
    return next((one.name for one in (record.device, *record.secondary_devices) if one.kind == finding.device), None)


def labelled(sentence: str) -> tuple[Shape | None, str]:
    """Return the shape at the beginning of a sentence, and the rest from the colon on; or None and the sentence."""
    label = LABEL.match(sentence)
    if label is None:
        return None, sentence
    return {name: int(size) for name, size in re.findall(r"(\w+)=(\d+)", label[0])}, sentence[label.end() :]


def sizes_of(value: object) -> Shape | None:
    """Return a value of the evidence as named sizes; None where it is something else."""
    if not isinstance(value, dict):
        return None
    sizes = {str(name): count for name, count in value.items() if isinstance(count, int) and count > 0}
    return sizes if sizes and len(sizes) == len(value) else None


def shape_of(finding: Finding) -> Shape | None:
    """Return the shape of a finding; of a failure over several, the one with the most wrong elements. An older record
    may have it in the sentence alone."""
    entries = [*entries_of(finding)]
    failed = [entry for entry in entries if entry.get("right") is False]
    worst = sorted(failed, key=lambda entry: -count_of(entry, "elements_wrong"))
    label, _ = labelled(finding.summary)
    found = [finding.shape, finding.evidence.get("shape"), *(entry.get("shape") for entry in worst), label]
    return next((shape for one in found if (shape := sizes_of(one)) is not None), None)


def shown_at(record: Record, findings: Iterable[Finding]) -> tuple[Place, ...]:
    """Return the shapes and devices that show those failures, each once with the most builds."""
    about = {(one.probe, one.target) for one in findings}
    shown = [
        one for one in record.findings if (one.probe, one.target) in about and one.outcome == "fail" and one.claimed
    ]
    return _places(record, ((one, shape_of(one)) for one in shown if one.grade != "hint"))


def asked_at(record: Record, findings: Iterable[Finding]) -> tuple[Place, ...]:
    """Return the shapes and devices of those answers."""
    pairs = ((one, shape) for one in findings if one.device for shape in (*_shapes(one), None))
    result = _places(record, pairs)
    shaped = {one.device for one in result if one.shape is not None}
    return tuple(one for one in result if one.shape is not None or one.device not in shaped)


def _marks(finding: Finding) -> Iterator[Hashable]:
    """Yield the marks of a finding; two findings of one cause share a mark."""
    yield id(finding)
    if finding.probe in ("coverage", "inherited") or _depends_on_history(finding):
        yield "history", _key(shape_of(finding))
    if finding.grade == "undefined":
        yield "undefined"
    if _keeps_bits(finding):
        yield "kept_bits"
    if _OTHER_SHAPES.get(finding.probe) in finding.evidence:
        yield "other_shapes"
    for entry in entries_of(finding):
        shape = _key(sizes_of(entry.get("shape")) or shape_of(finding))
        wrong = entry.get("elements_wrong") or entry.get("elements_dead") or entry.get("elements_inherited")
        if entry.get("right", False) is False and wrong and shape:
            yield "as_many", shape, wrong
        if entry.get("right") is False and entry.get("index") is not None and shape:
            yield "worst_at", shape, str(entry["index"])
    if finding.probe == "coverage":
        lost = count_of(finding.evidence, "elements") - count_of(finding.evidence, "elements_written")
        yield "as_many", _key(shape_of(finding)), lost


def _depends_on_history(finding: Finding) -> bool:
    """Return whether the result is right in one execution order only: earlier contents of memory decide."""
    sides = [finding.evidence.get(key) for key in ("claim_first", "reference_first")]
    right = [side.get("right") for side in sides if isinstance(side, dict)]
    return finding.probe == "order" and sorted(map(str, right)) == ["False", "True"]


def _keeps_bits(finding: Finding) -> bool:
    """Return whether the result kept its bits although its inputs changed."""
    if finding.probe == "fresh_values":
        return FIRST_BITS in finding.summary
    dead = objects(finding.evidence.get("inputs")) if finding.probe == "dead_inputs" else []
    return any(one.get("right") is False and one.get("elements_dead") == one.get("elements_moved") for one in dead)


def entries_of(finding: Finding) -> Iterator[dict[str, Any]]:
    """Yield the evidence of a finding, the objects among its values, and those in its lists."""
    yield dict(finding.evidence)
    for value in finding.evidence.values():
        parts = value if isinstance(value, list) else [value]
        yield from (part for part in parts if isinstance(part, dict))


def _places(record: Record, found: Iterable[tuple[Finding, Shape | None]]) -> tuple[Place, ...]:
    most: dict[tuple[Hashable, str | None], Place] = {}
    for finding, shape in found:
        one = Place(shape=shape, device=device_name(record, finding), builds=1 + (finding.confirmed is True))
        key = (_key(shape), one.device)
        if key not in most or most[key].builds < one.builds:
            most[key] = one
    return tuple(one for one in most.values() if one.shape is not None or one.device is not None)


def _shapes(finding: Finding) -> list[Shape]:
    found = [finding.shape, *(entry.get("shape") for entry in entries_of(finding))]
    return [shape for one in found if (shape := sizes_of(one)) is not None]


def _key(shape: Shape | None) -> Hashable:
    return None if shape is None else tuple(sorted(shape.items()))


def count_of(evidence: dict[str, Any], key: str) -> int:
    """Return a whole number of the evidence; 0 where there is none."""
    value = evidence.get(key)
    return value if isinstance(value, int) else 0
