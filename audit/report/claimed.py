"""The claim as stated: source, ratios, baseline, protocol."""

from __future__ import annotations

from audit.model import Claim, Observation, Record, Speedup
from audit.report.quantities import NOT_PUBLISHED, milliseconds, ratio, sentence, shape
from audit.report.said import Told, listed, say
from audit.report.view import Code, Link, Section, Table


def lead(record: Record) -> str:
    """The claim in one line."""
    claim = record.claim.statement
    ratios = [say("{gpu} {ratio}", gpu=one.gpu, ratio=ratio(one.ratio, about=one.about)) for one in claim.speedup]
    return say(
        "{claim}; baseline {baseline}; {shape}, {dtype}.",
        claim=say("Claimed speedup: {ratios}", ratios=listed(", ", ratios)) if ratios else say("No ratio is published"),
        baseline=Told(claim.baseline),
        shape=shape(claim.shapes.claimed),
        dtype=claim.dtype,
    )


def section(record: Record) -> Section:
    """What was claimed, where, against what and how it was evaluated."""
    claim = record.claim.statement
    source = claim.source
    facts: list[tuple[str, str]] = [
        (say("Task"), Told(claim.task)),
        (say("Source"), _source(record)),
        (say("Address"), Link(source.url)),
        (say("Kernel audited"), say("{fidelity}: {note}", fidelity=Told(source.fidelity), note=sentence(source.note))),
        (say("Baseline"), Told(claim.baseline)),
        (say("Claimed shape"), listed(", ", (shape(claim.shapes.claimed), claim.dtype))),
    ]
    if claim.protocol.flags:
        facts.append((say("Compiler flags"), Code(" ".join(claim.protocol.flags))))
    steps = tuple(
        say("Published step {number}: {step}", number=str(number), step=Told(step))
        for number, step in enumerate(claim.protocol.steps, 1)
    )
    title = say("The claim as stated")
    return Section(title, "claim", facts=tuple(facts), bullets=steps, tables=(_ratios(record),), folded=True)


def _source(record: Record) -> str:
    source = record.claim.statement.source
    return say("{authors}, {title} ({published})", authors=source.authors, title=Told(source.title),
               published=source.published)  # fmt: skip


def _ratios(record: Record) -> Table:
    """Every number with who states it and where."""
    claim = record.claim.statement
    stated = {one.gpu: one for one in claim.speedup}
    seen = {one.gpu: one for one in claim.observation}
    rows = []
    for gpu in dict.fromkeys((*stated, *seen)):
        one, other = stated.get(gpu), seen.get(gpu)
        rows.append(
            (
                gpu,
                ratio(one.ratio, about=one.about) if one else say("none"),
                _by(claim, one),
                milliseconds(other.kernel_ms if other else None, absent=NOT_PUBLISHED),
                milliseconds(other.baseline_ms if other else None, absent=NOT_PUBLISHED),
                _by(claim, other),
            )
        )
    columns = (say("GPU"), say("Claimed ratio"), say("Ratio stated by"), say("Kernel time reported"),
               say("Baseline time reported"), say("Times reported by"))  # fmt: skip
    return Table(say("Claimed ratio and reported times for each GPU"), columns, tuple(rows), frozenset({1, 3, 4}))


def _by(claim: Claim, number: Speedup | Observation | None) -> str:
    """Who states a number, where, and how it is known."""
    if number is None:
        return say("nobody")
    who = Told(number.by or claim.source.authors)
    where = (number.url,) if number.url and number.url != claim.source.url else ()
    note = (Told(number.note),) if isinstance(number, Observation) and number.note else ()
    return listed("; ", (who, *where, *note)) if where or note else who
