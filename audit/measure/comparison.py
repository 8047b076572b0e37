"""Compare a variant with a baseline: the ratio, its interval, and reasons to doubt it; and times with a floor."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from audit.measure.samples import OURS, REPEATED, SIZED, found, median_ms, ratio_to
from audit.model import Claim, Finding, Measurement
from audit.model.gpus import at_hand, table
from audit.run.timing.ratios import Ratio, Word, pooled, ratio

PREFIX = "baseline:"
EAGER = "eager"
"""The reference as published, of the baselines."""
AGAIN = "control:again:"
"""The prefix of the second name of the callable that a session times twice."""
TIMED_OUTPUTS = "timed_outputs"
PROCESSES = 6
"""The processes whose ratios are pooled: between the least and the greatest of six is the median with 31 / 32."""
NEARLY = 0.05
"""Baselines whose times differ by less than this share may change their order in the next session."""
ELSEWHERE = 0.02
"""The share by which the ratio of a kernel lay outside its interval at most on another host with the same GPU, in 388
of 390 cases; see `docs/measurement.md`."""
RANKS = {"fp32": 4, "split_fp16": 3, "tf32": 2, "fp16": 1, "bf16": 0}
"""Precision classes in order of the bits of the inputs that they keep: fp32 24, fp16 in two parts 22, TF32 11 in fp32's
range, fp16 11 in its own, bf16 8."""


@dataclass(frozen=True)
class Comparison:
    """A variant against a baseline; `doubt` says why nothing follows, None if something does."""

    baseline: str
    ratio: Ratio
    doubt: str | None

    @property
    def word(self) -> Word:
        """Faster, slower, same, or inconclusive where there is a doubt."""
        return "inconclusive" if self.doubt else self.ratio.word

    def sentence(self) -> str:
        """Return the ratio in words, with its interval, its blocks and its doubt."""
        text = f"{self.ratio.value:.2f}x"
        if self.ratio.low is not None and self.ratio.high is not None:
            over = f"{self.ratio.blocks} blocks"
            over = f"{self.ratio.processes} processes, {over}" if self.ratio.processes > 1 else over
            text += f" (95 % interval {self.ratio.low:.2f} to {self.ratio.high:.2f}, {over})"
        return text + (f"; inconclusive: {self.doubt}" if self.doubt else "")


def compared(measurements: Sequence[Measurement], variant: str, baseline: str) -> Comparison | None:
    """Return the comparison from `PROCESSES` repeated sessions whose control came out as the same, else from the last
    session with both; None without one."""
    both = ratio_to(measurements, variant, baseline)
    if both is None:
        return None
    value, session = both
    theirs = {one.session: one for one in found(measurements, baseline, REPEATED)}
    ratios = [
        ratio(one, theirs[one.session])
        for one in found(measurements, variant, REPEATED)
        if one.session in theirs and control_doubt(measurements, one.session, REPEATED) is None
    ]
    if len(ratios) >= PROCESSES:
        value = pooled(ratios)
        return Comparison(baseline, value, value.doubt)
    return Comparison(baseline, value, value.doubt or control_doubt(measurements, session))


def strongest(
    measurements: Sequence[Measurement],
    precision: str,
    *,
    wrong: frozenset[str] = frozenset(),
    beside: str | None = None,
) -> str | None:
    """Return the fastest baseline of that precision class or a better one, one of `RANKS`; None where none was timed.
    Those of `wrong` timed outputs are left out, and those timed in a session `beside` a variant are preferred."""
    fit = baselines_ms(measurements, precision, wrong=wrong, beside=beside)
    return min(fit, key=lambda name: fit[name]) if fit else None


def rivals(claim: Claim, known: Sequence[Measurement], sound: Collection[str]) -> tuple[str, ...]:
    """Return eager and, for each precision among the variants, the strongest known baselines."""
    precisions = {one.precision for one in claim.variant if one.name in sound}
    timed = [baselines_ms(known, precision) for precision in sorted(precisions)]
    best = [name for one in timed for name, ms in one.items() if ms <= (1 + NEARLY) * min(one.values())]
    return tuple(dict.fromkeys([EAGER, *(one.removeprefix(PREFIX) for one in best)]))


def absent(
    measurements: Sequence[Measurement], precision: str, *, wrong: frozenset[str] = frozenset(), beside: str
) -> str | None:
    """Return the strongest baseline if it is faster than all those timed in a session with the variant `beside`."""
    every = baselines_ms(measurements, precision, wrong=wrong)
    shared = baselines_ms(measurements, precision, wrong=wrong, beside=beside)
    best = min(every, key=lambda name: every[name], default=None)
    if best is None or (1 + NEARLY) * every[best] >= min(shared.values()):
        return None
    return best


def baselines_ms(
    measurements: Sequence[Measurement],
    precision: str,
    *,
    wrong: frozenset[str] = frozenset(),
    beside: str | None = None,
) -> dict[str, float]:
    """Return the median of each baseline that `strongest` chooses from, in milliseconds."""
    of: dict[str, list[Measurement]] = {}
    for one in measurements:
        if one.variant.startswith(PREFIX) and one.variant not in wrong:
            of.setdefault(one.variant, []).append(one)
    timed = {name: median_ms(own, name) for name, own in of.items()}
    fit = {name: ms for name, ms in timed.items() if ms is not None and _fits(precision_of(name, of[name]), precision)}
    sessions = {one.session for one in found(measurements, beside)} if beside else set()
    shared = {name: ms for name, ms in fit.items() if any(one.session in sessions for one in found(of[name], name))}
    return shared or fit


def precision_of(baseline: str, measurements: Iterable[Measurement] = ()) -> str:
    """Return the class that a baseline's last results at the claimed size showed, else that of its name. A name such as
    "baseline:eager_tf32" ends with the class; without one it is fp32."""
    own = (one for one in measurements if one.variant == baseline and one.protocol != SIZED)
    shown = [one.precision for one in own if one.precision]
    return shown[-1] if shown else next((one for one in RANKS if baseline.endswith(f"_{one}")), "fp32")


def wrong_baselines(findings: Iterable[Finding]) -> frozenset[str]:
    """Return the baselines with wrong timed outputs, if only for mixed contents: none can be the strongest."""
    wrong = (one for one in findings if one.probe == TIMED_OUTPUTS and one.outcome in ("fail", "error"))
    return frozenset(one.target for one in wrong if one.target.startswith(PREFIX))


def control(measurements: Iterable[Measurement], session: str, protocol: str = OURS) -> tuple[str, Ratio] | None:
    """Return the callable timed twice in a session and the ratio of the two; None where there is none."""
    own = tuple(one for one in measurements if one.session == session and one.protocol == protocol)
    for one in own:
        name = one.variant.removeprefix(AGAIN)
        first = tuple(other for other in own if other.variant == name) if name != one.variant else ()
        if first:
            return name, ratio(first[-1], one)
    return None


def control_doubt(measurements: Sequence[Measurement], session: str, protocol: str = OURS) -> str | None:
    """Return why a session's ratios cannot be trusted: the callable timed twice did not come out as the same."""
    twice = control(measurements, session, protocol)
    if twice is None:
        again = (one for one in measurements if AGAIN in one.variant)
        if any((one.session, one.protocol) == (session, protocol) for one in again):
            return "the first time of the callable timed twice is contradicted by another clock"
        return None
    name, value = twice
    if value.word == "same":
        return None
    return f"{name} timed twice in the session came out as {value.word} ({value.value:.3f}x), not as the same"


