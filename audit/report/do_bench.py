"""The table that readers know: `triton.testing.do_bench` of every callable, a column for each GPU in question."""

from __future__ import annotations

from statistics import median, quantiles

from audit.measure import DO_BENCH
from audit.measure.comparison import PREFIX
from audit.model import Record
from audit.model.gpus import closest, names_in
from audit.report.messages import headings, message
from audit.report.quantities import NOT_MEASURED, UNKNOWN, interval, milliseconds
from audit.report.tables import state
from audit.report.view import Code, Table

USUAL = ("T4", "L4", "A100")
"""GPUs that have a column in every table: those of a notebook in the cloud."""


def table(record: Record) -> Table | None:
    """Return every callable timed by do_bench, the fastest first; None where none was."""
    taken = {one.variant: one.samples_ms for one in record.measurements if one.protocol == DO_BENCH}
    if not taken:
        return None
    here, gpus = _columns(record)
    rows = tuple(
        (Code(name), _state(record, name), *(_time(taken[name]) if gpu == here else NOT_MEASURED for gpu in gpus))
        for name in sorted(taken, key=lambda name: median(taken[name]))
    )
    title = message("times.do_bench", version=record.environment.packages.get("triton", UNKNOWN))
    return Table(title, (*headings("what", "state"), *gpus), rows, frozenset(range(2, 2 + len(gpus))))


def _columns(record: Record) -> tuple[str, tuple[str, ...]]:
    """Return the column of the GPU that timed, and all of them: the usual, the claim's, this one."""
    named = (*USUAL, *(one.gpu for one in record.claim.statement.speedup))
    known = names_in(record.device.name)
    here = next((gpu for gpu in named if gpu in known), closest(record.device.name) or record.device.name)
    return here, tuple(dict.fromkeys((*named, here)))


def _state(record: Record, name: str) -> str:
    if name.startswith(PREFIX):
        return message("word.baseline")
    return next((state(rung) for rung in record.ladder if rung.variant == name), message("state.not_judged"))


def _time(samples: tuple[float, ...]) -> str:
    """Return the median and, of more than one sample, the 20th and 80th percentile."""
    middle = milliseconds(median(samples))
    if len(samples) < 2:
        return middle
    fifths = quantiles(samples, n=5, method="inclusive")
    return message("form.ratio_bounds", ratio=middle, bounds=interval(fifths[0], fifths[-1]))
