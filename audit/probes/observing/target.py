"""The target of a probe: one compiled variant or the task's own reference, with its cases and sessions."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from audit.build.device import BuiltVariant
from audit.build.python.source import init_inputs
from audit.build.settings import DeviceSettings, EmulatedPythonSettings, EmulatedSettings
from audit.model import Claim, Shape, Tolerance, Variant
from audit.model.errors import AuditError
from audit.probes.concluding.compare import Comparison, Scale, ShareMap, compare, wrong_map
from audit.probes.observing.called import (
    Call,
    Mode,
    ProtocolViolated,
    Run,
    SessionBroken,
    Step,
    refuse_limits,
    value_calls,
)
from audit.probes.observing.cases import Case, Need, largest_of, middle_of
from audit.probes.observing.references import References
from audit.run.calls import correctness
from audit.run.messages import requests
from audit.run.processes.pool import Reply, SharedProcess, Workers

Answer = TypeVar("Answer")
EMULATED = (EmulatedSettings, EmulatedPythonSettings)
SHARES = ("repair",)
"""Roles that share a process where one exists: repairs are ours, and every element of theirs is known to be written.
The claimed kernel, and a variant that must show its defect, get fresh processes on request."""
PATIENCE, MOST_LIMITS = 3.0, 10.0
"""The limit of a session: this multiple of the time of its plain calls, up to a multiple of the device's limit."""


