"""Made ahead of a timing session: a second set of inputs, compiled baselines, and the folders that compilers keep.

Importing torch.compile takes seconds, its search for the fastest code minutes. What compilers keep between processes is
brought into a session's own folder, so that claimed code can spoil nothing: a session that loads claimed code never
writes to the user's cache. The results of torch.compile are stored from a process that has loaded no claimed code by
then, one folder for each reference, shape, torch and GPU; what a `.py` variant keeps belongs to that session alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from audit.build.cuda import gpu
from audit.build.emulated.cache import cache_folder, fingerprint, is_whole, made
from audit.build.names import FOLDERS
from audit.build.settings import CudaPythonSettings, DeviceSettings
from audit.measure.checks import not_timed
from audit.model import Finding, Shape
from audit.model.errors import BadInput
from audit.probes.cases import Case
from audit.probes.variations import LIMIT_S
from audit.run.pool import SharedProcess, Workers
from audit.run.requests import Cases
from audit.run.timing_requests import Compiled
from audit.sandbox import machine


def second_case(workers: Workers, *, reference: Path, like: Case, seed: int, folder: Path) -> Case | None:
    """Another case of the same shape, made in a process of its own; None where that fails.

    A kernel that keeps its last result, or knows its inputs by their address, shows its hand when inputs rotate.

    Args:
        workers: run the process.
        reference: the claim's `reference.py`.
        like: the case whose shape and dtype it shares.
        seed: for the inputs.
        folder: takes the files.
    """
    request = Cases(
        reference=reference,
        shapes=(like.shape,),
        seeds=(seed % 2**63,),
        cost_shape=like.shape,
        folder=folder,
        device="cuda",
        bits=True,
    )
    reply = workers.call(request, limit_s=LIMIT_S)
    made = [event for event in reply.events if "case" in event]
    if not reply.finished or not made:
        return None
    return replace(like, inputs=folder / "0.inputs.pt").answered(reply, made[0])


AHEAD = ("compile", "compile_max_autotune")
COMPILE_LIMIT_S = 180.0


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
    with place(process, scratch=inputs.parent) as (results, caches):
        request = Compiled(
            reference=reference,
            inputs=(inputs,),
            compiled=AHEAD,
            compile_workers=1 if is_whole(store) else machine.jobs(),
            inductor=brought(store, caches),
            folder=results,
            caches=caches,
        )
        reply = process.call(request, limit_s=COMPILE_LIMIT_S)
        names = tuple(event["loaded"] for event in reply.events if "loaded" in event)
        missing = [name for name in AHEAD if name not in names]
        if not missing:
            keep(caches, store)
    reasons = {event["failed"]: event["why"] for event in reply.events if "failed" in event}
    ended = f"{reply.ending}: {reply.detail}"
    return Ready(names, tuple(not_timed(f"baseline:{name}", reasons.get(name, ended)) for name in missing), store)


def _store(reference: Path, shape: Shape) -> Path:
    try:
        chip = gpu.find().name
    except BadInput:
        chip = "unknown"
    parts: list[str | bytes] = [*AHEAD, reference.read_bytes(), repr(sorted(shape.items())), metadata.version("torch")]
    return cache_folder() / "inductor" / fingerprint([*parts, chip])


INDUCTOR = "inductor"


@contextmanager
def place(process: Workers | SharedProcess, *, scratch: Path) -> Iterator[tuple[Path, Path]]:
    """Folders of a session: for its files, and for what compilers keep. The latter are a shared process's own.

    Args:
        process: where the session will run.
        scratch: where folders are made for a fresh process.
    """
    if isinstance(process, SharedProcess):
        with TemporaryDirectory(dir=process.results) as results:
            yield Path(results), process.caches
        return
    with TemporaryDirectory(dir=scratch) as results, TemporaryDirectory(dir=scratch) as caches:
        yield Path(results), Path(caches)


def brought(store: Path | None, caches: Path) -> Path:
    """Where torch.compile keeps things in this session, with what is stored if it is not there yet."""
    own = caches / INDUCTOR
    if not own.is_dir():
        own.mkdir()
        if store is not None and is_whole(store):
            copy_files(store / INDUCTOR, own)
    return own


def keep(caches: Path, store: Path) -> None:
    """Stores what torch.compile made, if anything; only to be called before the process has loaded claimed code."""
    if any((caches / INDUCTOR).iterdir()):
        made(store, lambda unfinished: copy_files(caches / INDUCTOR, unfinished / INDUCTOR))


def private(name: str, settings: DeviceSettings, caches: Path) -> DeviceSettings:
    """Return the settings of the variant of that name with copies of its own caches in place of them."""
    if not isinstance(settings, CudaPythonSettings):
        return settings
    values = dict(settings.environment)
    for variable in FOLDERS.keys() & values.keys():
        own = caches / name / FOLDERS[variable]
        if not own.is_dir():
            own.mkdir(parents=True)
            copy_files(Path(values[variable]), own)
        values[variable] = str(own)
    return settings.model_copy(update={"environment": values})


def copy_files(source: Path, target: Path) -> None:
    """Copies folders and plain files; links, pipes and devices are left behind. Nothing happens without a source."""

    def others(folder: str, names: list[str]) -> list[str]:
        paths = [Path(folder, name) for name in names]
        return [path.name for path in paths if path.is_symlink() or not (path.is_dir() or path.is_file())]

    if source.is_dir():
        shutil.copytree(source, target, ignore=others, dirs_exist_ok=True)
