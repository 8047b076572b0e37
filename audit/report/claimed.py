"""The claim as stated: source, ratios, baseline, protocol."""

from __future__ import annotations

from audit.claims.importers.writer import NOT_STATED
from audit.model import Claim, Observation, Record, Speedup
from audit.report.messages import (
    NONE,
    NOT_PUBLISHED,
    Recorded,
    headings,
    joined,
    message,
    milliseconds,
    ratio,
    sentence,
    shape,
)
from audit.report.view import Code, Link, Section, Table


def lead(record: Record) -> str:
    """Return the claim in one line."""
    claim = record.claim.statement
    ratios = [
        message("form.ratio_on_gpu", gpu=one.gpu, ratio=ratio(one.ratio, about=one.about)) for one in claim.ratios
    ]
    dtype = () if claim.dtype in claim.baseline else (claim.dtype,)
    who = dict.fromkeys(one.by or claim.source.authors for one in claim.ratios) or (claim.source.authors,)
    return message(
        "claim.lead" if ratios else "claim.lead_given" if claim.source.fidelity == "given" else "claim.lead_without",
        authors=joined("comma", (message("claim.unnamed") if one == NOT_STATED else Recorded(one) for one in who)),
        audited=message(f"claim.{claim.source.fidelity}"),
        **({"ratios": joined("comma", ratios)} if ratios else {}),
        baseline=Recorded(claim.baseline),
        shape=joined("comma", (shape(claim.shapes.claimed), *dtype)),
    )


def section(record: Record) -> Section:
    """Return what is claimed, where, against what and how it was evaluated."""
    claim, source = record.claim.statement, record.claim.statement.source
    fidelity, note = Recorded(source.fidelity), sentence(source.note)
    facts: list[tuple[str, str]] = [
        (message("claim.task"), Recorded(claim.task)),
        (message("claim.source"), message("claim.published_by", authors=source.authors, title=Recorded(source.title),
                                          published=source.published)),
        (message("claim.address"), Link(source.url)),
        (message("claim.kernel"), message("form.fidelity_note", fidelity=fidelity, note=note)),
        (message("claim.baseline"), Recorded(claim.baseline)),
        (message("claim.shape"), joined("comma", (shape(claim.shapes.claimed), claim.dtype))),
    ]  # fmt: skip
    if claim.protocol.flags:
        facts.append((message("claim.flags"), Code(" ".join(claim.protocol.flags))))
    steps = enumerate(claim.protocol.steps, 1)
    bullets = tuple(message("claim.step", number=str(number), step=Recorded(step)) for number, step in steps)
    return Section(message("claim.title"), "claim", facts=tuple(facts), bullets=bullets, tables=_ratios(claim),
                   folded=True)  # fmt: skip


def _ratios(claim: Claim) -> tuple[Table, ...]:
    """Return every number with who states it and where; nothing where no number is published. Those of another shape
    than the claimed one name it beside their GPU."""
    stated = {one.gpu: one for one in claim.ratios}
    seen = {one.gpu: one for one in claim.observation}
    rows = []
    for gpu in dict.fromkeys((*stated, *seen)):
        one, other = stated.get(gpu), seen.get(gpu)
        times = (other.kernel_ms, other.baseline_ms) if other else (None, None)
        rows.append(
            (
                *(gpu, ratio(one.ratio, about=one.about) if one else NONE, _by(claim, one)),
                *(milliseconds(time, absent=NOT_PUBLISHED) for time in times),
                _by(claim, other),
            )
        )
    for one in claim.other_ratios:
        named = joined("comma", (one.gpu, shape(one.shape or {})))
        about = ratio(one.ratio, about=one.about)
        rows.append((named, about, _by(claim, one), NOT_PUBLISHED, NOT_PUBLISHED, message("word.nobody")))
    columns = headings("gpu", "claimed_ratio", "ratio_stated_by", "kernel_time_reported", "baseline_time_reported",
                       "times_reported_by")  # fmt: skip
    return (Table(message("claim.table"), columns, tuple(rows), frozenset({1, 3, 4})),) if rows else ()


def _by(claim: Claim, number: Speedup | Observation | None) -> str:
    if number is None:
        return message("word.nobody")
    who = Recorded(number.by or claim.source.authors)
    where = (number.url,) if number.url and number.url != claim.source.url else ()
    note = (Recorded(number.note),) if isinstance(number, Observation) and number.note else ()
    return joined("semicolon", (who, *where, *note)) if where or note else who