@dataclass(frozen=True)
class Target:
    """One build of one variant.

    `reference` is the claim's reference.py, `folder` gets the outputs of sessions, `shared` is the process for sessions
    that need no fresh one, `violations` lists protocol violations. `references` answers for the task's own reference;
    where `is_reference`, a step `claim` calls that, and the variant is not loaded. `seed` is that of all inputs.
    """

    claim: Claim
    variant: Variant
    built: BuiltVariant
    cases: tuple[Case, ...]
    workers: Workers
    reference: Path
    folder: Path
    shared: SharedProcess | None = None
    violations: list[str] = field(default_factory=list, compare=False, repr=False)
    references: References = field(default_factory=References, compare=False, repr=False)
    is_reference: bool = False
    seed: int = 0
    _answers: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    _compared: dict[tuple[object, ...], Comparison] = field(default_factory=dict, init=False, compare=False, repr=False)
    _known: dict[tuple[Mode, Path], Call] = field(default_factory=dict, init=False, compare=False, repr=False)
    _asking: threading.RLock = field(default_factory=threading.RLock, init=False, compare=False, repr=False)

    @property
    def tolerance(self) -> Tolerance:
        """The tolerance of this variant."""
        return self.claim.tolerance_of(self.variant)

    def compared(self, call: Call, case: Case) -> Comparison:
        """Compare the output of a call with the right result of its case, by the tolerance of this variant. Raises
        SessionBroken without a tensor of that shape, and NothingFinite where the right result has no finite element."""
        return self.compared_within(self.tolerance, call, case)

    def compared_within(self, tolerance: Tolerance, call: Call, case: Case, *, least_scale: Scale = 0.0) -> Comparison:
        """Compare by another tolerance. Outputs of the same bytes are compared once."""
        value_calls([call], [case.expected])
        scale = case.least(least_scale)
        key = (call.event["digest"], call.event["dtype"], case.inputs, tolerance.relative, scale)
        if key not in self._compared:
            self._compared[key] = compare(call.values(), case.right, tolerance, least_scale=scale)
        return self._compared[key]

    def wrong_map(self, call: Call, case: Case, *, output: int | None) -> ShareMap:
        """Return the map of wrong elements of a call's output; of several outputs, of that one."""
        scale = case.least(0.0)
        return wrong_map(call.values(), case.right, self.tolerance, least_scale=scale, output=output)

    def relative(self, case: Case) -> float:
        """Return the effective relative tolerance for a result of that case."""
        return correctness.held_to(self.tolerance.relative, case.dtype)

    @property
    def orders(self) -> tuple[str, ...]:
        """The orders of threads and blocks to run; a reference launches none on the emulated device."""
        return self.built.orders[:1] if self.is_reference else self.built.orders

    @property
    def largest(self) -> Case:
        """The largest case, at which partial work shows best."""
        return largest_of(self.cases)

    @property
    def middle(self) -> Case:
        """A case of middle size, for probes with many calls."""
        return middle_of(self.cases)

    def once(self, question: str, ask: Callable[[], Answer]) -> Answer:
        """Return the result of `ask` or raise its AuditError; both are cached by the question."""
        with self._asking:  # probes run in parallel: the second waits for the answer to the first
            if question not in self._answers:
                try:
                    self._answers[question] = ask()
                except AuditError as error:
                    self._answers[question] = error
        known: Answer | AuditError = self._answers[question]
        if isinstance(known, AuditError):
            raise known
        return known

    @property
    def plain(self) -> Mode:
        """The mode with NaN in fresh memory, so that an unwritten element cannot look right."""
        return Mode(self.built.nan_memory)

    @property
    def merges_modes(self) -> bool:
        """Whether one session can make calls in several modes; on a GPU it cannot."""
        return self.built.tensor_device == "cpu"

    def ask_ahead(self, needs: Iterable[Need]) -> None:
        """Make those plain calls that no earlier session made, in as few sessions as the device allows. The calls
        before the end of a broken session are kept; the others are made by `call`."""
        todo: dict[object, list[Need]] = {}
        with self._asking:
            for (mode, inputs), case in {(mode, case.inputs): case for mode, case in needs}.items():
                if (mode, inputs) not in self._known:
                    todo.setdefault(None if self.merges_modes else mode, []).append((mode, case))
            with suppress(SessionBroken):  # further sessions would end the same way
                for calls in todo.values():
                    self._plain_session(calls)

    def call(self, case: Case, mode: Mode) -> Call:
        """Return the plain call at that case, made now if no earlier session made it. Raises SessionBroken,
        ProtocolViolated, Unsupported: as `steps`."""
        with self._asking:
            if (mode, case.inputs) not in self._known:
                self._plain_session([(mode, case)])
            call = self._known[mode, case.inputs]
        refuse_limits([call])
        return call

    def calls(self, cases: Sequence[Case], mode: Mode) -> list[Call]:
        """Return the plain calls at those cases, see `call`."""
        self.ask_ahead((mode, case) for case in cases)
        return [self.call(case, mode) for case in cases]

    def _plain_session(self, needs: Sequence[Need]) -> None:
        """Make plain calls in one session, and keep those that ended, also where the session breaks."""
        modes = list(dict.fromkeys(mode for mode, _ in needs))
        cases = list({case.inputs: case for _, case in needs}.values())
        numbers = {case.inputs: index for index, case in enumerate(cases)}
        steps: list[Step] = []
        now = modes[0]
        for mode, case in needs:
            change = {} if mode == now else {"mode": modes.index(mode)}
            steps.append({"run": "claim", "case": numbers[case.inputs], **change})
            now = mode
        calls: list[Call] = []
        try:
            self._ask(steps, cases=cases, modes=modes, calls=calls)
        finally:
            for (mode, case), call in zip(needs, calls, strict=False):
                self._known[mode, case.inputs] = call

    def session(self, runs: Sequence[Run], case: Case, mode: Mode, *, fresh: bool = False) -> list[Call]:
        """Make calls at one case, one after another in one process; see `steps`."""
        return self.steps([{"run": run, "case": 0} for run in runs], cases=[case], mode=mode, fresh=fresh)

    def steps(
        self,
        steps: Sequence[Step],
        *,
        cases: Sequence[Case],
        mode: Mode,
        more_modes: Sequence[Mode] = (),
        fresh: bool = False,
    ) -> list[Call]:
        """Run steps with options, each about one of `cases`, in one process; inputs are uploaded before the first call.

        Args:
            steps: the calls, in order.
            cases: the problems.
            mode: the first configuration of the device.
            more_modes: further ones, numbered from 1 in the option `mode` of a step.
            fresh: use a fresh process, also where other sessions share one; see `SHARES`.

        Raises:
            SessionBroken: the process did not answer every call, or the device had to stop a kernel.
            ProtocolViolated: a message was not sent by our own code.
            Unsupported: a launch needs more than this device has.
        """
        calls: list[Call] = []
        self._ask(steps, cases=cases, modes=[mode, *more_modes], fresh=fresh, calls=calls)
        refuse_limits(calls)
        return calls

    def _ask(
        self,
        steps: Sequence[Step],
        *,
        cases: Sequence[Case],
        modes: Sequence[Mode],
        calls: list[Call],
        fresh: bool = False,
    ) -> None:
        """Run one session; append its calls to `calls`, also where it raises. Raises as `steps`."""
        if self.is_reference:
            steps = [{**step, "run": "reference"} if step["run"] == "claim" else step for step in steps]
            modes = [mode._replace(check=False) for mode in modes]  # its accesses are not the claim's
        alone = fresh and self.variant.role not in SHARES and not self.is_reference
        shared = None if modes[0].check or alone else self.shared
        needs_reference = any(step["run"] in ("reference", "plant") for step in steps)
        settings = [self.settings(mode, cases[0].shape) for mode in modes]
        request = requests.Session(
            limit_s=self._limit_s(steps, modes),
            device=settings[0],
            modes=tuple(one.configuration for one in settings if isinstance(one, EMULATED)),
            entry=None if self.is_reference else self.claim.entry_of(self.variant),
            harness=self.claim.harness,
            reference=self.reference if needs_reference else None,
            inputs=tuple(case.inputs for case in cases),
            folder=self.folder,
            output_bytes=tuple(case.output_bytes for case in cases),
            steps=tuple(requests.Step.model_validate(step) for step in steps),
            shape=cases[0].shape,
        )
        reply, folder = self._asked(request, shared=shared)
        if reply.ending == "protocol violation":
            self.violations.append(reply.detail)
            raise ProtocolViolated(f"protocol violation: {reply.detail}")
        calls += [Call(event, folder / f"{event['step']}.bin", self.violations) for event in reply.events]
        told = reply.ending == "ended" and len(calls) == len(steps) and calls[-1].raised is not None
        if not reply.finished and not told:  # a last call may end its process, as a check of CUDA errors does
            whose = "reference.py" if self.is_reference else self.variant.file
            done = f"{reply.ending} after {len(calls)} of {len(steps)} calls"
            refuse_limits(calls)
            raise SessionBroken(f"{whose}: {done}: {reply.detail}")

    def settings(self, mode: Mode, shape: Shape) -> DeviceSettings:
        """Return the build's settings in a mode, with what a `ModelNew` is made with at that shape."""
        settings = self.built.settings(**mode._asdict())
        sizes = {name: shape[name] for name in self.claim.shapes.module if name in shape}
        if not sizes or not isinstance(settings, EmulatedPythonSettings):
            return settings
        made_with = init_inputs(self.reference.with_name(self.variant.file), sizes)
        return settings.model_copy(update={"init_inputs": list(made_with)})

    def _limit_s(self, steps: Sequence[Step], modes: Sequence[Mode]) -> float:
        """Return the limit of the device, or more where a plain call in these modes is known to take long; checked
        calls are few, or of other sizes."""
        if any(mode.check for mode in modes):
            return self.built.limit_s
        calls = sum(len(step.get("order", ())) or 1 for step in steps)
        took = [call.event.get("seconds", 0.0) for (mode, _), call in list(self._known.items()) if mode in modes]
        expected = PATIENCE * calls * max(took, default=0.0)
        return min(max(self.built.limit_s, expected), MOST_LIMITS * self.built.limit_s)

    def _asked(self, request: requests.Session, *, shared: SharedProcess | None) -> tuple[Reply, Path]:
        """Return the reply, and the folder of its outputs. What breaks in a shared process is run in a fresh one."""
        if shared is not None:
            reply, folder = self._asked_of(shared, request, above=shared.results)
            if reply.finished or reply.ending in ("timed out", "stopped", "protocol violation"):
                return reply, folder
        return self._asked_of(self.workers, request, above=self.folder)

    def _asked_of(
        self, process: Workers | SharedProcess, request: requests.Session, *, above: Path
    ) -> tuple[Reply, Path]:
        folder = Path(tempfile.mkdtemp(prefix=f"{self.variant.name}-", dir=above))
        return process.call(request.model_copy(update={"folder": folder}), limit_s=request.limit_s), folder
