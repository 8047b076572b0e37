"""Which variant an audit times again, and when."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import pytest

from audit import judge, measure
from audit.record_writer import RecordWriter
from audit.scheduler import Scheduler
from audit.times import AuditTimes


def test_a_variant_is_timed_again_once_and_another_that_leads_later_too(monkeypatch: pytest.MonkeyPatch) -> None:
    session: Future[Any] = Future()
    session.set_result("session")
    scheduler = SimpleNamespace(
        beside=lambda _: session, timeable=dict, device_run=SimpleNamespace(timed=lambda *_: [])
    )
    writer = SimpleNamespace(
        record=SimpleNamespace(claim=SimpleNamespace(statement=None), findings=()),
        add=lambda _: None,
        add_times=lambda _: None,
    )
    leads: list[list[str]] = [[], ["tiled"], ["tiled"], ["claimed", "tiled"]]
    asked: list[list[str]] = []
    monkeypatch.setattr(judge, "ladder", lambda *_: [])
    monkeypatch.setattr(measure, "leading", lambda *_: leads.pop(0))
    monkeypatch.setattr(measure, "repeated", lambda _, __, names: (asked.append(names), measure.Times((), ()))[1])
    times = AuditTimes(cast(Scheduler, scheduler), cast(RecordWriter, writer), session.result)
    for _ in range(4):
        times.repeat()
    assert asked == [["tiled"], ["claimed", "tiled"]]
