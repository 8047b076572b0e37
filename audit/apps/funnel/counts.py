"""What became of the items, stage by stage; pure functions of their states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from audit.apps.funnel.stages import STAGES
from audit.apps.funnel.state import FunnelState, ItemState, StageName

LEAST_SECONDS = 1.0
"""Of less no rate is told."""


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


def by_stage(funnel: FunnelState, items: Sequence[ItemState]) -> list[StageCount]:
    """Every stage in order, those nothing came to as well."""
    return [_count(stage.name, stage.title, funnel, items) for stage in STAGES]


def by_verdict(items: Sequence[ItemState]) -> list[tuple[StageName, str, int]]:
    """Stage, verdict and number of what was settled, in the order of stages, the most first."""
    found = Counter((one.settled.stage, one.settled.verdict) for one in items if one.settled)
    order = [stage.name for stage in STAGES]
    told = [(stage, verdict, number) for (stage, verdict), number in found.items()]
    return sorted(told, key=lambda one: (order.index(one[0]), -one[2], one[1]))


def left(items: Sequence[ItemState]) -> list[ItemState]:
    """What nothing settled and nobody left out."""
    return [one for one in items if not one.ended]


def left_out(items: Sequence[ItemState]) -> list[tuple[str, int]]:
    """Why items were left out, and how many, the most first."""
    return Counter(one.left_out.verdict for one in items if one.left_out).most_common()


def _count(name: StageName, title: str, funnel: FunnelState, items: Sequence[ItemState]) -> StageCount:
    outcomes = Counter(passage.outcome for one in items for passage in one.passages if passage.stage == name)
    runs = [run for run in funnel.runs if run.stage == name]
    return StageCount(
        stage=name,
        title=title,
        came=sum(outcomes.values()),
        settled=outcomes["settled"],
        left_out=outcomes["left out"],
        passed_on=outcomes["passed on"],
        no_answer=outcomes["no answer"],
        timed=sum(run.items for run in runs),
        seconds=sum(run.seconds for run in runs),
    )
