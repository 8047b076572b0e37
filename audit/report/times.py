"""Measured times: what may be compared with what, and every timing as it was taken."""

from __future__ import annotations

from audit.gpus import names_in
from audit.judge import BASELINE
from audit.measure import OURS, compared, strongest, wrong_baselines
from audit.measure.ceilings import least_ms
from audit.measure.comparison import AGAIN, PREFIX, Comparison, control, precision_of
from audit.measure.protocols import HOT
from audit.measure.samples import found, median_ms, series
from audit.measure.statistics import interval, outliers
from audit.model import Finding, Measurement, Record
from audit.report import evidence, waterfall
from audit.report.quantities import NOT_MEASURED, middle, milliseconds, number, ratio, shape
from audit.report.view import Code, Figure, Section, Table

INTERLEAVED = (
    "Each median is of CUDA events around single calls with the L2 cache overwritten before each, inputs rotating, all "
    "callables of a session interleaved in blocks of random order. A ratio is the baseline's median over the "
    "variant's in one session, with a 95 % interval from a bootstrap over blocks; it is called faster or slower only "
    "if the whole interval lies more than 2 % from one, the same if all of it is within 2 %."
)
ONE_BY_ONE = (
    "Each median is of CUDA events around single calls with the L2 cache overwritten before each; the callables were "
    "timed one after another, so ratios of medians have no interval and are inconclusive."
)
READING = (
    "The strongest baseline is the fastest of those timed that is as precise as the variant or more. Of a floor: the "
    "data-sheet floor of this GPU for the stated work over the median; only work on the matrix units can pass 100 % of "
    "the fp32 floor, only what leaves a part of the stated work out can pass 100 % of the other. Of the ceiling: the "
    "same with what PyTorch's own copy and matrix product of the variant's precision reached in the session. A kernel "
    "that is not cleared has no speedup."
)
COLUMNS = ("What", "Precision", "Samples", "Median", "95 % interval", "Median, L2 hot", "Against eager",
           "Against the strongest", "Which is", "Said", "Of the fp32 floor", "Of the matrix-unit floor",
           "Of the ceiling")  # fmt: skip


def measured(record: Record, figures: tuple[Figure, ...]) -> Section:
    """From the published number to the defensible one, then every cleared variant and baseline."""
    names = dict.fromkeys(one.variant for one in record.measurements if _counts(record, one))
    rows = tuple(_row(record, name) for name in names)
    table = Table(f"Times on {record.device.name}", COLUMNS, rows, frozenset({2, 3, 4, 5, 6, 7, 10, 11, 12}))
    falls = waterfall.table(record)
    if not rows:
        text: tuple[str, ...] = (f"{NOT_MEASURED}: {record.device.name} recorded no time that counts.",)
    else:
        blocks = any(one.blocks for one in record.measurements)
        text = (INTERLEAVED if blocks else ONE_BY_ONE, READING, *_controls(record))
    tables = (*((falls,) if falls else ()), *((table,) if rows else ()))
    return Section("Measured times", "measured", paragraphs=text, tables=tables, figures=figures)


def every(record: Record) -> Section:
    """Every timing of the record: samples, outliers and extremes; a kernel that is not cleared is an exhibit."""
    rows = tuple(
        (
            Code(one.variant),
            shape(one.shape),
            one.protocol,
            number(len(one.samples_ms)),
            number(outliers(one.samples_ms)),
            *(milliseconds(value) for value in (middle(one.samples_ms), min(one.samples_ms), max(one.samples_ms))),
            "exhibit only: not cleared" if _exhibit(record, one.variant) else "counts",
        )
        for one in record.measurements
    )
    columns = ("What", "Shape", "Protocol", "Samples", "Outliers", "Median", "Least", "Most", "Standing")
    table = Table("Every timing; outliers stay in", columns, rows, frozenset(range(3, 8)))
    paragraphs = () if rows else ("None.",)
    return Section("Every timing", "timings", paragraphs=paragraphs, tables=(table,) if rows else (), folded=True)


def floors_ms(record: Record) -> tuple[float | None, float | None]:
    """The floors of the record's own GPU, CUDA cores and matrix units; None where nobody knows one."""
    floor = _floor_here(record)
    return evidence.real(floor, "floor_ms"), evidence.real(floor, "matrix_unit_floor_ms")


def _row(record: Record, name: str) -> tuple[str, ...]:
    precision = _precision(record, name)
    median = median_ms(record.measurements, name) or 0.0
    taken = found(record.measurements, name)[-1]
    bounds = interval(series(taken))
    best = strongest(record.measurements, precision, wrong=wrong_baselines(record.findings))
    rival = None if best in (None, name) else compared(record.measurements, name, best or "")
    eager = None if name == BASELINE else compared(record.measurements, name, BASELINE)
    hot = median_ms(record.measurements, name, HOT)
    return (
        Code(name),
        precision,
        f"{number(len(taken.samples_ms))} in {number(len(set(taken.blocks)))} blocks"
        if taken.blocks
        else number(len(taken.samples_ms)),
        milliseconds(median),
        "none" if bounds is None else f"{number(bounds[0])} to {number(bounds[1])} ms",
        milliseconds(hot),
        _ratio(eager),
        _ratio(rival),
        "itself" if best == name else (best or "none"),
        "" if rival is None else rival.word,
        *(_share(floor, median) for floor in floors_ms(record)),
        _share(_ceiling_ms(record, precision), median),
    )


def _ratio(one: Comparison | None) -> str:
    if one is None:
        return "none"
    if one.ratio.low is None or one.ratio.high is None:
        return ratio(one.ratio.value)
    return f"{ratio(one.ratio.value)} ({number(one.ratio.low)} to {number(one.ratio.high)})"


def _controls(record: Record) -> list[str]:
    """What the callables timed twice came out as."""
    told = []
    for session in dict.fromkeys(one.session for one in record.measurements if one.variant.startswith(AGAIN)):
        twice = control(record.measurements, session)
        if twice is not None:
            name, value = twice
            told.append(
                f"Control of session {session}: {name}, timed twice under two names, came out as {value.word} "
                f"({number(value.value)}x); unless it is the same, no ratio of the session counts."
            )
    return told


def _counts(record: Record, one: Measurement) -> bool:
    """A timing under our protocol of a baseline or of a cleared variant."""
    named = any(one is timing for timing in found(record.measurements, one.variant, OURS))
    return named and not one.variant.startswith(AGAIN) and not _exhibit(record, one.variant)


def _exhibit(record: Record, name: str) -> bool:
    variants = {variant.name for variant in record.claim.statement.variant}
    cleared = any(rung.variant == name and rung.state == "cleared" for rung in record.ladder)
    return name in variants and not cleared


def _precision(record: Record, name: str) -> str:
    if name.startswith(PREFIX):
        return precision_of(name)
    return next((one.precision for one in record.claim.statement.variant if one.name == name), "fp32")


def _ceiling_ms(record: Record, precision: str) -> float | None:
    floor = _floor_here(record)
    flops, moved = evidence.real(floor, "flops"), evidence.real(floor, "bytes")
    if flops is None or moved is None:
        return None
    return least_ms(record.measurements, {"flops": flops, "bytes": moved}, precision)


def _floor_here(record: Record) -> Finding | None:
    """The floor of the GPU that timed; in older records that of the claim's GPU of the same name."""
    own = next((one for one in record.findings if one.probe == "floor_here"), None)
    here = names_in(record.device.name)
    return own or next((one for one in record.findings if one.probe == "floor" and one.target in here), None)


def _share(least: float | None, median: float) -> str:
    return "unknown" if least is None else f"{number(100 * least / median)} %"
