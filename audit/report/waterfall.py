"""From the published ratio, step by step, to the one that can be defended; a kernel that did not pass has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from audit.judge.answers import BASELINE, published_here
from audit.measure import DO_BENCH, OURS, compared, median_ms, speedup, strongest, wrong_baselines
from audit.measure.comparison import Comparison
from audit.measure.samples import ratio_to
from audit.model import Finding, Record
from audit.report import evidence
from audit.report.messages import NONE, Recorded, message, milliseconds, ratio, with_interval
from audit.report.tables import state


@dataclass(frozen=True)
class Step:
    """One step: what is compared, the ratio with its 95 % interval from `low` to `high`, or why there is none."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""  # why the ratio is in doubt or absent
    about: bool = False  # whether it was published as a round number
    rival: str = ""  # the baseline
    rests: str = ""  # the times that the step rests on, in words
    limit: float | None = None  # the most that the floors allow over the same baseline
    kind: Literal["published", "limit", "measured"] = "measured"  # by others, set by the hardware, or taken here

    def words(self) -> str:
        """Return the ratio with its interval and its doubt, or why there is none."""
        if self.value is None:
            return self.note
        shown = with_interval(self.shown(), self.low, self.high)
        return message("form.ratio_inconclusive", ratio=shown) if self.note else shown

    def shown(self) -> str:
        """Return the ratio as printed."""
        return NONE if self.value is None else ratio(self.value, about=self.about)


def steps(record: Record) -> tuple[Step, ...]:
    """Return the steps; none where the claim publishes no ratio for this GPU or nothing was timed on it.

    A limit is a step of its own where the published ratio lies above it.
    """
    claim, published = record.claim.statement, published_here(record)
    if published is None or claim.claimed is None or median_ms(record.measurements, BASELINE) is None:
        return ()
    label, rests = message("waterfall.published", gpu=published.gpu), message("waterfall.not_measured")
    over = limits(record, claim.claimed.precision)
    first = Step(label, published.ratio, about=published.about, rests=rests, kind="published",
                 limit=over[-1].value if over else None)  # fmt: skip
    above = tuple(one for one in over if one.value is not None and one.value < published.ratio)
    return (first, *above, *_measured(record, claim.claimed.name, claim.claimed.precision))


def limits(record: Record, precision: str) -> tuple[Step, ...]:
    """Return the most that the floors of this GPU allow over eager: on any unit, and less where fp32 is claimed."""
    eager = median_ms(record.measurements, BASELINE)
    if eager is None or BASELINE in wrong_baselines(record.findings):
        return ()
    fp32, any_unit = floors_ms(record)
    known = {"waterfall.limit_any": any_unit} | ({"waterfall.limit_fp32": fp32} if precision == "fp32" else {})
    if fp32 == any_unit:
        known.pop("waterfall.limit_fp32", None)
    return tuple(_limit(key, eager, floor) for key, floor in known.items() if floor)


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
    """Return the steps of a variant, one a comparison."""
    return tuple(_step(record, name, one, precision) for one in comparisons(record, name, precision))


def comparisons(record: Record, name: str, precision: str) -> list[Comparison]:
    """Return a variant compared with eager and with the strongest baseline of that precision class."""
    wrong = wrong_baselines(record.findings)
    best = strongest(record.measurements, precision, wrong=wrong, beside=name)
    rivals = dict.fromkeys(one for one in (BASELINE, best) if one and one not in wrong)
    return [found for one in rivals if (found := compared(record.measurements, name, one)) is not None]


def floors_ms(record: Record) -> tuple[float | None, float | None]:
    """Return the floors of the record's own GPU, in fp32 arithmetic and on any unit; None for an unknown one."""
    floor = floor_here(record)
    return evidence.real(floor, "floor_ms"), evidence.real(floor, "matrix_unit_floor_ms")


def floor_here(record: Record) -> Finding | None:
    """Return the floor of the GPU that timed."""
    return next((one for one in record.findings if one.probe == "floor_here"), None)


def _measured(record: Record, name: str, precision: str) -> tuple[Step, ...]:
    """Return the steps that were timed here: the claimed kernel, or that it has no ratio and what can be had."""
    right = defended(record)
    if right == name:
        again = speedup(record.measurements, name, BASELINE, DO_BENCH)
        rests = _times(record, name, BASELINE, DO_BENCH)
        ran = (Step(message("waterfall.claimed_as_published"), again, rests=rests),) if again else ()
        return (*ran, *ratios(record, name, precision))
    taken = median_ms(record.measurements, name, DO_BENCH)
    rests = message("waterfall.time_alone", time=milliseconds(taken)) if taken is not None else ""
    note = message("waterfall.no_speedup", state=state(record.rung(name)))
    stopped = Step(message("waterfall.claimed"), None, note=note, rests=rests)
    return (stopped, *(ratios(record, right, precision) if right else ()))


def _limit(key: str, eager: float, floor: float) -> Step:
    about = evidence.callable_title(BASELINE)
    rests = message("waterfall.rests_floor", baseline=about, time=milliseconds(eager), floor=milliseconds(floor))
    return Step(message(key, baseline=about), eager / floor, rests=rests, limit=eager / floor, kind="limit")


def _step(record: Record, name: str, one: Comparison, precision: str) -> Step:
    against = "waterfall.against" if one.baseline == BASELINE else "waterfall.against_strongest"
    note = message("waterfall.inconclusive", doubt=Recorded(one.doubt)) if one.doubt else ""
    label = message(against, variant=name, baseline=evidence.callable_title(one.baseline))
    fp32, any_unit = floors_ms(record)
    floor, rival_ms = fp32 if precision == "fp32" else any_unit, median_ms(record.measurements, one.baseline)
    return Step(label, one.ratio.value, one.ratio.low, one.ratio.high, note, rival=one.baseline,
                rests=_times(record, name, one.baseline, OURS),
                limit=rival_ms / floor if floor and rival_ms else None)  # fmt: skip


def _times(record: Record, name: str, baseline: str, protocol: str) -> str:
    """Return both medians of the last session that has both."""
    both = ratio_to(record.measurements, name, baseline, protocol)
    session = None if both is None else both[1]
    own = [one for one in record.measurements if one.session == session]
    times = {f"{which}_ms": milliseconds(median_ms(own, one, protocol))
             for which, one in (("variant", name), ("baseline", baseline))}  # fmt: skip
    return message("waterfall.rests", baseline=evidence.callable_title(baseline), **times)
