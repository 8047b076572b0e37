"""What compilers keep between processes: brought into a session's own folder, so that claimed code can spoil nothing.

A session that loads claimed code never writes to the user's cache. torch.compile's results are stored from a process
that has loaded no claimed code by then, one folder for each reference, shape, torch and GPU; what a `.py` variant keeps
belongs to that session alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from audit.build.emulated.cache import is_whole, made
from audit.build.names import FOLDERS
from audit.build.settings import CudaPythonSettings, DeviceSettings
from audit.run.pool import SharedProcess, Workers

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
