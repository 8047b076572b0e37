"""The claim as stated: source, ratios, baseline, protocol."""

from __future__ import annotations

from audit.model import Record
from audit.report.quantities import NOT_PUBLISHED, milliseconds, ratio, shape
from audit.report.view import Code, Link, Section, Table


def lead(record: Record) -> str:
    """The claim in one line."""
    claim = record.claim.statement
    ratios = ", ".join(f"{one.gpu} {ratio(one.ratio, about=one.about)}" for one in claim.speedup)
    told = f"Claimed speedup: {ratios}" if ratios else "No ratio is published"
    return f"{told}; baseline {claim.baseline}; {shape(claim.shapes.claimed)}, {claim.dtype}."


def section(record: Record) -> Section:
    """What was claimed, where, against what and how it was evaluated."""
    claim = record.claim.statement
    source = claim.source
    facts: list[tuple[str, str]] = [
        ("Task", claim.task),
        ("Source", f"{source.authors}, {source.title} ({source.published})"),
        ("Address", Link(source.url)),
        ("Kernel audited", f"{source.fidelity}: {source.note}"),
        ("Baseline", claim.baseline),
        ("Claimed shape", f"{shape(claim.shapes.claimed)}, {claim.dtype}"),
    ]
    if claim.protocol.flags:
        facts.append(("Compiler flags", Code(" ".join(claim.protocol.flags))))
    steps = tuple(f"Published step {number}: {step}" for number, step in enumerate(claim.protocol.steps, 1))
    return Section(
        "The claim as stated", "claim", facts=tuple(facts), bullets=steps, tables=(_ratios(record),), folded=True
    )


def _ratios(record: Record) -> Table:
    claim = record.claim.statement
    seen = {observation.gpu: observation for observation in claim.observation}
    ratios = {one.gpu: ratio(one.ratio, about=one.about) for one in claim.speedup}
    rows = []
    for gpu in (*ratios, *(gpu for gpu in seen if gpu not in ratios)):
        one = seen.get(gpu)
        kernel = milliseconds(one.kernel_ms if one else None, absent=NOT_PUBLISHED)
        baseline = milliseconds(one.baseline_ms if one else None, absent=NOT_PUBLISHED)
        rows.append((gpu, ratios.get(gpu, "none"), kernel, baseline, one.by if one else "nobody"))
    columns = ("GPU", "Claimed ratio", "Kernel time reported", "Baseline time reported", "Times reported by")
    return Table("Claimed ratio and reported times for each GPU", columns, tuple(rows), frozenset({1, 2, 3}))
