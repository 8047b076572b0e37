"""The shapes that a device is asked at, before any case is made."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress

from audit.build.device import AuditDevice
from audit.build.python.source import PythonSource
from audit.claims import ClaimFolder
from audit.claims.shapes.counting import INTERPRETED, MOST_WORK, first_that_fits, scope_of
from audit.model import Shape
from audit.model.errors import BadInput, CompileError, Unsupported
from audit.probes import variations
from audit.probes.answer import label
from audit.run import requests
from audit.run.pool import Reply, Workers

_OURS = f"{BadInput.__module__}.{BadInput.__name__}: "
"""Before a sentence of ours about the file; what the task itself raised has another name."""
_NOT_ON_CPU = re.compile(r"(NotImplementedError|RuntimeError): \"\w+\" not implemented for '\w+'")
"""What torch says of a type that one of its operations lacks."""
_NO_KEY = re.compile(r"KeyError: '(\w+)'")


def of(folder: ClaimFolder, device: AuditDevice, workers: Workers, numbers: Collection[int]) -> tuple[Shape, ...]:
    """Return the shapes to ask at; the claimed one or of an importer's candidates the first whose work fits the device.

    Questions about values need no large arrays: on a GPU, which can run the claimed shape, the importer's most
    faithful smaller one is asked too where it counts for the claim. `numbers` are those that the sources name.

    Raises:
        BadInput: the task does not say what a call takes.
    """
    claim, shapes, on_gpu = folder.claim, device.shapes(folder.claim), device.describe().kind == "cuda"
    if on_gpu and claim.shapes.emulated_by == "importer":
        smaller = claim.shapes.emulated[0]
        known = smaller in shapes or scope_of(smaller, claim.shapes, numbers) == "other"
        return shapes if known else (smaller, *shapes)
    if on_gpu or claim.shapes.emulated_by == "claim" or len(shapes) == 1:
        return shapes
    every = (claim.shapes.claimed, *shapes)
    request = requests.Work(reference=folder.reference, shapes=every, most=MOST_WORK)
    reply = workers.call(request, limit_s=variations.LIMIT_S)
    if not reply.finished:
        raise unusable(folder, reply)
    scopes = [scope_of(shape, claim.shapes, numbers) for shape in every]
    work = [event["work"] for event in reversed(reply.events)]
    return (every[first_that_fits(scopes, work, slower=INTERPRETED if _interpreted(folder) else 1)],)


def unusable(folder: ClaimFolder, reply: Reply, *, on_gpu: bool = False) -> BadInput:
    """Return what the task did in place of an answer, how to name a size that it lacks, and where it needs a GPU."""
    if reply.ending == "raised" and reply.detail.startswith(_OURS):
        return BadInput(f"{folder.path.name}/{reply.detail.removeprefix(_OURS)}")
    text = f"{folder.path.name}/reference.py: {reply.ending}: {reply.detail}"
    if reply.ending == "raised" and not on_gpu and _NOT_ON_CPU.fullmatch(reply.detail):
        return BadInput(
            f"{text}; torch cannot compute the reference in this type on a processor, so nothing is known about the "
            "kernel; audit it on a GPU, with --device cuda"
        )
    lacking, claimed = _NO_KEY.fullmatch(reply.detail), folder.claim.shapes.claimed
    if reply.ending != "raised" or lacking is None or lacking[1] in claimed:
        return BadInput(text)
    return BadInput(f"{text}; the shape has no such size: {label(claimed)}")


def _interpreted(folder: ClaimFolder) -> bool:
    """Return whether Triton's interpreter runs the claimed kernel."""
    claimed = folder.claim.claimed
    if claimed is None or not claimed.file.endswith(".py"):
        return False
    with suppress(CompileError, Unsupported):  # its build says why
        return bool(PythonSource(folder.source_of(claimed).read_text(encoding="utf-8")).triton_kernels)
    return False
