"""The launches of a claimed function at sizes too large to run here, and the writes of a few blocks.

`inputs` has one file of arguments a shape. Without blocks in the device's configuration the host code alone runs, on
memory that is reserved and not touched; `described` arguments suffice, as for blocks whose faults alone count. With
blocks, `<shape number>.bin` gets the result, with the pattern of fresh memory in elements that they did not write. One
event a shape: launches, errors in them, an exception of the host code, and whether two of several calls `shared` the
memory of a result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from audit.run.calls.arguments import as_bytes, named
from audit.run.calls.containers import leaves
from audit.run.calls.harness import cast, placed, returning
from audit.run.calls.outputs import about, outputs_of, own, type_of
from audit.run.devices.device import open_device
from audit.run.devices.emulated import Emulated
from audit.run.messages.event_writer import EventWriter
from audit.run.messages.requests import Launches
from audit.run.references.imported_file import Sizes, as_on_a_gpu


def write_described(shapes: Sequence[Sizes], reference: ModuleType, folder: Path) -> Iterator[dict[str, Any]]:
    """Write the arguments of each shape to `<shape number>.described.pt`, tensors as one repeated element; yield
    their bytes, or why there are none."""
    for index, shape in enumerate(shapes):
        try:
            values = _arguments(shape, reference)
            blank = [
                torch.zeros((), dtype=x.dtype).expand(x.shape) if isinstance(x, torch.Tensor) else x for x in values
            ]
            torch.save(blank, folder / f"{index}.described.pt")
        except Exception as error:  # the file may raise anything
            yield {"described": index, "raised": named(error), "bytes": 0, "fractions": False}
        else:
            tensors = [x for x in values if isinstance(x, torch.Tensor)]
            size = sum(x.numel() * x.element_size() for x in tensors)
            fractions = all(map(torch.is_floating_point, tensors))
            yield {"described": index, "raised": None, "bytes": size, "fractions": fractions}


def _arguments(shape: Sizes, reference: ModuleType) -> list[Any]:
    """Return the arguments on torch's meta device, or drawn where making them needs values."""
    task = getattr(reference, "TASK", None)
    try:
        with torch.device("meta"), torch.no_grad(), as_on_a_gpu(meta=True):
            blank: list[Any] = task.blank(shape) if task else reference.inputs(shape, None)
            return blank
    except Exception:
        drawn: list[Any] = reference.inputs(shape, torch.Generator().manual_seed(0))
        return drawn


def run(request: Launches, writer: EventWriter) -> Iterator[dict[str, Any]]:
    """Yield one event a shape, which includes an exception of the claimed code."""
    every = [torch.load(path, weights_only=True, mmap=True) for path in request.inputs]  # copied once
    device, harness, keep = open_device(request.device), request.harness, writer.keep
    assert isinstance(device, Emulated)
    call = returning(device.load(request.entry, harness), harness)
    folder = request.folder
    device.begin()
    configured = request.device.configuration
    described = request.described or not (configured.blocks or configured.compiles)
    upload = _unwritten if described else device.upload
    for index, values in enumerate(every):
        given = placed([cast(value, harness) for value in values], upload, harness.host)
        changes = _changes(leaves(given))
        started = time.process_time()  # of other work on this machine, an estimate from it must not depend
        result, raised = _called(call, given)
        seconds = round(time.process_time() - started, 6)
        results = [result, *(_called(call, given)[0] for _ in range(request.calls - 1))]
        event: dict[str, Any] = {"launched": index, "raised": raised, "shape": None, "seconds": seconds}
        event |= {"shared": _shared(results), "returned": "" if raised else type_of(result)}
        outputs = outputs_of(result)
        if all(map(_has_values, outputs)) and outputs and upload is not _unwritten:
            blanked = [device.blank_unwritten(one) for one in outputs]
            event["blanked"] = all(blanked) and not _changed_by_torch(outputs, changes)
            event |= {**about(outputs), "digest": keep(folder / f"{index}.bin", as_bytes(*outputs))}
        yield {**event, **device.trace()}


def _changes(values: Sequence[Any]) -> dict[int, int]:
    """Return torch's count of changes in place by the memory of each tensor."""
    tensors = [one for one in values if isinstance(one, torch.Tensor)]
    return {one.untyped_storage().data_ptr(): one._version for one in tensors}


def _changed_by_torch(outputs: Sequence[torch.Tensor], before: dict[int, int]) -> bool:
    """Return whether an operator of torch changed a result in place: it may have read elements of blocks left out.

    A kernel's own writes are not counted.
    """
    return any(
        one.is_inference() or one._version > before.get(one.untyped_storage().data_ptr(), 0)  # the first has no count
        for one in outputs
    )


def _called(call: Callable[..., Any], values: list[Any]) -> tuple[Any, str | None]:
    """Return the result, or the message of an exception of the claimed code."""
    try:
        return own(call(*values)), None
    except Exception as error:
        return None, named(error)


def _shared(results: Sequence[Any]) -> bool:
    """Return whether two of those results share memory."""
    storages = [{one.untyped_storage().data_ptr() for one in outputs_of(each) if _has_values(one)} for each in results]
    return len(set().union(*storages)) < sum(map(len, storages))


def _has_values(output: torch.Tensor) -> bool:
    return type(output) is torch.Tensor and not output.is_meta and output.numel() > 0


def _unwritten(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor of that size whose memory is reserved and not touched."""
    return torch.empty(tensor.shape, dtype=tensor.dtype)
