"""The shapes that a device is asked at, before any case is made."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from audit.build.device import AuditDevice
from audit.build.python.source import PythonSource
from audit.claims import ClaimFolder
from audit.claims.importers import GIVEN
from audit.claims.importers.material import Material
from audit.claims.shapes.counting import INTERPRETED, MOST_WORK, PROGRAM_COST, THREAD_COST, first_that_fits, scope_of
from audit.model import Shape
from audit.model.errors import BadInput, CompileError, Unsupported
from audit.probes.concluding.answer import label
from audit.probes.observing import claimed_shape, variations
from audit.probes.observing.block_calls import WHOLE, stopped, whole_s
from audit.probes.observing.called import ProtocolViolated, SessionBroken
from audit.probes.observing.claimed_shape import Launched
from audit.probes.observing.target import Target
from audit.run.messages import requests
from audit.run.processes.pool import Reply, Workers

_OURS = f"{BadInput.__module__}.{BadInput.__name__}: "
"""Before a sentence of ours about the file; what the task itself raised has another name."""
_NOT_ON_CPU = re.compile(r"(NotImplementedError|RuntimeError): \"\w+\" not implemented for '\w+'")
"""What torch says of a type that one of its operations lacks."""
LARGE, SMALLER = 1024, 8
"""A size from LARGE on is divided by SMALLER; where there is none, every size is halved."""
ANY_WORK = 1 << 62
MOST_CALL_S, MOST_BLOCK_S = 10.0, 1.0
"""The processor time of a call, half the limit of a launch, beyond which a smaller shape is asked at, and that in which
one block has to end: it may wait for another one, which only a call with all blocks ends."""
_NO_KEY = re.compile(r"KeyError: '(\w+)'")


def of(folder: ClaimFolder, device: AuditDevice, workers: Workers, numbers: Collection[int]) -> tuple[Shape, ...]:
    """Return the shapes to ask at; the claimed one or of an importer's candidates the first whose work fits the device.

    Questions about values need no large arrays: on a GPU, which can run the claimed shape, the importer's most
    faithful smaller one that the task takes is asked too where it counts for the claim. `numbers` are those that the
    sources name.

    Raises:
        BadInput: the task does not say what a call takes.
    """
    claim, shapes, on_gpu = folder.claim, device.shapes(folder.claim), device.describe().kind == "cuda"
    if on_gpu and claim.shapes.emulated_by == "importer":
        alike = tuple(filter(claim.shapes.has_the_module_of, claim.shapes.emulated))
        known = zip(alike, _work(folder, alike, workers, most=ANY_WORK), strict=True)
        smaller = next((shape for shape, work in known if work is not None), None)
        one_more = smaller and smaller not in shapes and scope_of(smaller, claim.shapes, numbers) != "other"
        return (smaller, *shapes) if smaller and one_more else shapes
    if on_gpu or claim.shapes.emulated_by == "claim" or len(shapes) == 1:
        return shapes
    every = (claim.shapes.claimed, *shapes)
    scopes = [scope_of(shape, claim.shapes, numbers) for shape in every]
    slower = INTERPRETED if _interpreted(folder) else 1
    return (every[first_that_fits(scopes, _work(folder, every, workers, most=MOST_WORK), slower=slower)],)


def lighter(target: Target, numbers: Collection[int]) -> Shape | None:
    """Return the importer's smaller shape to ask at instead, where the launches at the shape of the target's one case
    have too many threads for the device to run a hundred calls; None where they have not, or are unknown.

    The work of the task does not show them: a kernel may have a block of threads for each element of its result.
    """
    shapes, case = target.claim.shapes, target.largest
    if shapes.emulated_by != "importer":
        return None
    every = [shapes.claimed, *shapes.emulated]
    left = every[every.index(case.shape) :]
    try:
        work = [_launched_work(one) for one in claimed_shape.launched(target, left)]
    except (Unsupported, SessionBroken, ProtocolViolated):  # probes of the claimed shape say why
        return None
    place = first_that_fits([scope_of(one, shapes, numbers) for one in left], work)
    return left[place] if place and None not in work[: place + 1] else None


def quicker(target: Target) -> Shape | None:
    """Return the importer's smaller shape to ask at instead, where a call at the shape of the target's one case takes
    over MOST_CALL_S; None where it does not, or there is none.

    Neither the work of the task nor the threads show that: every thread of a block may wait at a barrier for each
    element of a row.
    """
    shapes, case = target.claim.shapes, target.largest
    if shapes.emulated_by != "importer":
        return None
    every = [shapes.claimed, *shapes.emulated]
    if not (left := every[every.index(case.shape) + 1 :]):
        return None
    try:
        block, _ = claimed_shape.parts(target, case, target.plain, blocks=1, most_s=MOST_BLOCK_S)
        if block["raised"] or whole_s(block) <= MOST_CALL_S:
            return None
        call, _ = claimed_shape.parts(target, case, target.plain, blocks=WHOLE, most_s=MOST_CALL_S)
        if not stopped(call):
            return None
        found = claimed_shape.launched(target, left)
    except (Unsupported, SessionBroken, ProtocolViolated):  # probes of the shape say why
        return None
    taken = [one for one in found if one.raised is None]
    quick = (one for one in taken if _call_s(one, block) <= MOST_CALL_S)
    return next((one.shape for one in (*quick, *taken[-1:])), None)


def _call_s(found: Launched, block: dict[str, Any]) -> float:
    """Return the expected seconds of a call whose launches have such blocks as that event's; infinite where unknown."""
    if stopped(block) or len(found.launches) != len(block["launches"]):
        return math.inf
    pairs = zip(found.launches, block["launches"], strict=True)
    seconds: float = sum(math.prod(one["grid"]) * like["seconds"] / max(1, like["blocks_run"]) for one, like in pairs)
    return seconds


