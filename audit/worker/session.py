"""Runs in a child: one variant, one fresh process, a few steps in a given order.

Request: `device` (what `device.open_device` takes), `entry`, `reference`, `inputs` (one file of tensors a case),
`steps` (each `{"run": "claim" or "reference" or "plant", "case": k}`), `folder` for the outputs `<step>.bin` (raw),
`count_writes` to add `most_writes`, the largest number of writes into one 4-byte word of the output.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from audit.worker.device import open_device
from audit.worker.oracle import load_reference

Tell = Callable[[dict[str, Any]], None]


def run(request: dict[str, Any], tell: Tell) -> None:
    """Tells one event a step; a Python exception of the claimed code is an event too, and ends its step only."""
    device = open_device(request["device"])
    reference = load_reference(request["reference"]).reference
    calls = {"claim": device.load(request["entry"]), "reference": reference, "plant": _plant(reference)}
    device.begin()
    cases = [[device.upload(x) for x in torch.load(path, weights_only=True)] for path in request["inputs"]]
    for index, step in enumerate(request["steps"]):
        event, result = _step(calls[step["run"]], cases[step["case"]])
        if isinstance(result, torch.Tensor):
            event |= _describe(result)
        if isinstance(result, torch.Tensor) and not result.is_meta:
            (Path(request["folder"]) / f"{index}.bin").write_bytes(_bytes_of(result))
            if request["count_writes"]:
                event["most_writes"] = max(device.write_counts(result), default=0)
        del result  # back to the allocator before the next step, as between two calls of a benchmark
        tell({"step": index, **step, **event, **device.trace()})


def _step(call: Callable[..., Any], inputs: list[torch.Tensor]) -> tuple[dict[str, Any], object]:
    before = [_bytes_of(x) for x in inputs]
    started = time.perf_counter()
    try:
        result = call(*inputs)
    except Exception as error:  # claimed code may raise anything; what it raised is the event
        return {"raised": f"{type(error).__name__}: {error}"}, None
    seconds = time.perf_counter() - started
    changed = [_differing(was, _bytes_of(x)) for was, x in zip(before, inputs, strict=True)]
    return {"seconds": seconds, "bytes_changed": changed, "returned": type(result).__name__}, result


def _plant(reference: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A call that returns random values, unlike any result, in a block of the reference result's size."""

    def call(*inputs: torch.Tensor) -> torch.Tensor:
        like = reference(*inputs)
        return torch.empty_like(like).copy_(1e3 * torch.randn(like.shape, generator=torch.Generator().manual_seed(1)))

    return call


def _differing(before: bytes, after: bytes) -> int:
    return 0 if before == after else sum(a != b for a, b in zip(before, after, strict=True))


def _describe(result: torch.Tensor) -> dict[str, Any]:
    return {
        "shape": list(result.shape),
        "dtype": str(result.dtype).removeprefix("torch."),
        "device": result.device.type,
    }


def _bytes_of(tensor: torch.Tensor) -> bytes:
    plain = tensor.detach().cpu().contiguous()
    return plain.reshape(-1).view(torch.uint8).numpy().tobytes()
