"""Runs in a child: one variant, one fresh process, a few steps in a given order.

Request: `device` (what `device.open_device` takes), `entry`, `reference`, `inputs` (one file of tensors a case),
`output_bytes` (size of the right output, one a case), `steps` (each `{"run": "claim" or "reference" or "plant",
"case": k}`), `folder` for the outputs `<step>.bin` (raw), `count_writes` to add `most_writes`, the largest number of
writes into one 4-byte word of the output.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from audit.worker.device import SessionDevice, open_device
from audit.worker.oracle import load_reference

Tell = Callable[[dict[str, Any]], None]
PLANTED_BLOCKS = 3
PLANTED_BYTES = (0x71, 0x7B)


def run(request: dict[str, Any], tell: Tell) -> None:
    """Tells one event a step; a Python exception of the claimed code is an event too, and ends its step only."""
    device = open_device(request["device"])
    reference = load_reference(request["reference"]).reference
    calls = {"claim": device.load(request["entry"]), "reference": reference, "plant": _plant(reference)}
    device.begin()
    cases = [_uploaded(device, path) for path in request["inputs"]]
    for index, step in enumerate(request["steps"]):
        case = step["case"]
        event, result = _step(device, calls[step["run"]], cases[case], output_bytes=request["output_bytes"][case])
        if isinstance(result, torch.Tensor):
            event |= _describe(result)
        if isinstance(result, torch.Tensor) and not result.is_meta:
            (Path(request["folder"]) / f"{index}.bin").write_bytes(_bytes_of(result))
            if request["count_writes"]:
                event["most_writes"] = max(device.write_counts(result), default=0)
        del result  # back to the allocator before the next step, as between two calls of a benchmark
        tell({"step": index, **step, **event, **device.trace()})


def _uploaded(device: SessionDevice, path: str) -> list[Any] | str:
    """The arguments of a case, tensors in device memory, or what kept them out of it: the other cases go on."""
    arguments = torch.load(path, weights_only=True)
    try:
        return [device.upload(x) if isinstance(x, torch.Tensor) else x for x in arguments]
    except torch.OutOfMemoryError as error:
        return _named(error)


def _named(error: Exception) -> str:
    """The error's type and first line; torch appends advice and a stack of its own."""
    lines = str(error).strip().splitlines() or ["no message"]
    return f"{type(error).__name__}: {lines[0]}"


def _step(
    device: SessionDevice, call: Callable[..., Any], inputs: list[Any] | str, *, output_bytes: int
) -> tuple[dict[str, Any], object]:
    if isinstance(inputs, str):
        return {"raised": inputs}, None
    try:
        before = [_bytes_of(x) for x in inputs]  # fails too where an earlier call broke the device's context
        device.before_call(output_bytes)
        started = time.perf_counter()
        result = call(*inputs)
        device.after_call()
    except Exception as error:  # claimed code may raise anything; what it raised is the event
        return {"raised": _named(error)}, None
    seconds = time.perf_counter() - started
    changed = [_differing(was, _bytes_of(x)) for was, x in zip(before, inputs, strict=True)]
    return {"seconds": seconds, "bytes_changed": changed, "returned": type(result).__name__}, result


def _plant(reference: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A call that leaves the same values in several blocks of the reference result's size.

    Several, since the reference leaves freed blocks of that size too, and any of them may be handed out next. The bytes
    are random among those of large numbers in every format: among millions, smaller ones meet a result's by chance.
    """

    def call(*inputs: Any) -> torch.Tensor:
        like = reference(*inputs)
        size = like.numel() * like.element_size()
        values = torch.randint(*PLANTED_BYTES, (size,), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
        more = [torch.empty(size, dtype=torch.uint8, device=like.device) for _ in range(PLANTED_BLOCKS)]
        blocks = [like.contiguous().reshape(-1).view(torch.uint8), *more]
        return [block.copy_(values) for block in blocks][-1].view(like.dtype).view(like.shape)

    return call


def _differing(before: bytes, after: bytes) -> int:
    return 0 if before == after else sum(a != b for a, b in zip(before, after, strict=True))


def _describe(result: torch.Tensor) -> dict[str, Any]:
    return {
        "shape": list(result.shape),
        "dtype": str(result.dtype).removeprefix("torch."),
        "device": result.device.type,
    }


def _bytes_of(tensor: object) -> bytes:
    """The bytes of a tensor; numbers and lists among the arguments have none that a call could change."""
    if not isinstance(tensor, torch.Tensor):
        return b""
    plain = tensor.detach().cpu().contiguous()
    return plain.reshape(-1).view(torch.uint8).numpy().tobytes()
