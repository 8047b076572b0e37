"""What a probe works on: one compiled variant, the cases, and sessions in fresh processes."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from audit.build.device import BuiltVariant
from audit.errors import AuditError, Unsupported
from audit.model import Claim, Tolerance, Variant
from audit.probes.called import Call, Case, SessionBroken, SessionForged, item_bytes
from audit.worker.pool import Reply, SharedProcess, Workers

Run = Literal["claim", "reference", "plant"]
Step = Mapping[str, Any]
"""A run, the index of its case, and options; see `audit.worker.session`."""
Answer = TypeVar("Answer")
SHARES = ("repair",)
"""Roles that share a process where one exists: repairs are ours, and their every element is seen to be written. What is
accused, and what must show its defect, gets the fresh process it asks for."""


@dataclass(frozen=True)
class Target:
    """One build of one variant, ready to be asked; `reference` is the claim's
    reference.py, `folder` takes the outputs of its sessions, `shared` the process for those that need no fresh one,
    `forged` what is seen of sessions that something else than our own code spoke for."""

    claim: Claim
    variant: Variant
    built: BuiltVariant
    cases: tuple[Case, ...]
    workers: Workers
    reference: Path
    folder: Path
    shared: SharedProcess | None = None
    forged: list[str] = field(default_factory=list, compare=False, repr=False)
    _answers: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    _asking: threading.RLock = field(default_factory=threading.RLock, init=False, compare=False, repr=False)

    @property
    def tolerance(self) -> Tolerance:
        """The tolerance this variant is held to."""
        return self.claim.tolerance_of(self.variant)

    @property
    def largest(self) -> Case:
        """The largest case, where partial work shows best."""
        return largest_of(self.cases)

    @property
    def middle(self) -> Case:
        """A case of middle size, for questions that cost much per element."""
        return middle_of(self.cases)

    def once(self, question: str, ask: Callable[[], Answer]) -> Answer:
        """What `ask` returns or raises, kept for every later probe that asks the same question of this build."""
        with self._asking:  # probes may run side by side: the second to ask waits for the first one's answer
            if question not in self._answers:
                try:
                    self._answers[question] = ask()
                except AuditError as error:
                    self._answers[question] = error
        known: Answer | AuditError = self._answers[question]
        if isinstance(known, AuditError):
            raise known
        return known

    def session(
        self,
        runs: Sequence[Run],
        *,
        cases: Sequence[Case],
        memory: str = "plain",
        order: str = "forward",
        check: bool = False,
        fresh: bool = False,
    ) -> list[Call]:
        """Runs every case of `cases` through `runs`, in this order, in one process.

        Args:
            runs: what to call for each case, in order.
            cases: the problems; inputs are uploaded before the first call.
            memory: what fresh device memory holds (see `audit.emulator.runtime`).
            order: the order of threads and blocks.
            check: record every access and report the undefined ones.
            fresh: in a process in which nothing ran before, also where others share one; see `SHARES`.

        Raises:
            SessionBroken: the process did not answer every call, or the device had to stop a kernel.
            SessionForged: something else than our own code spoke for it.
            Unsupported: the launch needs more than this device has.
        """
        steps = [{"run": run, "case": k} for k in range(len(cases)) for run in runs]
        return self.steps(steps, cases=cases, memory=memory, order=order, check=check, fresh=fresh)

    def steps(
        self,
        steps: Sequence[Step],
        *,
        cases: Sequence[Case],
        memory: str = "plain",
        order: str = "forward",
        check: bool = False,
        fresh: bool = False,
    ) -> list[Call]:
        """Runs steps with options of their own, each about one of `cases`, otherwise as `session`."""
        shared = None if check or (fresh and self.variant.role not in SHARES) else self.shared
        needs_reference = any(step["run"] in ("reference", "plant") for step in steps)
        request = {
            **self.built.session_request(memory=memory, order=order, check=check),
            "entry": self.claim.entry,
            "reference": str(self.reference) if needs_reference else None,
            "inputs": [str(case.inputs) for case in cases],
            "output_bytes": [case.expected.size * item_bytes(case.dtype) for case in cases],
            "steps": [dict(step) for step in steps],
            "count_writes": check,
        }
        reply, folder = self._asked(request, shared=shared)
        if reply.ending == "forged":
            self.forged.append(reply.detail)
            raise SessionForged(f"forged: {reply.detail}")
        calls = [Call(event, folder / f"{event['step']}.bin", self.forged) for event in reply.events]
        _refuse_limits(calls)
        if not reply.finished:
            raise SessionBroken(f"{reply.ending} after {len(calls)} of {len(steps)} calls: {reply.detail}")
        return calls

    def _asked(self, request: dict[str, Any], *, shared: SharedProcess | None) -> tuple[Reply, Path]:
        """The reply, and where its outputs lie. A session that breaks where others ran before is asked again where none
        did."""
        if shared is not None:
            reply, folder = self._asked_of(shared, request, above=shared.results)
            if reply.finished or reply.ending in ("timed out", "stopped", "forged"):
                return reply, folder
        return self._asked_of(self.workers, request, above=self.folder)

    def _asked_of(
        self, process: Workers | SharedProcess, request: dict[str, Any], *, above: Path
    ) -> tuple[Reply, Path]:
        folder = Path(tempfile.mkdtemp(prefix=f"{self.variant.name}-", dir=above))
        return process.call("session", {**request, "folder": str(folder)}, limit_s=self.built.limit_s), folder


def largest_of(cases: Sequence[Case]) -> Case:
    """The case with the most elements."""
    return max(cases, key=lambda case: case.expected.size)


def middle_of(cases: Sequence[Case]) -> Case:
    """A case of middle size."""
    return sorted(cases, key=lambda case: case.expected.size)[len(cases) // 2]


def _refuse_limits(calls: Iterable[Call]) -> None:
    for call in calls:
        for report in call.reports:
            if report["kind"] == "needs-newer-gpu":
                raise Unsupported(f"a launch of this size: {report['message']}", line=report["line"] or 0)
            if report["kind"] in ("time-limit", "too-many-threads", "deadlock"):
                raise SessionBroken(f"the emulated device stopped the kernel: {report['message']}")
