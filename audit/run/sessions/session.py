"""The steps of one variant in a given order; raw outputs go to `<step>.bin`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from audit.build.settings import EmulatedPythonSettings, EmulatedSettings
from audit.run.calls import raw_memory
from audit.run.calls.arguments import Arguments, alike, as_bytes, differing, named
from audit.run.calls.containers import tensors
from audit.run.calls.harness import returning
from audit.run.calls.outputs import aliases, described, outputs_of, own, type_of
from audit.run.devices.device import SessionDevice, open_device
from audit.run.messages.event_writer import EventWriter
from audit.run.messages.requests import Session
from audit.run.sessions import call_patterns, process_state
from audit.run.sessions.call_patterns import FirstResult, Function, InTurn, planted, spoiled
from audit.run.sessions.exits import exits
from audit.run.sessions.oracle import load_reference

SEED = 20260301
"""torch's seed before the calls, unlike the oracle's, so that a task with random numbers does not agree by chance."""
EMULATED = (EmulatedSettings, EmulatedPythonSettings)
LATE_S, LATE_CUDA_S = 0.3, 0.05
"""Seconds to wait for a thread or child that may still write into the result; CUDA starts threads of its own."""


def run(request: Session, writer: EventWriter) -> Iterator[dict[str, Any]]:
    """Yield one event a step; a Python exception of the claimed code is part of the event and ends that step alone."""
    keep, folder, output_bytes = writer.keep, request.folder, request.output_bytes
    steps = [step.model_dump(exclude_none=True) for step in request.steps]
    values = [torch.load(path, weights_only=True, mmap=True) for path in request.inputs]  # on the host
    born, start = process_state.at_birth(), process_state.look()
    device = open_device(request.device)
    replaced = process_state.watch()
    if isinstance(request.device, EMULATED):
        torch.default_generator.manual_seed(SEED)  # `torch.manual_seed` takes 3 ms: it notes a traceback a kind of GPU
    else:
        torch.manual_seed(SEED)
    calls: dict[str, Function] = {}
    if request.entry is not None:
        calls["claim"] = returning(device.load(request.entry, request.harness), request.harness)
    calls |= _of_the_reference(request)  # after claimed code, which does not find it when it is loaded
    loaded = process_state.look().since(born)
    device.begin()
    host = request.harness.host
    cases = [Arguments(each, device.upload, host=host, checksum=device.checksum) for each in values]
    held: dict[int, object] = {}
    vacated: list[int] = []
    for index, step in enumerate(steps):
        if "mode" in step:
            device.behave(request.modes[step["mode"]])
        call = _earlier(held, step) if "of" in step else calls[step["run"]]
        one = _Step(device, call, step, start, cases, output_bytes[step["case"]], vacated)
        state = {"loaded": loaded["changed"], "replaced": replaced()}
        ended = partial(_ended, writer, device, {"step": index, **state})
        with exits().told(ended):
            event, result = one.run()
        event |= _firsts(one.firsts, folder, index, keep)
        if outputs := outputs_of(result):
            event |= described(outputs)
        if outputs and not any(each.is_meta for each in outputs):
            event["digest"] = keep(folder / f"{index}.bin", as_bytes(*(one.seen or outputs)))
            event["most_writes"] = max(max(device.write_counts(each), default=0) for each in outputs)
        if step.get("hold"):
            held[index] = result
        del result, outputs, one  # free the memory before the next step, as a benchmark does between calls
        state = {"loaded": loaded["changed"], "replaced": replaced()}
        yield {"step": index, **event, **device.trace(), "tuned": device.tuned(), **state}


def _ended(writer: EventWriter, device: SessionDevice, about: dict[str, Any], how: str) -> None:
    """Send the event of a step within which native code calls `exit`, with the device's first report."""
    trace = device.trace()
    first = next((one for one in trace["reports"] if one["message"] not in how), None)
    seen = f"; the device had reported: {first['kind']}: {first['message']}" if first else ""
    writer.tell({**about, **trace, "raised": f"Exit: {how}{seen}"})


def _earlier(held: dict[int, object], step: dict[str, Any]) -> Function:
    """Return a call that returns an earlier result as it is, or drops it and returns a spoiled copy."""
    of = step["of"]
    return (lambda *_: spoiled(held, of)) if step["run"] == "spoiled" else (lambda *_: held[of])


def _of_the_reference(request: Session) -> dict[str, Function]:
    """Load the reference where a step needs it; in other sessions claimed code does not find it in its process."""
    if request.reference is None or not any(step.run in ("reference", "plant") for step in request.steps):
        return {}
    reference = load_reference(request.reference, shape=request.shape).reference
    return {"reference": reference, "plant": planted(reference)}


