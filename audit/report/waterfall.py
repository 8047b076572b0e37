"""From the published ratio, step by step, to the one that can be defended; an uncleared kernel never has one."""

from __future__ import annotations

from dataclasses import dataclass

from audit.judge import BASELINE
from audit.measure import DO_BENCH, compared, median_ms, speedup, strongest, wrong_baselines
from audit.measure.comparison import Comparison
from audit.model import Record
from audit.model.gpus import names_in
from audit.report.quantities import number, ratio
from audit.report.said import Told, say
from audit.report.view import Table

NO_SPEEDUP = say("none")


@dataclass(frozen=True)
class Step:
    """One step: what is compared, the ratio with its interval, or why there is none."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    about: bool = False

    def told(self) -> str:
        """The ratio as printed."""
        return NO_SPEEDUP if self.value is None else ratio(self.value, about=self.about)

    def bounds(self) -> str:
        """The interval as printed; empty where there is none."""
        if self.low is None or self.high is None:
            return ""
        return say("{low} to {high}", low=number(self.low), high=number(self.high))


def steps(record: Record) -> tuple[Step, ...]:
    """The steps; none where the claim publishes no ratio for this GPU or nothing was timed on it."""
    claim, here = record.claim.statement, names_in(record.device.name)
    published = next((one for one in claim.speedup if one.gpu in here), None)
    if published is None or claim.claimed is None or median_ms(record.measurements, BASELINE) is None:
        return ()
    first = Step(say("published for {gpu}", gpu=published.gpu), published.ratio, about=published.about)
    states = {rung.variant: rung.state for rung in record.ladder}
    name = claim.claimed.name
    if states.get(name) == "cleared":
        again = speedup(record.measurements, name, BASELINE, DO_BENCH)
        ran = (Step(say("claimed kernel here, published protocol"), again),) if again else ()
        return (first, *ran, *_defended(record, name, claim.claimed.precision))
    state = Told(states[name]) if name in states else say("not judged")
    stopped = Step(say("claimed kernel here"), None, note=say("{state}: no speedup of it is reported", state=state))
    right = _fastest(record, claim.claimed.precision)
    return (first, stopped, *(_defended(record, right, claim.claimed.precision) if right else ()))


def table(record: Record) -> Table | None:
    """The steps as a table; None without any."""
    rows = tuple((step.label, step.told(), step.bounds(), step.note) for step in steps(record))
    columns = (say("Step"), say("Ratio"), say("95 % interval"), say("Note"))
    caption = say("From the published ratio to the one that can be defended")
    return Table(caption, columns, rows, frozenset({1, 2})) if rows else None


def _defended(record: Record, name: str, precision: str) -> tuple[Step, ...]:
    wrong = wrong_baselines(record.findings)
    best = strongest(record.measurements, precision, wrong=wrong)
    rivals = dict.fromkeys([BASELINE, *([best] if best else [])])
    found = [compared(record.measurements, name, rival) for rival in rivals if rival not in wrong]
    return tuple(_step(name, one) for one in found if one is not None)


def _step(name: str, one: Comparison) -> Step:
    best = one.baseline != BASELINE
    text = "{variant} against {baseline}, the strongest" if best else "{variant} against {baseline}"
    label = say(text, variant=name, baseline=one.baseline)
    note = say("inconclusive: {doubt}", doubt=Told(one.doubt)) if one.doubt else ""
    return Step(label, one.ratio.value, one.ratio.low, one.ratio.high, note)


def _fastest(record: Record, precision: str) -> str | None:
    """The fastest cleared variant of the claim's precision class."""
    rungs = [rung for rung in record.ladder if rung.state == "cleared" and rung.precision == precision]
    timed = {rung.variant: rung.median_ms for rung in rungs if rung.median_ms is not None}
    return min(timed, key=lambda name: timed[name]) if timed else None
