"""Measured times: what may be compared with what, and the speed that can be defended."""

from __future__ import annotations

import math
from statistics import median, quantiles

from audit.judge import BASELINE
from audit.measure import DO_BENCH, compared, strongest, wrong_baselines
from audit.measure.comparison import AGAIN, ELSEWHERE, PREFIX, Comparison, control, precision_of
from audit.measure.samples import REPEATED, found, least_ms, median_ms
from audit.model import Record
from audit.model.gpus import closest, names_in
from audit.report import evidence, messages, sizes, waterfall
from audit.report.messages import (
    NONE,
    NOT_MEASURED,
    UNKNOWN,
    Recorded,
    headings,
    joined,
    message,
    milliseconds,
    number,
    ratio,
    with_interval,
)
from audit.report.tables import state
from audit.report.view import Code, Figure, Section, Table
from audit.run.timing.ratios import LEAST_MS, interval

USUAL = ("T4", "L4", "A100")
"""GPUs that have a column in the table of do_bench, whatever was claimed: those of a notebook in the cloud."""
FIGURES = ("waterfall", "times", "size_times")


def section(record: Record, figures: tuple[Figure, ...]) -> Section:
    """Return every variant that passed and every baseline, the fastest first."""
    rows = tuple(_row(record, name) for name in by_time(record))
    columns = headings("what", "precision", "median", "interval", "against_eager", "against_strongest", "strongest",
                       "conclusion", "of_fp32_floor", "of_ceiling")  # fmt: skip
    numeric = frozenset({2, 3, 4, 5, 8, 9})
    table = Table(message("times.table", device=record.device.name), columns, rows, numeric)
    if rows:
        elsewhere = message("times.elsewhere", percent=number(100 * ELSEWHERE))
        checked = (*_controls(record), *_wrong(record), *_sizes(record))
        text = (message("times.interleaved"), *_processes(record), elsewhere, message("baseline.told"), *checked)
    else:
        text = (message("times.none", absent=NOT_MEASURED, device=Recorded(record.device.name)),)
    known = (_by_do_bench(record), _by_size(record))
    tables = (*([table] if rows else []), *(one for one in known if one))
    return Section(message("times.title"), "measured", paragraphs=text, tables=tables, figures=figures)


def by_time(record: Record) -> list[str]:
    """Return the baselines and the variants that passed, the fastest first."""
    every = dict.fromkeys(one.variant for one in record.measurements)
    taken = (name for name in every if not name.startswith(AGAIN) and found(record.measurements, name))
    names = [name for name in taken if _passed(record, name)]
    return sorted(names, key=lambda name: median_ms(record.measurements, name) or math.inf)


def honest(record: Record) -> str:
    """Return the time and the ratio that can be defended: of the claimed kernel, or of the fastest that passed."""
    claimed = record.claim.statement.claimed
    absent = message("times.none", absent=NOT_MEASURED, device=Recorded(record.device.name))
    name = waterfall.defended(record)
    if claimed is None or name is None:
        return absent
    steps = waterfall.ratios(record, name, claimed.precision)
    ratios = joined("comma", map(_over, steps))
    time = milliseconds(median_ms(record.measurements, name))
    about = {"time": time, "ratios": ratios, "device": record.device.name}
    technique = next((Recorded(one.technique) for one in record.claim.statement.variant if one.name == name), "")
    text = message("speed.another", variant=name, technique=technique, **about)
    text = message("speed.claimed", **about) if name == claimed.name else text
    return joined("blank", (text, sizes.told_times(record, name))) if steps else text


def _over(step: waterfall.Step) -> str:
    about = {"ratio": step.words(), "baseline": evidence.callable_title(step.rival)}
    return message("speed.over" if step.rival == BASELINE else "speed.over_strongest", **about)


def _named(name: str) -> str:
    return evidence.callable_title(name) if name.startswith(PREFIX) else Code(name)


def _row(record: Record, name: str) -> tuple[str, ...]:
    precision = _precision(record, name)
    middle = median_ms(record.measurements, name) or 0.0
    taken = found(record.measurements, name)[-1]
    bounds = interval(taken)
    wrong = wrong_baselines(record.findings)
    best = strongest(record.measurements, precision, wrong=wrong, beside=name)
    rival = None if best in (None, name) else compared(record.measurements, name, best or "")
    eager = None if name == BASELINE or BASELINE in wrong else compared(record.measurements, name, BASELINE)
    fp32_floor, _ = waterfall.floors_ms(record)
    return (
        *(_named(name), precision, milliseconds(middle)),
        NONE if bounds is None else message("form.interval_ms", low=number(bounds[0]), high=number(bounds[1])),
        *(_ratio(eager), _ratio(rival)),
        message("word.itself") if best == name else evidence.callable_title(best) if best else NONE,
        "" if rival is None else Recorded(rival.word),
        *(_share(least, middle) for least in (fp32_floor, _ceiling_ms(record, precision))),
    )


