"""Runs in a child: calls that are more than one plain call: many in a row, or one behind a write that still runs."""

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
"""The emulated device has no cache to empty: the buffer is as large as a timer's, and its beginning is overwritten."""


@dataclass(frozen=True)
class First:
    """The first result for a case's contents: its bytes on the host, what they are, and a checksum of each output."""

    data: torch.Tensor
    about: dict[str, Any]
    checksums: list[int | None]


class InTurn:
    """Calls over the contents of several cases, each written into the buffers of one of them.

    Args:
        call: the function.
        device: where it runs.
        cases: those whose contents are used, by their numbers in the session.
        into: has the buffers.
        output_bytes: the size of each right output.
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
        """One call for each number in `order`.

        Args:
            order: the case whose contents each call gets.
            flush_from: the place from which on much memory is overwritten before each call, as a timer empties a cache.

        Returns:
            `differing`: the places whose result has other bytes than the first one for the same contents; `kept`: the
            place of the result that comes with it, the last differing one, else the last. `firsts` holds the first
            results, one a case, each at its number.
        """
        flushed = None
        different: list[int] = []
        kept: tuple[int, object] = (0, None)
        for place, case in enumerate(order):
            inputs = self._into.fill(self._cases[case].values)
            if place >= flush_from:
                flushed = self._flush(flushed)
            self._device.before_call(self._bytes)
            result = own(self._call(*inputs))
            self._device.after_call()
            if self._differs(case, result):
                different.append(place)
            if different[-1:] == [place] or not different:
                kept = place, result
            if any(self._cases[case].changed(inputs)):
                self._into.spoil()
        return {"differing": different, "kept": kept[0]}, kept[1]

    def _differs(self, case: int, result: object) -> bool:
        outputs = outputs_of(result)
        if not outputs or any(one.is_meta for one in outputs):
            return True
        checksums, described = [self._device.checksum(one) for one in outputs], about(outputs)
        if (first := self.firsts.get(case)) is not None:
            same = None not in checksums and (checksums, described) == (first.checksums, first.about)
            return not same and bool(differing(first.data, as_bytes(*outputs)))
        self.firsts[case] = First(as_bytes(*outputs).clone(), described, checksums)  # it may be written again
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
    """Calls on a stream that first sleeps, then writes the values into the buffers.

    Whoever works outside that stream sees what the buffers held before.

    Args:
        call: the function.
        buffers: its arguments, in device memory.
        values: what they are to hold, on the host.
        stream: "default", or "other" for a stream that does not wait for the default one.

    Returns:
        What the call returned, see `outputs.own`, and a copy of each output made on the same stream right behind it.
    """
    if stream not in STREAMS:
        raise LookupError(f"unknown stream {stream}; known: {', '.join(STREAMS)}")
    there = rebuilt(values, [x.to("cuda") if isinstance(x, torch.Tensor) else x for x in leaves(values)])
    torch.cuda.synchronize()
    current = torch.cuda.default_stream() if stream == "default" else torch.cuda.Stream()  # type: ignore[no-untyped-call]
    with torch.cuda.stream(current):
        call(*buffers)  # leaves freed blocks on this stream: asking the driver for memory would wait for the sleep
        torch.cuda.synchronize()
        torch.cuda._sleep(SLEEP_CYCLES)  # type: ignore[no-untyped-call]
        write_all(buffers, there)
        result = own(call(*buffers))
        copies = tuple(one.clone() for one in outputs_of(result))
    current.synchronize()
    return result, copies
