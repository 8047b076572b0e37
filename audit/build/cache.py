"""The user's cache of compiled files: content-named folders, each made by one process while the others wait.

An entry has the digest of each of its files, and every process checks it before use: an incomplete, damaged or extended
entry is made again. From then on the digests in the process's memory count; a session loads a file only if it has the
one that the judge knows, see `checked` and `sealed`.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from audit.model.errors import BadInput, CompileError
from audit.model.run_directory import remove

SEAL = ".seal.json"
"""The digests of an entry's files, by name."""
Metadata = dict[str, tuple[int, ...]]
_whole: dict[Path, tuple[Metadata, dict[str, str]]] = {}
"""Entries this process has checked: the metadata of their files, so that only changed entries are read again, and the
digests, which an entry must keep whatever its own file says later."""
_checking = threading.Lock()
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
Texts = str | Sequence[str] | None


class Changed(RuntimeError):
    """A file of a build is not the one that was built."""


def cache_folder() -> Path:
    """Return $AUDIT_CACHE, or `audit` in $XDG_CACHE_HOME, or ~/.cache/audit."""
    if own := os.environ.get("AUDIT_CACHE"):
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "audit"


def fingerprint(parts: Iterable[str | bytes]) -> str:
    """Return 24 hexadecimal digits of a hash of the parts and their lengths."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:24]


def key_of(cpp: Texts, cuda: Texts, functions: str | Sequence[str] | Mapping[str, str] | None) -> str:
    """Return the key of a call of torch's `load_inline`: texts, one or several, and names, also in a dict with docs."""
    names = [] if functions is None else [functions] if isinstance(functions, str) else list(functions)
    return fingerprint(["cpp", *_listed(cpp), "cuda", *_listed(cuda), "functions", *names])


def _listed(texts: Texts) -> list[str]:
    return [] if texts is None else [texts] if isinstance(texts, str) else list(texts)


def made(folder: Path, make: Callable[[Path], object]) -> bool:
    """Have `make` fill a folder, once: a temporary one, which is then renamed. Other processes wait. Return whether the
    folder existed already. Raises BadInput if the cache cannot be written."""
    if is_whole(folder):
        return True
    with _locked(folder):
        if is_whole(folder):
            return True
        unfinished = _emptied(folder)
        try:
            make(unfinished)
            digests = {name: _digest(unfinished / name) for name in _marks(unfinished)}
            (unfinished / SEAL).write_text(json.dumps(digests), encoding="utf-8")
            unfinished.chmod(0o755)
            unfinished.rename(folder)
            with _checking:
                _whole[folder] = (_marks(folder), digests)
        finally:
            with suppress(OSError):  # renamed by now, or not removable
                remove(unfinished)
    return False


def is_whole(folder: Path) -> bool:
    """Return whether an entry exists and has exactly the files of its maker."""
    try:
        marks = _marks(folder)
        with _checking:
            known, digests = _whole.get(folder, (None, None))
        if known == marks:
            return True
        listed = json.loads((folder / SEAL).read_bytes())
        found = {name: _digest(folder / name) for name in marks if name != SEAL}
    except (OSError, ValueError, CompileError):
        return False
    if whole := found == listed and digests in (None, found):
        with _checking:
            _whole[folder] = (marks, found)
    return whole


def digests(*files: Path) -> dict[Path, str]:
    """Return the SHA-256 of files of entries that this process has made or checked, from its memory."""
    with _checking:
        entries = {file: next(each for each in file.parents if each in _whole) for file in files}
        return {file: _whole[entry][1][file.relative_to(entry).as_posix()] for file, entry in entries.items()}


def checked(path: Path, digests: Mapping[Path, str]) -> bytes:
    """Return the bytes of a file with the judge's SHA-256. Raises Changed: they have another one, or it has none."""
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digests.get(path):
        raise Changed(f"{path.name} is not the file that was built; run the audit again")
    return data


def sealed(path: Path, digests: Mapping[Path, str] | None) -> Path:
    """Return the path of a checked, immutable copy of a library in memory, which lasts as long as this process. Without
    digests return the file itself, where no claimed code runs."""
    if digests is None:
        return path
    data = checked(path, digests)
    descriptor = os.memfd_create(path.name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(data)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    return Path(f"/proc/self/fd/{descriptor}")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _marks(folder: Path) -> Metadata:
    """Return the metadata of every file, by its name in the folder. Raises CompileError: something else is there."""
    found: Metadata = {}
    for path in folder.rglob("*"):
        seen = path.lstat()
        if stat.S_ISREG(seen.st_mode):
            marks = (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
            found[path.relative_to(folder).as_posix()] = marks
        elif not stat.S_ISDIR(seen.st_mode):
            raise CompileError(f"error: the build left {path.name}, which is no file", header_set="cache")
    return found


def _emptied(folder: Path) -> Path:
    """Remove folders of killed makers and a damaged entry, locked by the caller; return a new folder to work in."""
    try:
        for old in list(folder.parent.iterdir()):
            with suppress(FileNotFoundError):  # its maker finished meanwhile
                if _is_abandoned(old, own=folder):
                    _removed(old)
        unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
        if folder.exists() or folder.is_symlink():
            folder.rename(unfinished / "damaged")  # in one step: a session may be reading it
            _removed(unfinished / "damaged")
    except OSError as error:
        raise _unwritable(folder, error) from error
    return unfinished


def _is_abandoned(path: Path, *, own: Path) -> bool:
    """Return whether a killed maker left this: its name is an entry's with a suffix, and that entry is not locked."""
    entry = path.with_suffix("")
    lock = entry.with_name(entry.name + ".lock")
    if path.suffix == ".lock" or path.with_name(path.name + ".lock").exists() or not lock.exists():
        return False
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return entry == own
    return True


def _removed(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove(path)
    else:
        path.unlink()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = folder.with_name(folder.name + ".lock").open("w")
    except OSError as error:
        raise _unwritable(folder, error) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _unwritable(folder: Path, error: OSError) -> BadInput:
    where = folder.parent.parent
    return BadInput(f"{where}: the cache cannot be written ({error.strerror}); set AUDIT_CACHE to a folder with room")
