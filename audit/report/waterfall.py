"""From the published ratio, step by step, to the one that can be defended; a kernel that did not pass has none."""

from __future__ import annotations

from dataclasses import dataclass

from audit.judge import BASELINE
from audit.measure import DO_BENCH, compared, median_ms, speedup, strongest, wrong_baselines
from audit.measure.comparison import Comparison
from audit.model import Record
from audit.model.gpus import names_in
from audit.report.messages import Recorded, message
from audit.report.quantities import NONE, interval, ratio
from audit.report.tables import state


@dataclass(frozen=True)
class Step:
    """One step: what is compared, the ratio with its interval, or why there is none."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    about: bool = False
    rival: str = ""

    def words(self) -> str:
        """Return the ratio with its interval and its doubt, or why there is none."""
        if self.value is None:
            return self.note
        bounds, value = self.bounds(), self.shown()
        shown = message("form.ratio_bounds", ratio=value, bounds=bounds) if bounds else value
        return message("form.ratio_inconclusive", ratio=shown) if self.note else shown

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
    rungs = {rung.variant: rung for rung in record.ladder}
    name, precision = claim.claimed.name, claim.claimed.precision
    right = defended(record)
    if right == name:
        again = speedup(record.measurements, name, BASELINE, DO_BENCH)
        ran = (Step(message("waterfall.claimed_as_published"), again),) if again else ()
        return (first, *ran, *ratios(record, name, precision))
    stand = state(rungs[name]) if name in rungs else message("state.not_judged")
    stopped = Step(message("waterfall.claimed"), None, note=message("waterfall.no_speedup", state=stand))
    return (first, stopped, *(ratios(record, right, precision) if right else ()))


def defended(record: Record) -> str | None:
    """Return the claimed kernel where it passed and was timed, else the fastest of its precision class that did."""
    claimed = record.claim.statement.claimed
    passed = [rung for rung in record.ladder if rung.state == "passed" and rung.median_ms is not None]
    if claimed is None:
        return None
    if any(rung.variant == claimed.name for rung in passed):
        return claimed.name
    alike = [rung for rung in passed if rung.precision == claimed.precision]
    return min(alike, key=lambda rung: rung.median_ms or 0.0).variant if alike else None


def ratios(record: Record, name: str, precision: str) -> tuple[Step, ...]:
    """Return a variant's ratio to eager and to the strongest baseline of that precision class."""
    wrong = wrong_baselines(record.findings)
    best = strongest(record.measurements, precision, wrong=wrong)
    rivals = dict.fromkeys([BASELINE, *([best] if best else [])])
    found = [compared(record.measurements, name, rival) for rival in rivals if rival not in wrong]
    return tuple(_step(name, one) for one in found if one is not None)


def _step(name: str, one: Comparison) -> Step:
    against = "waterfall.against" if one.baseline == BASELINE else "waterfall.against_strongest"
    note = message("waterfall.inconclusive", doubt=Recorded(one.doubt)) if one.doubt else ""
    label = message(against, variant=name, baseline=one.baseline)
    return Step(label, one.ratio.value, one.ratio.low, one.ratio.high, note, rival=one.baseline)