def _launched_work(found: Launched) -> int | None:
    """Return the least work of the launches of a call; None where its host code raised."""
    threads = (one["threads"] for one in found.launches)
    programs = (math.prod(one["grid"]) for one in found.launches if one["threads"] is None)
    work = THREAD_COST * sum(one or 0 for one in threads) + PROGRAM_COST * sum(programs)
    return None if found.raised is not None else work


def _work(folder: ClaimFolder, shapes: tuple[Shape, ...], workers: Workers, *, most: int) -> list[int | None]:
    """Return the work at each shape, see `run.references.work.weighed`; None where the task does not take it, or it is
    too much. Raises BadInput, see `unusable`."""
    request = requests.Work(reference=folder.reference, shapes=shapes, most=most)
    reply = workers.call(request, limit_s=variations.LIMIT_S)
    if not reply.finished:
        raise unusable(folder, reply)
    return [event["work"] for event in reversed(reply.events)]


def unusable(folder: ClaimFolder, reply: Reply, *, on_gpu: bool = False) -> BadInput:
    """Return what the task did in place of an answer, how to name a size that it lacks, where it needs a GPU, and
    what to type where it needs more time or memory than a session has."""
    if reply.ending == "raised" and reply.detail.startswith(_OURS):
        return BadInput(f"{folder.path.name}/{reply.detail.removeprefix(_OURS)}")
    text = f"{folder.path.name}/reference.py: {reply.ending}: {reply.detail}"
    if reply.ending == "raised" and not on_gpu and _NOT_ON_CPU.fullmatch(reply.detail):
        return BadInput(
            f"{text}; torch cannot compute the reference in this type on a processor, so nothing is known about the "
            "kernel; audit it on a GPU, with --device cuda"
        )
    if reply.ending in ("stopped", "timed out") and (line := again(folder)) is not None:
        return BadInput(f"{text}; import it again with smaller sizes, for example: {line}")
    lacking, claimed = _NO_KEY.fullmatch(reply.detail), folder.claim.shapes.claimed
    if reply.ending != "raised" or lacking is None or lacking[1] in claimed:
        return BadInput(text)
    return BadInput(f"{text}; the shape has no such size: {label(claimed)}")


def again(folder: ClaimFolder) -> str | None:
    """Return what to type for a claim of an import, with smaller sizes; None for one that nobody imported."""
    originals = folder.path / "original"
    if not folder.claim.original or not originals.is_dir():
        return None
    known = dict(folder.claim.shapes.claimed)
    if "get_init_inputs" in folder.reference.read_text(encoding="utf-8"):  # sizes of a module are none of a call
        named = [one for text in Material([originals]).python.values() if "Model" in text.classes
                 for one in text.integers.items()]  # fmt: skip
        known = dict(named) | known
    sizes = [f"{name}={size}" for name, size in _smaller(known).items()]
    if not sizes:
        return None
    tolerance = folder.claim.tolerance
    told = ["--tolerance", f"{tolerance.relative:g}"] if tolerance.reason == GIVEN else []
    here = Path.cwd()
    path = folder.path.relative_to(here) if folder.path.is_relative_to(here) else folder.path
    return shlex.join(["audit", "import", f"{path}/original", "--to", f"{path}_2", "--shape", *sizes, *told])


def _smaller(known: Shape) -> dict[str, int]:
    large = {name: size // SMALLER for name, size in known.items() if size >= LARGE}
    return large or {name: size // 2 for name, size in known.items() if size > 1}


def _interpreted(folder: ClaimFolder) -> bool:
    """Return whether Triton's interpreter runs the claimed kernel."""
    claimed = folder.claim.claimed
    if claimed is None or not claimed.file.endswith(".py"):
        return False
    with suppress(CompileError, Unsupported):  # its build says why
        return bool(PythonSource(folder.source_of(claimed).read_text(encoding="utf-8")).triton_kernels)
    return False
