"""The times of an audit on its GPU: of what passed at that moment, in a session that is prepared beside other work."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from audit import judge, measure
from audit.measure import Session, Times
from audit.model import Variant
from audit.record_writer import RecordWriter
from audit.scheduler import Scheduler


class Timer:
    """Times what passed; the session is waited for at the first timing."""

    def __init__(self, session: Future[Session], scheduler: Scheduler, writer: RecordWriter) -> None:
        self._session, self._scheduler, self._writer = session, scheduler, writer

    def time(self, variants: Sequence[Variant], *, baselines: bool) -> None:
        """Time those variants; see `measure.times`."""
        known = self._scheduler.timeable()
        built = {one.name: known[one.name] for one in variants if one.name in known}
        self._add(measure.times(self._session.result(), built, passed=self._passed(), baselines=baselines))

    def repeat(self) -> None:
        """Time the ratio that a report states first in further processes; see `measure.repeated`."""
        self._add(measure.repeated(self._session.result(), self._scheduler.timeable(), passed=self._passed()))

    def _passed(self) -> set[str]:
        record = self._writer.record
        rungs = judge.ladder(record.claim.statement, record.findings)
        return {rung.variant for rung in rungs if rung.state == "passed"}

    def _add(self, times: Times) -> None:
        self._writer.add(self._scheduler.device_run.timed(times.findings, self._scheduler.timeable()))
        self._writer.add_times(times.measurements)
