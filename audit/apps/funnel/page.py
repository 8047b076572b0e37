"""The summary of a funnel: what was settled where, in what time, and what is left. A pure function of the states."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from audit.apps.funnel import counts
from audit.apps.funnel.stages import STAGES
from audit.apps.funnel.state import FunnelState, ItemState
from audit.model import sanitizer
from audit.probes import PROBES
from audit.report import formats, html, markdown
from audit.report.view import Code, Figure, Report, Section, Table

MOST_SHOWN = 400
NONE_YET = "not yet"


def write(funnel: FunnelState, items: Sequence[ItemState], out: Path) -> list[Path]:
    """Writes `funnel.md`, `funnel.html` and their figure. Raises BadInput as `formats.write`."""
    from audit.apps.funnel import figure  # matplotlib takes half a second that a resumed run may not need at once

    drawn = figure.draw(counts.by_stage(funnel, items))
    report = build(funnel, items, (drawn,))
    pages = {
        "funnel.md": markdown.render(report, figures=formats.FIGURES).encode(),
        "funnel.html": html.render(report).encode(),
    }
    return formats.write(pages, (drawn,), out)


def text(funnel: FunnelState, items: Sequence[ItemState]) -> str:
    """The counts for a terminal."""
    lines = [
        f"{sanitizer.line(funnel.collection)}: {len(items):,} items, {len(counts.left(items)):,} of them not settled"
    ]
    for one in counts.by_stage(funnel, items):
        rate = f", {one.an_hour:,.0f} an hour" if one.an_hour else ""
        lines.append(
            f"  {one.title:<16} {one.came:>6,} in, {one.settled:>6,} settled, {one.left_out:>6,} left out, "
            f"{one.passed_on:>6,} passed on, {one.no_answer:>5,} no answer, {one.seconds:8.1f} s{rate}"
        )
    lines += [f"  settled as {verdict} at {stage}: {number:,}" for stage, verdict, number in counts.by_verdict(items)]
    lines += [f"  left out, {why}: {number:,}" for why, number in counts.left_out(items)]
    return "\n".join(map(sanitizer.row, lines))


def build(funnel: FunnelState, items: Sequence[ItemState], figures: tuple[Figure, ...]) -> Report:
    """The whole page."""
    settled, left, out = [one for one in items if one.settled], counts.left(items), counts.left_out(items)
    number = sum(count for _, count in out)
    return Report(
        title=f"Funnel: {funnel.collection}",
        lead=f"{len(items):,} items: {len(settled):,} settled, {number:,} left out, {len(left):,} not settled.",
        notice=None,
        footer=f"Made from the states of the items alone; inputs were drawn from seed {funnel.seed}.",
        sections=(
            Section("What was settled where", "stages", bullets=(*funnel.notes, *_machines(funnel)),
                    tables=(_stages(funnel, items),), figures=figures),
            Section("Verdicts", "verdicts", paragraphs=_about_verdicts(settled), tables=_verdicts(items)),
            Section("What each stage asks", "asks", facts=tuple((one.title, one.asks) for one in STAGES),
                    bullets=(f"The probes: {', '.join(PROBES)}.",)),
            _settled(settled),
            _left(left),
            _left_out(items),
        ),
    )  # fmt: skip


def _machines(funnel: FunnelState) -> tuple[str, ...]:
    """Where each stage's time passed: a line a machine, with its stages."""
    told: dict[str, list[str]] = {}
    for run in funnel.runs:
        told.setdefault(run.machine, []).append(run.stage)
    return tuple(
        f"Measured on {machine}: {', '.join(dict.fromkeys(stages))}." for machine, stages in told.items() if machine
    )


def _stages(funnel: FunnelState, items: Sequence[ItemState]) -> Table:
    rows = tuple(
        (
            one.title,
            f"{one.came:,}",
            f"{one.settled:,}",
            f"{one.left_out:,}",
            f"{one.passed_on:,}",
            f"{one.no_answer:,}",
            f"{one.seconds:,.1f} s" if one.came else NONE_YET,
            f"{one.an_hour:,.0f}" if one.an_hour else "",
        )
        for one in counts.by_stage(funnel, items)
    )
    columns = ("Stage", "Came in", "Settled", "Left out", "Passed on", "No answer", "Wall clock", "Items an hour")
    return Table(
        "Items by stage; what a stage has no answer to goes on to the next one", columns, rows, frozenset(range(1, 8))
    )


def _about_verdicts(settled: Sequence[ItemState]) -> tuple[str, ...]:
    if not settled:
        return ("Nothing is settled yet.",)
    return (
        "A verdict of an early stage rests on proof: a failure seen in two builds, or a time that no unit of the "
        "hardware allows. Hints and undefined behaviour settle nothing.",
    )


def _verdicts(items: Sequence[ItemState]) -> tuple[Table, ...]:
    titles = {stage.name: stage.title for stage in STAGES}
    rows = tuple((titles[stage], verdict, f"{number:,}") for stage, verdict, number in counts.by_verdict(items))
    return (Table("Settled items by verdict", ("Stage", "Verdict", "Items"), rows, frozenset({2})),) if rows else ()


def _settled(settled: Sequence[ItemState]) -> Section:
    rows = tuple(
        (Code(one.item), one.settled.stage, one.settled.verdict, " ".join(one.settled.reasons[:1]))
        for one in settled[:MOST_SHOWN]
        if one.settled
    )
    table = Table("Settled items", ("Item", "Stage", "Verdict", "First reason"), rows)
    return Section("Settled, one by one", "settled", paragraphs=_shown(len(settled), len(rows)),
                   tables=(table,) if rows else (), folded=True)  # fmt: skip


def _left(left: Sequence[ItemState]) -> Section:
    rows = tuple(
        (
            Code(one.item),
            one.last.stage if one.last else "none",
            f"{one.hints:,}",
            " ".join(one.last.reasons[:1]) if one.last else "",
        )
        for one in left[:MOST_SHOWN]
    )
    table = Table(
        "Items nothing settled", ("Item", "Came last through", "Hints", "What is missing"), rows, frozenset({2})
    )
    return Section("Not settled", "left", paragraphs=_shown(len(left), len(rows)), tables=(table,) if rows else (),
                   folded=True)  # fmt: skip


def _left_out(items: Sequence[ItemState]) -> Section:
    rows = tuple((why, f"{number:,}") for why, number in counts.left_out(items))
    table = Table("Items left out, since there is nothing to audit", ("Why", "Items"), rows, frozenset({1}))
    return Section("Left out", "left-out", paragraphs=() if rows else ("No item was left out.",),
                   tables=(table,) if rows else (), folded=True)  # fmt: skip


def _shown(whole: int, shown: int) -> tuple[str, ...]:
    more = f"; {whole - shown:,} more are in the folder items" if whole > shown else ""
    return (f"{whole:,} items{more}.",)
