"""Measured times: what may be compared with what, and every timing as it was taken."""

from __future__ import annotations

from audit.judge import BASELINE
from audit.measure import OURS, compared, strongest, wrong_baselines
from audit.measure.ceilings import least_ms
from audit.measure.comparison import AGAIN, PREFIX, Comparison, control, precision_of
from audit.measure.protocols import CONTRADICTED, HOT
from audit.measure.samples import LEAST_MS, found, median_ms, series
from audit.measure.statistics import Ratio, interval, outliers
from audit.model import Finding, Measurement, Record
from audit.model.gpus import names_in
from audit.report import evidence, waterfall
from audit.report.quantities import NOT_MEASURED, UNKNOWN, middle, milliseconds, number, ratio, shape
from audit.report.said import Said, Told, say
from audit.report.view import Code, Figure, Section, Table

INTERLEAVED = say(
    "Each median is of CUDA events around single calls with the L2 cache overwritten before each, inputs rotating, all "
    "callables of a session interleaved in blocks of random order. A ratio is the baseline's median over the "
    "variant's in one session, with a 95 % interval from a bootstrap over blocks; it is called faster or slower only "
    "if the whole interval lies more than 2 % from one, the same if all of it is within 2 %."
)
ONE_BY_ONE = say(
    "Each median is of CUDA events around single calls with the L2 cache overwritten before each; the callables were "
    "timed one after another, so ratios of medians have no interval and are inconclusive."
)
READING = say(
    "The strongest baseline is the fastest of those timed that is as precise as the variant or more. Of a floor: the "
    "data-sheet floor of this GPU for the stated work over the median; only work on the matrix units can pass 100 % of "
    "the fp32 floor, only what leaves a part of the stated work out can pass 100 % of the other. Of the ceiling: the "
    "same with what PyTorch's own copy and matrix product of the variant's precision reached in the session. A kernel "
    "that is not cleared has no speedup."
)
COLUMNS = (say("What"), say("Precision"), say("Samples"), say("Median"), say("95 % interval"), say("Median, L2 hot"),
           say("Against eager"), say("Against the strongest"), say("Which is"), say("Said"),
           say("Of the fp32 floor"), say("Of the matrix-unit floor"), say("Of the ceiling"))  # fmt: skip


def measured(record: Record, figures: tuple[Figure, ...]) -> Section:
    """From the published number to the defensible one, then every cleared variant and baseline."""
    names = dict.fromkeys(one.variant for one in record.measurements if _counts(record, one))
    rows = tuple(_row(record, name) for name in names)
    table = Table(
        say("Times on {device}", device=record.device.name), COLUMNS, rows, frozenset({2, 3, 4, 5, 6, 7, 10, 11, 12})
    )
    falls = waterfall.table(record)
    if not rows:
        told = "{absent}: {device} recorded no time that counts."
        text: tuple[str, ...] = (say(told, absent=NOT_MEASURED, device=Told(record.device.name)),)
    else:
        blocks = any(one.blocks for one in record.measurements)
        text = (INTERLEAVED if blocks else ONE_BY_ONE, READING, *_controls(record), *_failed(record))
    tables = (*((falls,) if falls else ()), *((table,) if rows else ()))
    return Section(say("Measured times"), "measured", paragraphs=text, tables=tables, figures=figures)


def every(record: Record) -> Section:
    """Every timing of the record: samples, outliers and extremes; a kernel that is not cleared is an exhibit."""
    rows = tuple(
        (
            Code(one.variant),
            shape(one.shape),
            Told(one.protocol),
            number(len(one.samples_ms)),
            number(outliers(one.samples_ms)),
            *(milliseconds(value) for value in (middle(one.samples_ms), min(one.samples_ms), max(one.samples_ms))),
            _standing(record, one),
        )
        for one in record.measurements
    )
    columns = (say("What"), say("Shape"), say("Protocol"), say("Samples"), say("Outliers"), say("Median"), say("Least"),
               say("Most"), say("Standing"))  # fmt: skip
    table = Table(say("Every timing; outliers stay in"), columns, rows, frozenset(range(3, 8)))
    paragraphs = () if rows else (say("None."),)
    tables = (table,) if rows else ()
    return Section(say("Every timing"), "timings", paragraphs=paragraphs, tables=tables, folded=True)


def floors_ms(record: Record) -> tuple[float | None, float | None]:
    """The floors of the record's own GPU, CUDA cores and matrix units; None where nobody knows one."""
    floor = _floor_here(record)
    return evidence.real(floor, "floor_ms"), evidence.real(floor, "matrix_unit_floor_ms")


def _row(record: Record, name: str) -> tuple[str, ...]:
    precision = _precision(record, name)
    median = median_ms(record.measurements, name) or 0.0
    taken = found(record.measurements, name)[-1]
    bounds = interval(series(taken))
    wrong = wrong_baselines(record.findings)
    best = strongest(record.measurements, precision, wrong=wrong)
    rival = None if best in (None, name) else compared(record.measurements, name, best or "")
    eager = None if name == BASELINE or BASELINE in wrong else compared(record.measurements, name, BASELINE)
    hot = median_ms(record.measurements, name, HOT)
    return (
        Code(name),
        precision,
        _samples(taken),
        milliseconds(median),
        say("none") if bounds is None else say("{low} to {high} ms", low=number(bounds[0]), high=number(bounds[1])),
        milliseconds(hot),
        _ratio(eager),
        _ratio(rival),
        say("itself") if best == name else (best or say("none")),
        "" if rival is None else Told(rival.word),
        *(_share(floor, median) for floor in floors_ms(record)),
        _share(_ceiling_ms(record, precision), median),
    )


def _ratio(one: Comparison | None) -> str:
    if one is None:
        return say("none")
    told, low, high = ratio(one.ratio.value), one.ratio.low, one.ratio.high
    if low is None or high is None:
        return told
    return say("{ratio} ({low} to {high})", ratio=told, low=number(low), high=number(high))


def _samples(one: Measurement) -> str:
    count = number(len(one.samples_ms))
    return say("{count} in {blocks} blocks", count=count, blocks=number(len(set(one.blocks)))) if one.blocks else count


def _controls(record: Record) -> list[str]:
    """What the callables timed twice came out as."""
    told: list[str] = []
    for session in dict.fromkeys(one.session for one in record.measurements if one.variant.startswith(AGAIN)):
        twice = control(record.measurements, session)
        if twice is not None:
            name, value = twice
            told.append(_control(session, name, value))
    return told


def _failed(record: Record) -> list[Said]:
    """The baselines whose own timed calls gave wrong results."""
    names = ", ".join(sorted(wrong_baselines(record.findings)))
    text = "Baselines with wrong results in timed calls: {names}. No ratio to them counts; the kernel is not at fault."
    return [say(text, names=names)] if names else []


def _control(session: str, name: str, value: Ratio) -> Said:
    return say(
        "Control of session {session}: {variant}, timed twice under two names, came out as {word} ({ratio}x); unless "
        "it is the same, no ratio of the session counts.",
        session=session,
        variant=name,
        word=Told(value.word),
        ratio=number(value.value),
    )


def _standing(record: Record, one: Measurement) -> str:
    if one.protocol.startswith(CONTRADICTED):
        return say("exhibit only: contradicted")
    return say("exhibit only: not cleared") if _exhibit(record, one.variant) else say("counts")


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
    return UNKNOWN if least is None else f"{number(100 * least / max(median, LEAST_MS))} %"
