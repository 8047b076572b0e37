"""Patterns of calls: many in a row, one queued after a write that still runs, or one after values were
planted in memory that is then freed, so that a result read from there is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from audit.run.calls.arguments import Arguments, as_bytes, differing, write_all
from audit.run.calls.containers import leaves, rebuilt
from audit.run.calls.outputs import about, outputs_of, own
from audit.run.calls.raw_memory import LEAST_FLUSH_BYTES, SLEEP_CYCLES, taken
from audit.run.devices.device import SessionDevice
from audit.run.messages.requests import PLANTED_BYTES

_WITHOUT_CACHE_BYTES = 1 << 20
"""The bytes to overwrite on the emulated device, which has no cache to flush."""
PLANTED_BLOCKS = 3
SPOILED, BARELY_SPOILED = 16, 2048
"""One element in so many is overwritten, in every other block of the few: a claim that samples notices the many."""
Function = Callable[..., Any]


@dataclass(frozen=True)
class FirstResult:
    """The first result for a case: its bytes on the host, its shapes and types, and a checksum of each output."""

    data: torch.Tensor
    about: dict[str, Any]
    checksums: list[int | None]


@dataclass(frozen=True)
class InTurn:
    """Calls over the contents of several cases, each written into the buffers of one of them.

    Attributes:
        call: the function.
        device: its device.
        cases: the contents.
        into: the case with the buffers.
        output_bytes: the size of each right output.
        firsts: the first result of each case, by its number.
    """

    call: Function
    device: SessionDevice
    cases: Sequence[Arguments]
    into: Arguments
    output_bytes: Sequence[int]
    firsts: dict[int, FirstResult] = field(default_factory=dict)

    def run(self, order: Sequence[int], *, flush_from: int) -> tuple[dict[str, Any], object]:
        """Make one call for each number in `order`, the case whose contents it gets. From `flush_from` on memory is
        overwritten before each, as a timer flushes a cache.

        Return an event and a result. `differing` are the calls whose bytes differ from the first result for the same
        contents; `kept` is the call of that result: the last differing one, else the last.
        """
        flushed = None
        different: list[int] = []
        kept: tuple[int, object] = (0, None)
        for index, case in enumerate(order):
            inputs = self.into.fill(self.cases[case].values)
            if index >= flush_from:
                flushed = self._flush(flushed)
            self.device.before_call(self.output_bytes)
            result = own(self.call(*inputs))
            self.device.after_call()
            if self._differs(case, result):
                different.append(index)
            if different[-1:] == [index] or not different:
                kept = index, result
            if any(self.cases[case].changed(inputs)):
                self.into.invalidate()
        return {"differing": different, "kept": kept[0]}, kept[1]

    def _differs(self, case: int, result: object) -> bool:
        outputs = taken(outputs_of(result)) or outputs_of(result)
        if not outputs or any(one.is_meta for one in outputs):
            return True
        checksums, described = [self.device.checksum(one) for one in outputs], about(outputs)
        if (first := self.firsts.get(case)) is not None:
            same = None not in checksums and (checksums, described) == (first.checksums, first.about)
            return not same and bool(differing(first.data, as_bytes(*outputs)))
        self.firsts[case] = FirstResult(as_bytes(*outputs).clone(), described, checksums)  # the buffer may be reused
        return False

    def _flush(self, flushed: torch.Tensor | None) -> torch.Tensor:
        if flushed is None:
            flushed = self.device.upload(torch.empty(1, dtype=torch.uint8)).new_empty(LEAST_FLUSH_BYTES)
        (flushed if flushed.is_cuda else flushed[:_WITHOUT_CACHE_BYTES]).zero_()
        return flushed


OF_A_PRIORITY, PRIORITIES = 32, (0, -1)
"""The streams of each priority, which torch hands out in turn."""


def occupy_streams() -> None:
    """Let torch's streams sleep twice as long as the default one: work there may else be done in time by chance."""
    for priority in PRIORITIES * OF_A_PRIORITY:
        with torch.cuda.stream(torch.cuda.Stream(priority=priority)):  # type: ignore[no-untyped-call]
            torch.cuda._sleep(2 * SLEEP_CYCLES)  # type: ignore[no-untyped-call]