@dataclass
class _Step:
    """One step: its calls and their side effects.

    Attributes:
        vacated: the addresses of the inputs of the last `fresh` step, which this one may replace.
        firsts: see `InTurn`.
        seen: the step's snapshot.
    """

    device: SessionDevice
    call: Function
    step: dict[str, Any]
    start: process_state.ProcessState
    cases: list[Arguments]
    output_bytes: tuple[int, ...]
    vacated: list[int]
    firsts: dict[int, FirstResult] = field(default_factory=dict)
    seen: tuple[torch.Tensor, ...] = ()

    @property
    def _case(self) -> Arguments:
        case: int = self.step["case"]
        return self.cases[case]

    @property
    def _into(self) -> Arguments:
        case: int = self.step.get("into", self.step["case"])
        return self.cases[case]

    def run(self) -> tuple[dict[str, Any], object]:
        """Return the event and the call's result."""
        if failed := self._case.failed or self._into.failed:
            return {"raised": failed}, None
        try:
            return self._ran()
        except Exception as error:  # claimed code may raise anything
            self._into.invalidate()
            return {"raised": named(error)}, None

    def _ran(self) -> tuple[dict[str, Any], object]:
        if order := self.step.get("order"):
            return self._in_turn(order)
        inputs = self._inputs()
        before = process_state.look()
        self.device.before_call(self.output_bytes)
        started = time.perf_counter()
        result = self._called(inputs)
        self.device.after_call()
        event: dict[str, Any] = {"seconds": time.perf_counter() - started, "returned": type_of(result)}
        event |= process_state.settled(before)
        if self.seen and (self.step.get("snapshot") or self.step.get("stream")):
            event["late"] = self._late(self.seen, outputs_of(result))
        event |= {"bytes_changed": self._changed(inputs), "aliases": aliases(result, inputs)}
        if self.step.get("fresh"):
            now = [x.data_ptr() for x in tensors(inputs)]
            event["same_address"] = sum(one == other for one, other in zip(now, self.vacated, strict=False))
            self.vacated[:] = now
        if extended := self._case.extended(inputs):
            event["left_in"] = extended
        return event, result

    def _inputs(self) -> list[Any]:
        """Return the arguments of the step."""
        if "of" in self.step:
            return self._case.values
        if layout := self.step.get("layout"):
            return self._case.laid_out(layout)
        if self.step.get("fresh"):
            return self._case.fresh(at=self.vacated)
        if self.step.get("stream"):
            stale = self._into.fill(self._into.values)  # `call_behind` writes the step's own values
            self._into.invalidate()
            return stale
        return self._into.fill(self._case.values)

    def _called(self, inputs: list[Any]) -> object:
        """Return the result; `seen` gets a copy made right after the call, on a GPU where the step asks for one."""
        if stream := self.step.get("stream"):
            result, self.seen = call_patterns.call_behind(self.call, inputs, self._case.values, stream=stream)
            return result
        on_gpu = self.step.get("snapshot") and any(x.is_cuda for x in tensors(inputs))
        buffers = raw_memory.SnapshotBuffers(self.output_bytes, queued="into" in self.step) if on_gpu else None
        result = own(self.call(*inputs))
        outputs = outputs_of(result)
        self.seen = buffers.snapshot(outputs) if buffers else raw_memory.taken(outputs)
        if self.step.get("snapshot") and not self.seen:
            self.seen = tuple(one.clone() for one in outputs)
        return result

    def _late(self, seen: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]) -> int:
        """Return the number of bytes of the result that changed after the call had returned."""
        now = process_state.look().since(self.start)
        if now["threads"] or now["children"]:  # they could still write
            time.sleep(LATE_CUDA_S if seen[0].is_cuda else LATE_S)
            self.device.after_call()
        return sum(self._differing(*pair) for pair in zip(seen, outputs, strict=True))

    def _differing(self, seen: torch.Tensor, now: torch.Tensor) -> int:
        if alike(seen, now):
            checksum = self.device.checksum(seen)
            if checksum is not None and checksum == self.device.checksum(now):
                return 0
        return differing(seen, now)

    def _in_turn(self, order: list[int]) -> tuple[dict[str, Any], object]:
        """Make many calls; see `InTurn`."""
        turn = InTurn(self.call, self.device, self.cases, self._into, self.output_bytes)
        before, started = process_state.look(), time.perf_counter()
        event, result = turn.run(order, flush_from=self.step["flush_from"])
        self.firsts = turn.firsts
        call = {"seconds": time.perf_counter() - started, "returned": type_of(result)}
        return {**call, **process_state.settled(before), **event}, result

    def _changed(self, inputs: list[Any]) -> list[int]:
        """Return the number of bytes that a call changed in each input; `fill` restores them before the next call."""
        changed = self._case.changed(inputs)
        if any(changed):
            self._into.invalidate()
        return changed


def _firsts(
    firsts: dict[int, FirstResult], folder: Path, step: int, keep: Callable[[Path, torch.Tensor], str]
) -> dict[str, Any]:
    """Write the first results of a sequence, each to `<step>-<case>.bin`; return the event key."""
    events = [
        {"of": case, **one.about, "digest": keep(folder / f"{step}-{case}.bin", one.data)}
        for case, one in firsts.items()
    ]
    return {"firsts": events} if events else {}
