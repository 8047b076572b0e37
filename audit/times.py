"""The times of one audit: one session, prepared beside the probes; what it measures goes into the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from audit import judge, measure
from audit.measure import Session, Times
from audit.model import Variant
from audit.record_writer import RecordWriter
from audit.scheduler import Scheduler


class AuditTimes:
    """Times on a GPU: of baselines, and of the variants whose builds count and that passed.

    `prepared` returns the session, in the background; `writer` has the findings that decide who passed.
    """

    def __init__(self, scheduler: Scheduler, writer: RecordWriter, prepared: Callable[[], Session]) -> None:
        self._scheduler, self._writer = scheduler, writer
        self._session = scheduler.beside(prepared)
        self._repeated: str | None = None

    def take(self, variants: Sequence[Variant], *, baselines: bool) -> None:
        """Time those of the variants whose builds count; see `measure.times`."""
        known = self._scheduler.timeable()
        built = {one.name: known[one.name] for one in variants if one.name in known}
        self._keep(measure.times(self._session.result(), built, passed=self._passed(), baselines=baselines))

    def repeat(self) -> None:
        """Time again the variant whose ratio a report states, in other processes, unless that was done; see
        `measure.repeated`."""
        session, built = self._session.result(), self._scheduler.timeable()
        names = measure.leading(session, built, self._passed())
        if names and names[0] != self._repeated:
            self._repeated = names[0]
            self._keep(measure.repeated(session, built, names))

    def _passed(self) -> set[str]:
        record = self._writer.record
        return {
            rung.variant for rung in judge.ladder(record.claim.statement, record.findings) if rung.state == "passed"
        }

    def _keep(self, times: Times) -> None:
        self._writer.add(self._scheduler.device_run.timed(times.findings, self._scheduler.timeable()))
        self._writer.add_times(times.measurements)