def call_behind(
    call: Function, buffers: list[Any], values: list[Any], *, stream: str
) -> tuple[object, tuple[torch.Tensor, ...]]:
    """Call a function on a stream that first sleeps, then writes the values into the buffers.

    A kernel outside that stream reads the earlier contents of the buffers. Beside the default stream, torch's other
    streams sleep longer: a kernel there ends after the result is read, unless that stream is waited for. Beside another
    stream they do not sleep: the GPU has fewer queues than torch has streams, and a launch on the default stream would
    wait in one of them until the inputs are written.

    Args:
        call: the function.
        buffers: its arguments, in device memory.
        values: their new contents, on the host.
        stream: "default", or "other" for a stream that does not wait for the default one.

    Returns:
        The call's result, see `outputs.own`, and a copy of each output, made next on the same stream.
    """
    there = rebuilt(values, [x.to("cuda") if isinstance(x, torch.Tensor) else x for x in leaves(values)])
    torch.cuda.synchronize()
    current = torch.cuda.default_stream() if stream == "default" else torch.cuda.Stream()  # type: ignore[no-untyped-call]
    with torch.cuda.stream(current):
        call(*buffers)  # leaves freed blocks on this stream: an allocation by the driver would wait for the sleep
        torch.cuda.synchronize()
        if stream == "default":
            occupy_streams()
        torch.cuda._sleep(SLEEP_CYCLES)  # type: ignore[no-untyped-call]
        write_all(buffers, there)
        result = own(call(*buffers))
        copies = tuple(one.clone() for one in outputs_of(result))
    current.synchronize()
    return result, copies


def planted(reference: Function) -> Function:
    """Return a function that fills several blocks of the size of each output of the reference with the same values.

    Several, since the reference frees blocks of that size too, and the allocator may hand out any of them next.
    """

    def filled(like: torch.Tensor) -> torch.Tensor:
        size = like.numel() * like.element_size()
        generator = torch.Generator(like.device).manual_seed(1)
        values = _random_bytes((size,), like, generator)
        more = [torch.empty(size, dtype=torch.uint8, device=like.device) for _ in range(PLANTED_BLOCKS)]
        blocks = [like.contiguous().reshape(-1).view(torch.uint8), *more]
        return [block.copy_(values) for block in blocks][-1].view(like.dtype).view(like.shape)

    def call(*inputs: Any) -> Any:
        made = tuple(filled(like) for like in outputs_of(own(reference(*inputs))))
        return made if len(made) > 1 else made[0]

    return call


def spoiled(held: dict[int, object], of: int) -> object:
    """Free an earlier result, and fill blocks of its size with a copy in which a few elements are overwritten.

    The result itself is not written to: its memory may be a buffer that the claim keeps and returns again.

    Args:
        held: the results of earlier steps; that one is taken out.
        of: the step of that result.

    Returns:
        The copy of each output.

    Raises:
        RuntimeError: an output is no dense tensor.
    """
    outputs = outputs_of(held[of])
    changed = tuple(_changed(each, SPOILED) for each in outputs)
    barely = tuple(_changed(each, BARELY_SPOILED) for each in outputs)
    del held[of]  # the first of the next blocks lies where it lay, unless the claim keeps it
    del outputs
    copies = [each.clone() for pair in zip(changed, barely, strict=True) for each in pair * PLANTED_BLOCKS]
    told = tuple(_in_a_larger_block(each) for each in changed)
    del changed, copies, barely
    return told if len(told) > 1 else told[0]


def _in_a_larger_block(output: torch.Tensor) -> torch.Tensor:
    """Return a copy whose block, freed last of all, goes to no request of the size of an output."""
    block = torch.empty(2 * output.numel(), dtype=output.dtype, device=output.device)
    return block[: output.numel()].view(output.shape).copy_(output)


def _changed(output: torch.Tensor, one_in: int) -> torch.Tensor:
    result = output.clone()
    data = result.view(-1).view(torch.uint8).view(-1, result.element_size())
    generator = torch.Generator(result.device).manual_seed(2)
    all_of_them = torch.randperm(len(data), device=result.device, generator=generator)
    few = all_of_them[: 1 + len(data) // SPOILED]
    values = _random_bytes((len(few), result.element_size()), result, generator)
    fewer = 1 + len(data) // one_in
    data[few[:fewer]] = values[:fewer]
    return result


def _random_bytes(shape: Sequence[int], like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return bytes of large numbers in every format: among millions of elements, small ones may equal a result's."""
    return torch.randint(*PLANTED_BYTES, tuple(shape), dtype=torch.uint8, device=like.device, generator=generator)
