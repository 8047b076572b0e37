"""Measured times: what may be compared with what, and every timing as it was taken."""

from __future__ import annotations

from statistics import median

from audit.judge import BASELINE
from audit.measure import OURS, compared, strongest, wrong_baselines
from audit.measure.ceilings import least_ms
from audit.measure.comparison import AGAIN, PREFIX, Comparison, control, precision_of
from audit.measure.protocols import CONTRADICTED, HOT
from audit.measure.samples import LEAST_MS, found, median_ms, series
from audit.measure.statistics import interval, outliers
from audit.model import Finding, Measurement, Record
from audit.model.gpus import names_in
from audit.report import evidence, quantities, waterfall
from audit.report.messages import Recorded, headings, message
from audit.report.quantities import NONE, NOT_MEASURED, UNKNOWN, milliseconds, number, ratio, shape
from audit.report.view import Code, Figure, Section, Table


def measured(record: Record, figures: tuple[Figure, ...]) -> Section:
    """Return the waterfall, then Every passing variant and baseline."""
    names = dict.fromkeys(one.variant for one in record.measurements if _counts(record, one))
    rows = tuple(_row(record, name) for name in names)
    columns = headings("what", "precision", "samples", "median", "interval", "median_hot", "against_eager",
                       "against_strongest", "strongest", "conclusion", "of_fp32_floor", "of_matrix_unit_floor",
                       "of_ceiling")  # fmt: skip
    numeric = frozenset({2, 3, 4, 5, 6, 7, 10, 11, 12})
    table = Table(message("times.table", device=record.device.name), columns, rows, numeric)
    if rows:
        how = "times.interleaved" if any(one.blocks for one in record.measurements) else "times.one_by_one"
        text = (message(how), message("times.reading"), *_controls(record), *_wrong(record))
    else:
        text = (message("times.none", absent=NOT_MEASURED, device=Recorded(record.device.name)),)
    steps = waterfall.table(record)
    tables = (*((steps,) if steps else ()), *((table,) if rows else ()))
    return Section(message("times.title"), "measured", paragraphs=text, tables=tables, figures=figures)


def every(record: Record) -> Section:
    """Return every timing of the record: samples, outliers, extremes; a kernel that did not pass has no speedup."""
    rows = tuple(
        (
            *(Code(one.variant), shape(one.shape), Recorded(one.protocol)),
            *(number(len(one.samples_ms)), number(outliers(one.samples_ms))),
            *(milliseconds(value) for value in (median(one.samples_ms), min(one.samples_ms), max(one.samples_ms))),
            _standing(record, one),
        )
        for one in record.measurements
    )
    columns = headings("what", "shape", "protocol", "samples", "outliers", "median", "least", "most", "standing")
    table = Table(message("timings.table"), columns, rows, frozenset(range(3, 8)))
    return Section(message("timings.title"), "timings", paragraphs=() if rows else (message("questions.none"),),
                   tables=(table,) if rows else (), folded=True)  # fmt: skip


def floors_ms(record: Record) -> tuple[float | None, float | None]:
    """Return the floors of the record's own GPU, CUDA cores and matrix units; None for an unknown one."""
    floor = _floor_here(record)
    return evidence.real(floor, "floor_ms"), evidence.real(floor, "matrix_unit_floor_ms")


def _row(record: Record, name: str) -> tuple[str, ...]:
    precision = _precision(record, name)
    middle = median_ms(record.measurements, name) or 0.0
    taken = found(record.measurements, name)[-1]
    bounds = interval(series(taken))
    wrong = wrong_baselines(record.findings)
    best = strongest(record.measurements, precision, wrong=wrong)
    rival = None if best in (None, name) else compared(record.measurements, name, best or "")
    eager = None if name == BASELINE or BASELINE in wrong else compared(record.measurements, name, BASELINE)
    return (
        *(Code(name), precision, _samples(taken), milliseconds(middle)),
        NONE if bounds is None else quantities.interval(*bounds, form="form.interval_ms"),
        milliseconds(median_ms(record.measurements, name, HOT)),
        *(_ratio(eager), _ratio(rival)),
        message("word.itself") if best == name else (best or NONE),
        "" if rival is None else Recorded(rival.word),
        *(_share(floor, middle) for floor in floors_ms(record)),
        _share(_ceiling_ms(record, precision), middle),
    )


def _ratio(one: Comparison | None) -> str:
    if one is None:
        return NONE
    value, bounds = ratio(one.ratio.value), quantities.interval(one.ratio.low, one.ratio.high)
    return message("form.ratio_bounds", ratio=value, bounds=bounds) if bounds else value


def _samples(one: Measurement) -> str:
    count, blocks = number(len(one.samples_ms)), number(len(set(one.blocks)))
    return message("form.samples_in_blocks", count=count, blocks=blocks) if one.blocks else count


def _controls(record: Record) -> list[str]:
    """Return the result of each callable that was timed twice."""
    texts: list[str] = []
    for session in dict.fromkeys(one.session for one in record.measurements if one.variant.startswith(AGAIN)):
        twice = control(record.measurements, session)
        if twice is not None:
            name, value = twice
            result = {"word": Recorded(value.word), "ratio": number(value.value)}
            texts.append(message("times.control", session=session, variant=name, **result))
    return texts


def _wrong(record: Record) -> list[str]:
    """Return the baselines whose own timed calls gave wrong results."""
    names = ", ".join(sorted(wrong_baselines(record.findings)))
    return [message("times.wrong_baselines", names=names)] if names else []


def _standing(record: Record, one: Measurement) -> str:
    if one.protocol.startswith(CONTRADICTED):
        return message("timings.contradicted")
    return message("timings.counts" if _passed(record, one.variant) else "timings.not_passed")


def _counts(record: Record, one: Measurement) -> bool:
    """Return whether a timing is of a baseline or of a passing variant under our protocol."""
    ours = any(one is timing for timing in found(record.measurements, one.variant, OURS))
    return ours and not one.variant.startswith(AGAIN) and _passed(record, one.variant)


def _passed(record: Record, name: str) -> bool:
    """Return whether a variant of the claim passed; a baseline needs no probe."""
    variants = {variant.name for variant in record.claim.statement.variant}
    return name not in variants or any(one.variant == name and one.state == "passed" for one in record.ladder)


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
    """Return the floor of the GPU that timed; in older records that of the claim's GPU of the same name."""
    own = next((one for one in record.findings if one.probe == "floor_here"), None)
    here = names_in(record.device.name)
    return own or next((one for one in record.findings if one.probe == "floor" and one.target in here), None)


def _share(least: float | None, middle: float) -> str:
    return UNKNOWN if least is None else f"{number(100 * least / max(middle, LEAST_MS))} %"
