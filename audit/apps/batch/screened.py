"""The pages of a funnel: items settled by stage, its time, and the items left. Pure functions of the states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from audit.apps.batch.screening import STAGES
from audit.apps.batch.state import ItemState, RunState, StageName
from audit.model import sanitizer
from audit.probes import PROBES
from audit.report import formats, html, markdown
from audit.report.view import Code, Figure, Report, Section, Table

MOST_SHOWN = 400
LEAST_SECONDS = 1.0
"""The least time that a rate is given for."""


@dataclass(frozen=True)
class StageCount:
    """One stage: items that came in and how they left; items and wall-clock seconds of the runs that came to their end.

    A run that was killed left its items and not its time.
    """

    stage: StageName
    title: str
    came: int
    settled: int
    left_out: int
    passed_on: int
    no_answer: int
    timed: int
    seconds: float

    @property
    def an_hour(self) -> float | None:
        """Items an hour; None where too little time passed to say."""
        return 3600 * self.timed / self.seconds if self.seconds >= LEAST_SECONDS else None


def write(run: RunState, items: Sequence[ItemState], out: Path) -> list[Path]:
    """Writes `funnel.md`, `funnel.html` and their figure. Raises BadInput as `formats.write`."""
    from audit.apps.batch import figures  # matplotlib takes half a second that a resumed run may not need at once

    drawn = figures.of_stages(by_stage(run, items))
    report = build(run, items, (drawn,))
    pages = {
        "funnel.md": markdown.render(report, figures=formats.FIGURES).encode(),
        "funnel.html": html.render(report).encode(),
    }
    return formats.write(pages, (drawn,), out)


def text(run: RunState, items: Sequence[ItemState]) -> str:
    """The counts for a terminal."""
    lines = [f"{sanitizer.line(run.collection)}: {len(items):,} items, {len(left(items)):,} of them not settled"]
    for one in by_stage(run, items):
        rate = f", {one.an_hour:,.0f} an hour" if one.an_hour else ""
        lines.append(
            f"  {one.title:<16} {one.came:>6,} in, {one.settled:>6,} settled, {one.left_out:>6,} left out, "
            f"{one.passed_on:>6,} passed on, {one.no_answer:>5,} no answer, {one.seconds:8.1f} s{rate}"
        )
    lines += [f"  settled as {verdict} at {stage}: {number:,}" for stage, verdict, number in by_verdict(items)]
    lines += [f"  left out, {why}: {number:,}" for why, number in left_out(items)]
    return "\n".join(map(sanitizer.row, lines))


def build(run: RunState, items: Sequence[ItemState], figures: tuple[Figure, ...]) -> Report:
    """The whole page."""
    settled, rest, out = [one for one in items if one.settled], left(items), left_out(items)
    number = sum(count for _, count in out)
    return Report(
        title=f"Funnel: {run.collection}",
        lead=f"{len(items):,} items: {len(settled):,} settled, {number:,} left out, {len(rest):,} not settled.",
        notice=None,
        footer=f"Made from the states of the items alone; inputs were drawn from seed {run.seed}.",
        sections=(
            Section("What was settled where", "stages", bullets=(*run.notes, *_machines(run)),
                    tables=(_stages(run, items),), figures=figures),
            Section("Verdicts", "verdicts", paragraphs=_about_verdicts(settled), tables=_verdicts(items)),
            Section("What each stage asks", "asks", facts=tuple((one.title, one.asks) for one in STAGES),
                    bullets=(f"The probes: {', '.join(PROBES)}.",)),
            _settled(settled),
            _left(rest),
            _left_out(items),
        ),
    )  # fmt: skip


def _machines(run: RunState) -> tuple[str, ...]:
    """A line for each machine, with the stages measured there."""
    machines: dict[str, list[str]] = {}
    for one in run.runs:
        machines.setdefault(one.machine, []).append(one.stage)
    return tuple(
        f"Measured on {machine}: {', '.join(dict.fromkeys(stages))}." for machine, stages in machines.items() if machine
    )


def _stages(run: RunState, items: Sequence[ItemState]) -> Table:
    rows = []
    for one in by_stage(run, items):
        counts = (one.came, one.settled, one.left_out, one.passed_on, one.no_answer)
        seconds = f"{one.seconds:,.1f} s" if one.came else "not yet"
        rate = f"{one.an_hour:,.0f}" if one.an_hour else ""
        rows.append((one.title, *(f"{count:,}" for count in counts), seconds, rate))
    columns = ("Stage", "Came in", "Settled", "Left out", "Passed on", "No answer", "Wall clock", "Items an hour")
    title = "Items by stage; an item that a stage has no answer to goes on to the next one"
    return Table(title, columns, tuple(rows), frozenset(range(1, 8)))


def _about_verdicts(settled: Sequence[ItemState]) -> tuple[str, ...]:
    if not settled:
        return ("Nothing is settled yet.",)
    return (
        "A verdict of an early stage rests on proof: a failure seen in two builds, or a time that no unit of the "
        "hardware allows. Hints and undefined behaviour settle nothing.",
    )


def _verdicts(items: Sequence[ItemState]) -> tuple[Table, ...]:
    titles = {stage.name: stage.title for stage in STAGES}
    rows = tuple((titles[stage], verdict, f"{number:,}") for stage, verdict, number in by_verdict(items))
    return (Table("Settled items by verdict", ("Stage", "Verdict", "Items"), rows, frozenset({2})),) if rows else ()


def _settled(settled: Sequence[ItemState]) -> Section:
    rows = tuple(
        (Code(one.item), one.settled.stage, one.settled.verdict, one.settled.reason) for one in settled if one.settled
    )
    columns = ("Item", "Stage", "Verdict", "First reason")
    return _listed("Settled, one by one", "settled", Table("Settled items", columns, rows))


def _left(rest: Sequence[ItemState]) -> Section:
    rows = tuple(
        (Code(one.item), *((one.last.stage, f"{one.hints:,}", one.last.reason) if one.last else ("none", "0", "")))
        for one in rest
    )
    columns = ("Item", "Came last through", "Hints", "What is missing")
    return _listed("Not settled", "left", Table("Items that no stage settled", columns, rows, frozenset({2})))


def _listed(title: str, slug: str, table: Table) -> Section:
    """A folded section with the first rows of a table, and how many there are."""
    whole = len(table.rows)
    more = f"; {whole - MOST_SHOWN:,} more are in the folder items" if whole > MOST_SHOWN else ""
    shown = (replace(table, rows=table.rows[:MOST_SHOWN]),) if whole else ()
    return Section(title, slug, paragraphs=(f"{whole:,} items{more}.",), tables=shown, folded=True)


def _left_out(items: Sequence[ItemState]) -> Section:
    rows = tuple((why, f"{number:,}") for why, number in left_out(items))
    table = Table("Items left out, since there is nothing to audit", ("Why", "Items"), rows, frozenset({1}))
    return Section("Left out", "left-out", paragraphs=() if rows else ("No item was left out.",),
                   tables=(table,) if rows else (), folded=True)  # fmt: skip


def by_stage(run: RunState, items: Sequence[ItemState]) -> list[StageCount]:
    """Every stage in order, those nothing came to as well."""
    return [_count(stage.name, stage.title, run, items) for stage in STAGES]


def by_verdict(items: Sequence[ItemState]) -> list[tuple[StageName, str, int]]:
    """Stage, verdict and number of what was settled, in the order of stages, the most first."""
    found = Counter((one.settled.stage, one.settled.verdict) for one in items if one.settled)
    order = [stage.name for stage in STAGES]
    rows = [(stage, verdict, number) for (stage, verdict), number in found.items()]
    return sorted(rows, key=lambda one: (order.index(one[0]), -one[2], one[1]))


def left(items: Sequence[ItemState]) -> list[ItemState]:
    """The items that no stage settled or left out."""
    return [one for one in items if one.settled is None and one.left_out is None]


def left_out(items: Sequence[ItemState]) -> list[tuple[str, int]]:
    """Reasons to leave items out, with the number of items, the most first."""
    return Counter(one.left_out.verdict for one in items if one.left_out).most_common()


def _count(name: StageName, title: str, run: RunState, items: Sequence[ItemState]) -> StageCount:
    outcomes = Counter(attempt.outcome for one in items for attempt in one.attempts if attempt.stage == name)
    runs = [one for one in run.runs if one.stage == name]
    return StageCount(
        stage=name,
        title=title,
        came=sum(outcomes.values()),
        settled=outcomes["settled"],
        left_out=outcomes["left out"],
        passed_on=outcomes["passed on"],
        no_answer=outcomes["no answer"],
        timed=sum(one.items for one in runs),
        seconds=sum(one.seconds for one in runs),
    )
