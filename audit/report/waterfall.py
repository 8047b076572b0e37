"""From the published ratio, step by step, to the one that can be defended; a kernel that did not pass has none."""

from __future__ import annotations

from dataclasses import dataclass

from audit.judge import BASELINE
from audit.measure import DO_BENCH, compared, median_ms, speedup, strongest, wrong_baselines
from audit.measure.comparison import Comparison
from audit.model import Record
from audit.model.gpus import names_in
from audit.report.messages import Recorded, headings, message
from audit.report.quantities import NONE, interval, ratio
from audit.report.view import Table


@dataclass(frozen=True)
class Step:
    """One step: what is compared, the ratio with its interval, or why there is none."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    about: bool = False

    def shown(self) -> str:
        """Return the ratio as printed."""
        return NONE if self.value is None else ratio(self.value, about=self.about)

    def bounds(self) -> str:
        """Return the interval as printed; empty where there is none."""
        return interval(self.low, self.high)


def steps(record: Record) -> tuple[Step, ...]:
    """Return the steps; none where the claim publishes no ratio for this GPU or nothing was timed on it."""
    claim, here = record.claim.statement, names_in(record.device.name)
    published = next((one for one in claim.speedup if one.gpu in here), None)
    if published is None or claim.claimed is None or median_ms(record.measurements, BASELINE) is None:
        return ()
    first = Step(message("waterfall.published", gpu=published.gpu), published.ratio, about=published.about)
    states = {rung.variant: rung.state for rung in record.ladder}
    name, precision = claim.claimed.name, claim.claimed.precision
    if states.get(name) == "passed":
        again = speedup(record.measurements, name, BASELINE, DO_BENCH)
        ran = (Step(message("waterfall.claimed_as_published"), again),) if again else ()
        return (first, *ran, *_defended(record, name, precision))
    state = Recorded(states[name]) if name in states else message("summary.not_judged")
    stopped = Step(message("waterfall.claimed"), None, note=message("waterfall.no_speedup", state=state))
    right = _fastest(record, precision)
    return (first, stopped, *(_defended(record, right, precision) if right else ()))


def table(record: Record) -> Table | None:
    """Return the steps as a table; None without any."""
    rows = tuple((step.label, step.shown(), step.bounds(), step.note) for step in steps(record))
    columns = headings("step", "ratio", "interval", "note")
    return Table(message("waterfall.table"), columns, rows, frozenset({1, 2})) if rows else None


def _defended(record: Record, name: str, precision: str) -> tuple[Step, ...]:
    wrong = wrong_baselines(record.findings)
    best = strongest(record.measurements, precision, wrong=wrong)
    rivals = dict.fromkeys([BASELINE, *([best] if best else [])])
    found = [compared(record.measurements, name, rival) for rival in rivals if rival not in wrong]
    return tuple(_step(name, one) for one in found if one is not None)


def _step(name: str, one: Comparison) -> Step:
    against = "waterfall.against" if one.baseline == BASELINE else "waterfall.against_strongest"
    note = message("waterfall.inconclusive", doubt=Recorded(one.doubt)) if one.doubt else ""
    label = message(against, variant=name, baseline=one.baseline)
    return Step(label, one.ratio.value, one.ratio.low, one.ratio.high, note)


def _fastest(record: Record, precision: str) -> str | None:
    """Return the fastest passing variant of the claim's precision class."""
    rungs = [rung for rung in record.ladder if rung.state == "passed" and rung.precision == precision]
    timed = {rung.variant: rung.median_ms for rung in rungs if rung.median_ms is not None}
    return min(timed, key=lambda name: timed[name]) if timed else None
