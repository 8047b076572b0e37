"""Root causes that several findings prove together: a launch, a lower precision, a line of the source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from audit.judge.causes import count_of, entries_of
from audit.judge.evidence import deciding_about, objects
from audit.model import Finding, Record
from audit.probes import claimed_launches
from audit.probes.concluding.behaviour import is_own

GEOMETRY = "launch_geometry"
SPANS_ONE = re.compile(
    r"forms an index from blockIdx\.(?P<axis>[xyz]) and threadIdx\.[xyz] \(line (?P<index>\d+)\), but grid and block "
    r"of the launch on line (?P<launch>\d+) have extents? (?:1 along|1 and (?P<threads>\d+) along)"
)
"""The text of the source rule of that name: an axis that the kernel indexes and the launch does not span."""
OF_ANY_FAILURE = ("review.unchecked_launch", "review.legacy_stream")
"""Rules of the source review that hold for many right kernels, so that they explain no failure."""
PRECISION = "precision"
ROUNDED = 2.0**-5
"""The largest relative error by rounding in a sum of products that do not cancel; bf16 has 2**-8."""
ALIKE = 0.01
"""The difference of relative errors, as a share of them, up to which they are one factor."""
NEAR_BITS = 1.0
"""Effective bits within which a result has as many as a format leaves; other errors have any number of bits."""


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
    entries = (entry for one in known if one.outcome == "fail" and one.grade != "hint" for entry in entries_of(one))
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
    rows, elements = count_of(evidence, "rows"), count_of(evidence, "elements")
    columns = elements // rows if rows else 0
    sides = (("rows", rows, count_of(evidence, "rows_written") * columns), ("columns", columns, reached * rows))
    written = count_of(evidence, "elements_written")
    for name, extent, must in sides:
        reaches = written == must and (name == "columns" or count_of(evidence, "rows_written") == reached)
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
