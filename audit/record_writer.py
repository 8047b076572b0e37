"""The record of an audit in progress, kept on disk: a killed audit loses half a second of findings at most."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from pathlib import Path

from audit.model import BuildNote, Finding, Measurement, Record, SandboxLimit, atomic, store
from audit.model.errors import BadInput
from audit.model.finding import DeviceKind
from audit.model.run_directory import Hold
from audit.model.store import RECORD

MOMENT_S = 0.5


class RecordWriter:
    """Changes one record and writes it; safe to use from several threads. `command` is how a reader sees a finding
    again that does not say so itself."""

    def __init__(self, record: Record, path: Path, *, command: str) -> None:
        self.record = record
        self._path = path
        self._command = command
        self._lock = threading.RLock()
        self._written = 0.0
        self._closed = False
        self.flush()

    def close(self) -> None:
        """Write the record once more; later changes are left out, since what an interruption breaks is no finding."""
        with self._lock:
            self.flush()
            self._closed = True

    def flush(self) -> None:
        """Writes the record."""
        with self._lock:
            store.write(self.record, self._path)
            self._written = time.monotonic()

    def put(self, **fields: object) -> None:
        """Sets fields of the record, and writes it unless that was done a moment ago."""
        with self._lock:
            if self._closed:
                return
            self.record = self.record.model_copy(update=fields)
            if time.monotonic() - self._written > MOMENT_S:
                self.flush()

    def add(self, findings: Iterable[Finding]) -> None:
        """Adds findings."""
        found = [
            one if one.reproduce_with else one.model_copy(update={"reproduce_with": self._command}) for one in findings
        ]
        with self._lock:
            self.put(findings=(*self.record.findings, *found))

    def replace(self, findings: Iterable[Finding], *, of: str, on: DeviceKind) -> None:
        """Puts those in the place of all that the probes found of a variant on a device."""

        def other(one: Finding) -> bool:
            return one.target != of or one.device != on or one.probe == "build"

        with self._lock:
            self.record = self.record.model_copy(update={"findings": tuple(filter(other, self.record.findings))})
            self.add(findings)

    def sort(self, targets: list[str]) -> None:
        """Puts findings in the order of those targets, others first, a device's own together: they come as they end."""

        def place(finding: Finding) -> tuple[int, str]:
            return targets.index(finding.target) if finding.target in targets else -1, finding.device or ""

        with self._lock:
            self.put(findings=tuple(sorted(self.record.findings, key=place)))

    def add_times(self, measurements: Iterable[Measurement]) -> None:
        """Adds raw samples."""
        with self._lock:
            self.put(measurements=(*self.record.measurements, *measurements))

    def put_sandbox(self, checks: tuple[SandboxLimit, ...]) -> None:
        """Set which limits hold around claimed code."""
        with self._lock:
            self.put(environment=self.record.environment.model_copy(update={"sandbox": checks}))

    def add_build(self, note: BuildNote) -> None:
        """Adds the note of a build, and what it read to the files the audit rests on. Raises BadInput: a file is not as
        it was when the audit first read it."""
        with self._lock:
            environment, claim = self.record.environment, self.record.claim
            compiler = note.compiler or environment.compiler
            altered = environment.model_copy(update={"builds": (*environment.builds, note), "compiler": compiler})
            known = {one.file: one for one in claim.sources}
            if changed := next((one.file for one in note.reads if known.get(one.file, one) != one), None):
                raise BadInput(f"{claim.statement.name}/{changed}: changed during the audit; run it again")
            more = [one for one in note.reads if one.file not in known]
            self.put(environment=altered, claim=claim.model_copy(update={"sources": (*claim.sources, *more)}))


def taken(out: Path) -> Hold:
    """The folder of results, made and taken; what an audit that was killed there had half written is removed. Raises
    BadInput: it cannot be written, or another audit is writing there."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        hold = Hold(out)
        atomic.clear(out / RECORD)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written ({error.strerror}); choose another folder") from error
    return hold