def _ratio(one: Comparison | None) -> str:
    return NONE if one is None else with_interval(ratio(one.ratio.value), one.ratio.low, one.ratio.high)


def _processes(record: Record) -> list[str]:
    """Return which ratio is pooled from several processes."""
    pooled = [one for one in record.measurements if one.protocol == REPEATED and not one.variant.startswith(PREFIX)]
    names = dict.fromkeys(one.variant for one in pooled if not one.variant.startswith(AGAIN))
    found = {name: compared(record.measurements, name, BASELINE) for name in names}
    return [
        message("times.processes", variant=name, count=number(one.ratio.processes))
        for name, one in found.items()
        if one is not None and one.ratio.processes > 1
    ]


def _controls(record: Record) -> list[str]:
    """Return the result of each callable that was timed twice."""
    texts: list[str] = []
    for session in dict.fromkeys(one.session for one in record.measurements if one.variant.startswith(AGAIN)):
        twice = control(record.measurements, session)
        if twice is not None:
            name, value = twice
            result = {"word": Recorded(value.word), "ratio": number(value.value)}
            texts.append(message("times.control", session=session, variant=evidence.callable_title(name), **result))
    return texts


def _wrong(record: Record) -> list[str]:
    names = joined("comma", map(evidence.callable_title, sorted(wrong_baselines(record.findings))))
    return [message("times.wrong_baselines", names=names)] if names else []


def _passed(record: Record, name: str) -> bool:
    """Return whether a variant of the claim passed; a baseline needs no probe."""
    variants = {variant.name for variant in record.claim.statement.variant}
    rung = record.rung(name)
    return name not in variants or (rung is not None and rung.state == "passed")


def _precision(record: Record, name: str) -> str:
    if name.startswith(PREFIX):
        return precision_of(name, record.measurements)
    return next((one.precision for one in record.claim.statement.variant if one.name == name), "fp32")


def _ceiling_ms(record: Record, precision: str) -> float | None:
    floor = waterfall.floor_here(record)
    flops, moved = evidence.real(floor, "flops"), evidence.real(floor, "bytes")
    if flops is None or moved is None:
        return None
    return least_ms(record.measurements, {"flops": flops, "bytes": moved}, precision)


def _share(least: float | None, middle: float) -> str:
    return UNKNOWN if least is None else f"{number(100 * least / max(middle, LEAST_MS))} %"


def _sizes(record: Record) -> list[str]:
    """Return what is known of the sizes beside the claimed one."""
    found = sizes.measured(record)
    return [messages.sentence(found.summary[:1].upper() + found.summary[1:])] if found else []


def _by_size(record: Record) -> Table | None:
    """Return the times at the claimed size and at those beside it; None where no other size was timed."""
    found = [(size, at, name) for size, at in sizes.by_size(record) for name in by_time(at)]
    if not found:
        return None
    rows = []
    for size, at, name in found:
        what, _, time, _, eager, rival, best, _, of_floor, _ = _row(at, name)
        rows.append((messages.shape(size), what, time, eager, rival, best, of_floor))
    columns = headings("size", "what", "median", "against_eager", "against_strongest", "strongest", "of_fp32_floor")
    return Table(message("times.sizes_table", device=record.device.name), columns, tuple(rows), frozenset({2, 3, 4, 6}))


def _by_do_bench(record: Record) -> Table | None:
    """Return every callable timed by `triton.testing.do_bench`, the fastest first, with a column for each GPU in
    question; None where none was."""
    taken = {one.variant: one.samples_ms for one in record.measurements if one.protocol == DO_BENCH}
    if not taken:
        return None
    here, gpus = _columns(record)
    rows = tuple(
        (_named(name), _state(record, name), *(_time(taken[name]) if gpu == here else NOT_MEASURED for gpu in gpus))
        for name in sorted(taken, key=lambda name: median(taken[name]))
    )
    title = message("times.do_bench", version=record.environment.packages.get("triton", UNKNOWN))
    return Table(title, (*headings("what", "state"), *gpus), rows, frozenset(range(2, 2 + len(gpus))))


def _columns(record: Record) -> tuple[str, tuple[str, ...]]:
    """Return the column of the GPU that timed, and all of them: this one, the usual, the claim's."""
    named = (*USUAL, *(one.gpu for one in record.claim.statement.speedup))
    known = names_in(record.device.name)
    here = next((gpu for gpu in named if gpu in known), closest(record.device.name) or record.device.name)
    return here, tuple(dict.fromkeys((here, *named)))


def _state(record: Record, name: str) -> str:
    if name.startswith(PREFIX):
        return message("word.baseline")
    return state(record.rung(name))


def _time(samples: tuple[float, ...]) -> str:
    """Return the median and, of more than one sample, the 20th and 80th percentile."""
    middle = milliseconds(median(samples))
    if len(samples) < 2:
        return middle
    fifths = quantiles(samples, n=5, method="inclusive")
    return with_interval(middle, fifths[0], fifths[-1])
