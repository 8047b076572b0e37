"""Runs in a child: a call whose inputs are still being written on the current stream when it starts. GPU only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from audit.run.arguments import write_all
from audit.run.containers import leaves, rebuilt

SLEEP_CYCLES = 60_000_000
"""About 30 ms of a GPU's time: far more than the host needs to put everything behind it in the queue."""
STREAMS = ("default", "other")


def call_behind(
    call: Callable[..., Any], buffers: list[Any], values: list[Any], *, stream: str
) -> tuple[object, torch.Tensor | None]:
    """Calls on a stream that first sleeps, then writes the values into the buffers.

    Whoever works outside that stream sees what the buffers held before.

    Args:
        call: the function.
        buffers: its arguments, in device memory.
        values: what they are to hold, on the host.
        stream: "default", or "other" for a stream that does not wait for the default one.

    Returns:
        What the call returned, and a copy made on the same stream right behind it.
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
        result = call(*buffers)
        copy = result.clone() if isinstance(result, torch.Tensor) else None
    current.synchronize()
    return result, copy
