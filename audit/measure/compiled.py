"""torch.compile made ready ahead of the timing: importing it takes seconds, its search for the fastest code minutes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from audit.build.cuda import gpu
from audit.build.emulated.cache import cache_folder, fingerprint, is_whole
from audit.measure import compiler_caches
from audit.measure.state import not_timed
from audit.model import Finding, Shape
from audit.model.errors import BadInput
from audit.run.pool import SharedProcess, Workers
from audit.run.timing_requests import Compiled
from audit.sandbox import machine

AHEAD = ("compile", "compile_max_autotune")
LIMIT_S = 180.0


@dataclass(frozen=True)
class Ready:
    """The compiled baselines a session can load quickly from `store`, and what is to say about the others."""

    names: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    store: Path | None = None


def ahead(process: Workers | SharedProcess, *, reference: Path, shape: Shape, inputs: Path) -> Ready:
    """Compiles each of `AHEAD` once for this reference, shape, torch and GPU; what was made before is only loaded.

    In a process that times later too, the compiler is then imported there. max-autotune times candidates while it
    compiles: beside other work on the GPU it may choose a slower one.
    """
    store = _store(reference, shape)
    with compiler_caches.place(process, scratch=inputs.parent) as (results, caches):
        return _compiled(process, reference, inputs, store=store, results=results, caches=caches)


def _compiled(
    process: Workers | SharedProcess, reference: Path, inputs: Path, *, store: Path, results: Path, caches: Path
) -> Ready:
    request = Compiled(
        reference=reference,
        inputs=(inputs,),
        compiled=AHEAD,
        compile_workers=1 if is_whole(store) else machine.jobs(),
        inductor=compiler_caches.brought(store, caches),
        folder=results,
        caches=caches,
    )
    reply = process.call(request, limit_s=LIMIT_S)
    names = tuple(event["loaded"] for event in reply.events if "loaded" in event)
    reasons = {event["failed"]: event["why"] for event in reply.events if "failed" in event}
    missing = [name for name in AHEAD if name not in names]
    if not missing:
        compiler_caches.keep(caches, store)
    ended = f"{reply.ending}: {reply.detail}"
    return Ready(names, tuple(not_timed(f"baseline:{name}", reasons.get(name, ended)) for name in missing), store)


def _store(reference: Path, shape: Shape) -> Path:
    try:
        chip = gpu.find().name
    except BadInput:
        chip = "unknown"
    parts: list[str | bytes] = [*AHEAD, reference.read_bytes(), repr(sorted(shape.items())), metadata.version("torch")]
    return cache_folder() / "inductor" / fingerprint([*parts, chip])
