"""Prepare a timing session: a second set of inputs, compiled baselines, and compiler caches.

torch.compile's search for the fastest code takes minutes. A session gets a copy of compiler caches in its own folder:
one that loads claimed code never writes to the user's cache. The results of torch.compile are stored from a process
before it loads claimed code, one folder for each reference, shape, torch and GPU; the cache of a `.py` variant belongs
to its session alone.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from audit.build.cache import cache_folder, fingerprint, is_whole, made
from audit.build.cuda import gpu
from audit.build.settings import FOLDERS, CudaPythonSettings, DeviceSettings
from audit.measure.checks import not_timed
from audit.model import Finding, Shape
from audit.model.errors import BadInput
from audit.probes.observing.cases import Case
from audit.probes.observing.variations import LIMIT_S
from audit.run.messages.requests import Cases
from audit.run.messages.timing_requests import Compiled
from audit.run.processes.pool import Reply, Workers
from audit.sandbox import limits


def cases(
    workers: Workers, *, reference: Path, shape: Shape, seeds: tuple[int, ...], folder: Path, limit_s: float = LIMIT_S
) -> tuple[Reply, list[Case]]:
    """Make cases of a shape in a process of their own, none where that fails; the reply begins with the shape's work.
    Rotating inputs reveal a kernel that caches results by address."""
    request = Cases(reference=reference, shapes=(shape,) * len(seeds), seeds=tuple(seed % 2**63 for seed in seeds),
                    cost_shape=shape, folder=folder, device="cuda", bits=True)  # fmt: skip
    reply = workers.call(request, limit_s=limit_s)
    made = [event for event in reply.events if "case" in event] if reply.finished else []
    return reply, [
        Case.made(reply, one, shape=shape, inputs=folder / f"{one['case']}.inputs.pt", scope="other") for one in made
    ]


AHEAD = ("compile", "compile_max_autotune")
COMPILE_LIMIT_S = 180.0


@dataclass(frozen=True)
class Ready:
    """The compiled baselines that a session can load quickly from `store`, and findings about the others."""

    names: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    store: Path | None = None


def compile_ahead(workers: Workers, *, reference: Path, shape: Shape, inputs: Path) -> Ready:
    """Compile each of `AHEAD` for this reference, shape, torch and GPU, or load it from the store.

    max-autotune times candidates while it compiles: with other work on the GPU it may choose a slower one.
    """
    store = _store(reference, shape)
    with session_folders(inputs.parent) as (results, caches):
        request = Compiled(
            reference=reference,
            inputs=(inputs,),
            compiled=AHEAD,
            compile_workers=1 if is_whole(store) else limits.jobs(),
            inductor=load_cache(store, caches),
            folder=results,
            caches=caches,
        )
        reply = workers.call(request, limit_s=COMPILE_LIMIT_S)
        names = tuple(event["loaded"] for event in reply.events if "loaded" in event)
        missing = [name for name in AHEAD if name not in names]
        if not missing:
            store_cache(caches, store)
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
def session_folders(scratch: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the folders in `scratch` of a session's files and of its compiler caches."""
    with TemporaryDirectory(dir=scratch) as results, TemporaryDirectory(dir=scratch) as caches:
        yield Path(results), Path(caches)


def load_cache(store: Path | None, caches: Path) -> Path:
    """Return torch.compile's cache of this session, filled from the store."""
    own = caches / INDUCTOR
    own.mkdir()
    if store is not None and is_whole(store):
        copy_files(store / INDUCTOR, own)
    return own


def store_cache(caches: Path, store: Path) -> None:
    """Store torch.compile's cache, if it has files; to be called before the process loads claimed code."""
    if any((caches / INDUCTOR).iterdir()):
        made(store, lambda unfinished: copy_files(caches / INDUCTOR, unfinished / INDUCTOR))


def with_private_caches(name: str, settings: DeviceSettings, caches: Path) -> DeviceSettings:
    """Return the settings of the variant of that name with copies of its own caches."""
    if not isinstance(settings, CudaPythonSettings):
        return settings
    values = dict(settings.environment)
    for variable in FOLDERS.keys() & values.keys():
        own = caches / name / FOLDERS[variable]
        own.mkdir(parents=True)
        copy_files(Path(values[variable]), own)
        values[variable] = str(own)
    return settings.model_copy(update={"environment": values})


def copy_files(source: Path, target: Path) -> None:
    """Copy folders and regular files, without links, pipes and devices; do nothing without a source.

    Triton lists the files of a kernel by their full paths, which become those of the copies.
    """

    def others(folder: str, names: list[str]) -> list[str]:
        paths = [Path(folder, name) for name in names]
        return [path.name for path in paths if path.is_symlink() or not (path.is_dir() or path.is_file())]

    if source.is_dir():
        shutil.copytree(source, target, ignore=others, dirs_exist_ok=True)
    for group in filter(Path.is_file, target.rglob("__grp__*.json")):
        beside = os.fsencode(group.parent)
        group.write_bytes(re.sub(rb'"[^"\\]*(/[^"/\\]+)"', rb'"' + beside + rb'\1"', group.read_bytes()))