def _fits(baseline: str, precision: str) -> bool:
    """Return whether a baseline of that class is at least as precise as a variant of this one."""
    if precision not in RANKS:
        raise LookupError(f"unknown precision {precision}; known: {', '.join(RANKS)}")
    return RANKS[baseline] >= RANKS[precision]


FLOOR_HERE, UNDER_FLOOR = "floor_here", "under_floor"
UNDER = 0.95
"""A time is under a floor below this share of it: clocks above the data sheet's save a few percent."""
PRODUCTS = 3
"""The fewest products of a matrix unit's formats, of 11 bits, that make one with float32's 24."""


def floor_here(gpu: str, cost: dict[str, float]) -> Finding:
    """Return the floors of the GPU at hand for the claimed shape; a skip where the table lacks it."""
    chip = at_hand(gpu)
    if chip is None or not any(cost.values()):
        text = f"{gpu}: reference.py states no least work, so there is no floor"
        if chip is None:
            text = f"{gpu}: no data-sheet rates for this GPU, so no floor (known: {', '.join(table())})"
        return Finding(probe=FLOOR_HERE, target=gpu, outcome="skip", summary=text, evidence={**cost})
    memory_ms = chip.memory_ms(cost["bytes"])
    numbers: dict[str, JsonValue] = {
        "compute_floor_ms": chip.compute_ms(cost["flops"]),
        "memory_floor_ms": memory_ms,
        "floor_ms": max(chip.compute_ms(cost["flops"]), memory_ms),
        "matrix_unit_floor_ms": max(chip.fastest_compute_ms(cost["flops"]), memory_ms),
        "split_floor_ms": max(PRODUCTS * chip.fastest_compute_ms(cost["flops"]), memory_ms),
    }
    text = f"{gpu}: the stated work takes at least {numbers['floor_ms']:.3g} ms in fp32 ({chip.source})"
    return Finding(probe=FLOOR_HERE, target=gpu, outcome="pass", summary=text, evidence={**cost, **numbers})


def under_floor(measurements: Sequence[Measurement], floor: Finding, *, precisions: Mapping[str, str]) -> list[Finding]:
    """Return one failure for each time of a session below the floor of `floor_here`: the time, the floor or the stated
    work is wrong. For callables of class fp32 it is that of fp32 arithmetic or of split products on the fastest unit,
    whichever is lower; for others that of the fastest unit."""
    found = []
    floors = [floor.evidence.get(key) for key in ("floor_ms", "split_floor_ms", "matrix_unit_floor_ms")]
    known = [one for one in floors if isinstance(one, float)]
    for name, precision in precisions.items() if len(known) == len(floors) else ():
        if (ms := median_ms(measurements, name)) is None:
            continue
        *exact, fastest = known
        least = fastest if precision != "fp32" or ms < UNDER * fastest else min(exact)
        if ms >= UNDER * least:
            continue
        text = f"{ms:.4g} ms; with the accuracy of fp32 the stated work takes {least:.4g} ms at least on {floor.target}"
        if least == fastest:
            text = f"{ms:.4g} ms; on any unit of {floor.target} the stated work takes {least:.4g} ms at least"
        text += ": the clock, the stated work or the declared precision is wrong"
        evidence: dict[str, JsonValue] = {"ms": ms, "floor_ms": least, "precision": precision}
        found.append(Finding(probe=UNDER_FLOOR, target=name, outcome="fail", grade="hint", summary=text,
                             evidence=evidence))  # fmt: skip
    return found
