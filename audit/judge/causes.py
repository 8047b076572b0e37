"""Group findings by cause, list the shapes and devices that show them, and derive causes from several findings."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from audit.judge.evidence import deciding_about, objects
from audit.model import Finding, Place, Record, Shape
from audit.probes import claimed_launches
from audit.probes.concluding.behaviour import is_own

LEAD = ("coverage", "memory_access", "fresh_values", "dead_inputs")
"""Probes whose sentence comes first where several have one cause."""
GEOMETRY = "launch_geometry"
SPANS_ONE = re.compile(
    r"forms an index from blockIdx\.(?P<axis>[xyz]) and threadIdx\.[xyz] \(line (?P<index>\d+)\), but grid and block "
    r"of the launch on line (?P<launch>\d+) have extents? (?:1 along|1 and (?P<threads>\d+) along)"
)
"""The text of the source rule of that name: an axis that the kernel indexes and the launch does not span."""
LABEL = re.compile(r"(?:\w+=\d+, )*\w+=\d+(?=: )")
OF_ANY_FAILURE = ("review.unchecked_launch", "review.legacy_stream")
"""Rules of the source review that hold for many right kernels, so that they explain no failure."""
_OTHER_SHAPES = {"contract": "got", "repeat": "later"}
"""Keys of evidence that a call returned other shapes than it must, or than the call before it."""
PRECISION = "precision"
ROUNDED = 2.0**-5
"""The largest relative error by rounding in a sum of products that do not cancel; bf16 has 2**-8."""
ALIKE = 0.01
"""The difference of relative errors, as a share of them, up to which they are one factor."""
NEAR_BITS = 1.0
"""Effective bits within which a result has as many as a format leaves; other errors have any number of bits."""
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
    entries = [*_entries(finding)]
    failed = [entry for entry in entries if entry.get("right") is False]
    worst = sorted(failed, key=lambda entry: -_count(entry, "elements_wrong"))
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


def geometry_cause(record: Record) -> str | None:
    """Return the launch that does not span an axis, in words, where the output agrees with it; else None.

    The source rule gives the number of indices of an axis that are computed, and coverage that of rows, or columns,
    that are written: they agree if both are equal, and at a known launch the extents too.
    """
    about = deciding_about(record.findings, record.claimed_name)
    hints = [one for one in about if one.probe == GEOMETRY and one.outcome == "fail"]
    written = [one for one in about if one.probe == "coverage" and one.fails_kernel]
    pairs = ((found, one) for hint in hints if (found := SPANS_ONE.search(hint.summary)) for one in written)
    return next((text for found, one in pairs if (text := _agreed(found, one))), None)


def refused_launch(findings: Iterable[Finding]) -> str | None:
    """Return the launch that a GPU refuses at the claimed shape, in words."""
    known = (one.evidence.get("refused") for one in findings if one.probe == claimed_launches.NAME and one.fails_kernel)
    refused = next((one for one in known if isinstance(one, dict)), None)
    if refused is None:
        return None
    return f"The launch on line {refused['line']} is refused at the claimed shape: {refused['refused']}."


def rounding_cause(findings: Iterable[Finding]) -> str | None:
    """Return a format of lower precision, in words, where it explains the errors: the result has as many bits as that
    leaves, within NEAR_BITS, and every wrong element has a small relative error. One element of millions may cost as
    many bits."""
    known = list(findings)
    rough = next((one.evidence for one in known if one.probe == PRECISION and one.outcome == "fail"), None)
    if rough is None or rough.get("within_tolerance") is not False:
        return None
    bits, of = rough["bits"], rough.get("bits_of")
    left = of.get(str(rough["class"])) if isinstance(of, dict) else None
    if isinstance(bits, int | float) and isinstance(left, int | float) and abs(bits - left) > NEAR_BITS:
        return None
    entries = (entry for one in known if one.outcome == "fail" and one.grade != "hint" for entry in _entries(one))
    worst = [(entry["expected"], entry["got"]) for entry in entries if entry.get("elements_wrong") and "got" in entry]
    if not worst or not all(_near(expected, got) for expected, got in worst) or _one_factor(worst):
        return None
    leaves = {"tf32": "TF32 or fp16", "bf16": "bf16"}.get(str(rough["class"]))
    return leaves and f"The result has {rough['bits']:.1f} effective bits, as rounding to {leaves} leaves."


def _one_factor(worst: Sequence[tuple[Any, Any]]) -> bool:
    """Return whether several elements are off by one factor, as by a wrong divisor, which no rounding does."""
    off = [got / expected - 1 for expected, got in worst if expected]
    return len(off) > 1 and max(off) - min(off) <= ALIKE * min(map(abs, off))


def _near(expected: object, got: object) -> bool:
    if not isinstance(expected, int | float) or not isinstance(got, int | float):
        return False
    return abs(got - expected) <= ROUNDED * abs(expected)


def read_in_source(record: Record) -> tuple[tuple[Finding, dict[str, Any], Finding], ...]:
    """Return each hint of the source review with the line that agrees with a proved failure of the probe that confirms
    it, and that failure. Examples are a missing barrier with a race, an unguarded tail with a bad access, a cache with
    old values."""
    about = deciding_about(record.findings, record.claimed_name)
    proved = {one.probe: one for one in about if one.fails_kernel or (one.grade == "undefined" and one.claimed)}
    hints = [one for one in about if one.grade == "hint" and one.line and one.probe not in OF_ANY_FAILURE]
    pairs = ((one, proved[probe]) for one in hints if (probe := str(one.evidence.get("confirm_with"))) in proved)
    return tuple((hint, line, failure) for hint, failure in pairs if (line := _agreeing(hint, failure)) is not None)


def _agreeing(hint: Finding, failure: Finding) -> dict[str, Any] | None:
    """Return the first line of a hint that a failure agrees with: where the rule knows the kinds of behaviour that it
    is a cause of, one of a kernel in which such behaviour was seen."""
    lines = objects(hint.evidence.get("hints")) or [{"line": hint.line, "message": hint.summary}]
    kinds, reports = hint.evidence.get("kinds"), objects(failure.evidence.get("reports"))
    if isinstance(kinds, list):
        seen = [str(one["kernel"]) for one in reports if one["kind"] in kinds and one.get("grade") != "hint"]
        lines = [one for one in lines if any(is_own(name, frozenset(one.get("kernels", [name]))) for name in seen)]
    return next(iter(lines), None)


def _agreed(found: re.Match[str], coverage: Finding) -> str | None:
    evidence, reached = coverage.evidence, int(found["threads"] or 1)
    rows, elements = _count(evidence, "rows"), _count(evidence, "elements")
    columns = elements // rows if rows else 0
    sides = (("rows", rows, _count(evidence, "rows_written") * columns), ("columns", columns, reached * rows))
    written = _count(evidence, "elements_written")
    for name, extent, must in sides:
        reaches = written == must and (name == "columns" or _count(evidence, "rows_written") == reached)
        if reached < extent and reaches and _launched(found, coverage, reached):
            launch = f"The launch on line {found['launch']} has extent {reached} along {found['axis']}"
            counted = "elements" if rows == 1 else name
            return f"{launch}, from which the kernel takes an index on line {found['index']}; {counted} written: " + (
                f"{reached:,} of {extent:,}."
            )
    return None


def _launched(found: re.Match[str], coverage: Finding, reached: int) -> bool:
    """Return whether the launches on that line, if known, have those extents along the axis."""
    own = [one for one in objects(coverage.evidence.get("launches")) if one.get("line") == int(found["launch"])]
    axis = "xyz".index(found["axis"])
    spans = [(one["grid"], one["block"]) for one in own]
    return all(_extent(grid, axis) == 1 and _extent(block, axis) == reached for grid, block in spans)


def _extent(sizes: object, axis: int) -> object:
    return sizes[axis] if isinstance(sizes, list) and len(sizes) == len("xyz") else None


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
    for entry in _entries(finding):
        shape = _key(sizes_of(entry.get("shape")) or shape_of(finding))
        wrong = entry.get("elements_wrong") or entry.get("elements_dead") or entry.get("elements_inherited")
        if entry.get("right", False) is False and wrong and shape:
            yield "as_many", shape, wrong
        if entry.get("right") is False and entry.get("index") is not None and shape:
            yield "worst_at", shape, str(entry["index"])
    if finding.probe == "coverage":
        lost = _count(finding.evidence, "elements") - _count(finding.evidence, "elements_written")
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


def _entries(finding: Finding) -> Iterator[dict[str, Any]]:
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
    found = [finding.shape, *(entry.get("shape") for entry in _entries(finding))]
    return [shape for one in found if (shape := sizes_of(one)) is not None]


def _key(shape: Shape | None) -> Hashable:
    return None if shape is None else tuple(sorted(shape.items()))


def _count(evidence: dict[str, Any], key: str) -> int:
    value = evidence.get(key)
    return value if isinstance(value, int) else 0
