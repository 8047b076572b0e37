"""Runs in a child: patterns of calls: many in a row, or one queued after a write that still runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from audit.run.arguments import Arguments, as_bytes, differing, write_all
from audit.run.containers import leaves, rebuilt
from audit.run.device import SessionDevice
from audit.run.outputs import about, outputs_of, own
from audit.run.raw_memory import SLEEP_CYCLES
from audit.run.stopwatch import LEAST_FLUSH_BYTES

_WITHOUT_CACHE_BYTES = 1 << 20
"""The bytes to overwrite on the emulated device, which has no cache to flush."""


@dataclass(frozen=True)
class First:
    """The first result for a case: its bytes on the host, its shapes and types, and a checksum of each output."""

    data: torch.Tensor
    about: dict[str, Any]
    checksums: list[int | None]


class InTurn:
    """Calls over the contents of several cases, each written into the buffers of one of them.

    Args:
        call: the function.
        device: its device.
        cases: the contents.
        into: the case with the buffers.
        output_bytes: the size of each right output.

    Attributes:
        firsts: the first result of each case, by its number.
    """

    def __init__(
        self,
        call: Callable[..., Any],
        device: SessionDevice,
        *,
        cases: Sequence[Arguments],
        into: Arguments,
        output_bytes: Sequence[int],
    ) -> None:
        self._call, self._device, self._cases, self._into, self._bytes = call, device, cases, into, output_bytes
        self.firsts: dict[int, First] = {}

    def run(self, order: Sequence[int], *, flush_from: int) -> tuple[dict[str, Any], object]:
        """Make one call for each number in `order`.

        Args:
            order: the case whose contents each call gets.
            flush_from: the first call before which memory is overwritten, as a timer flushes a cache.

        Returns:
            An event and a result. `differing` are the calls whose bytes differ from the first result for the same
            contents; `kept` is the call of that result: the last differing one, else the last.
        """
        flushed = None
        different: list[int] = []
        kept: tuple[int, object] = (0, None)
        for index, case in enumerate(order):
            inputs = self._into.fill(self._cases[case].values)
            if index >= flush_from:
                flushed = self._flush(flushed)
            self._device.before_call(self._bytes)
            result = own(self._call(*inputs))
            self._device.after_call()
            if self._differs(case, result):
                different.append(index)
            if different[-1:] == [index] or not different:
                kept = index, result
            if any(self._cases[case].changed(inputs)):
                self._into.invalidate()
        return {"differing": different, "kept": kept[0]}, kept[1]

    def _differs(self, case: int, result: object) -> bool:
        outputs = outputs_of(result)
        if not outputs or any(one.is_meta for one in outputs):
            return True
        checksums, described = [self._device.checksum(one) for one in outputs], about(outputs)
        if (first := self.firsts.get(case)) is not None:
            same = None not in checksums and (checksums, described) == (first.checksums, first.about)
            return not same and bool(differing(first.data, as_bytes(*outputs)))
        self.firsts[case] = First(as_bytes(*outputs).clone(), described, checksums)  # the buffer may be reused
        return False

    def _flush(self, flushed: torch.Tensor | None) -> torch.Tensor:
        if flushed is None:
            flushed = self._device.upload(torch.empty(1, dtype=torch.uint8)).new_empty(LEAST_FLUSH_BYTES)
        (flushed if flushed.is_cuda else flushed[:_WITHOUT_CACHE_BYTES]).zero_()
        return flushed


STREAMS = ("default", "other")


def call_behind(
    call: Callable[..., Any], buffers: list[Any], values: list[Any], *, stream: str
) -> tuple[object, tuple[torch.Tensor, ...]]:
    """Call a function on a stream that first sleeps, then writes the values into the buffers.

    A kernel outside that stream reads the earlier contents of the buffers.

    Args:
        call: the function.
        buffers: its arguments, in device memory.
        values: their new contents, on the host.
        stream: "default", or "other" for a stream that does not wait for the default one.

    Returns:
        The call's result, see `outputs.own`, and a copy of each output, made next on the same stream.
    """
    if stream not in STREAMS:
        raise LookupError(f"unknown stream {stream}; known: {', '.join(STREAMS)}")
    there = rebuilt(values, [x.to("cuda") if isinstance(x, torch.Tensor) else x for x in leaves(values)])
    torch.cuda.synchronize()
    current = torch.cuda.default_stream() if stream == "default" else torch.cuda.Stream()  # type: ignore[no-untyped-call]
    with torch.cuda.stream(current):
        call(*buffers)  # leaves freed blocks on this stream: an allocation by the driver would wait for the sleep
        torch.cuda.synchronize()
        torch.cuda._sleep(SLEEP_CYCLES)  # type: ignore[no-untyped-call]
        write_all(buffers, there)
        result = own(call(*buffers))
        copies = tuple(one.clone() for one in outputs_of(result))
    current.synchronize()
    return result, copies
