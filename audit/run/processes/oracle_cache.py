"""In the judge's process: replies of oracle sessions, shared by the audits of one task.

A collection has many kernels of one task, and its right results take up to half of the time of an audit. A reply
depends on its request and on the files beside `reference.py`: of `claim.toml` on the harness alone, and on no variant,
which the process of the reference never loads.
"""

from __future__ import annotations

import os
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from audit import claims
from audit.model.run_directory import Scratch, remove
from audit.run.messages.requests import OracleRequest
from audit.run.messages.results import digest_of
from audit.sandbox.limits import GIB, of_this_machine

if TYPE_CHECKING:
    from audit.run.processes.pool import Reply

Request = TypeVar("Request", bound=OracleRequest)
REPEATABLE = ("finished", "raised", "timed out")
"""Endings that another process with the same request has too: its time limit counts processor time."""
MEMORY_SHARE, MOST_BYTES = 8, 4 * GIB
"""The files of all replies take at most that part of the memory of a session, and so many bytes."""


@dataclass(frozen=True)
class _Kept:
    """A reply, and the folder of the files that its session wrote: one folder in it for each of `request.writes`."""

    reply: Reply
    folder: Path

    @cached_property
    def bytes(self) -> int:
        """The size of its files, right results included."""
        results = 0 if self.reply.results is None else os.fstat(self.reply.results.fileno()).st_size
        return results + sum(file.stat().st_size for file in self.folder.glob("*/*"))


class OracleCache(AbstractContextManager["OracleCache"]):
    """Replies by task and request, the least recently used dropped first; safe to use from several threads."""

    def __init__(self) -> None:
        self._scratch = Scratch()
        self._most = min(of_this_machine().memory // MEMORY_SHARE, MOST_BYTES)
        self._known: OrderedDict[str, Future[_Kept]] = OrderedDict()
        self._lock = threading.Lock()

    def __exit__(self, *_: object) -> None:
        self._known.clear()
        self._scratch.close()

    def reply(self, request: Request, ask: Callable[[Request], Reply]) -> Reply:
        """Return the reply of `ask`, or that of an earlier equal request, whose files are linked to this one's folders.

        Args:
            request: to the process of `reference.py`, with its time limit.
            ask: runs the session.
        """
        key = _key(request)
        with self._lock:
            known = self._known.get(key)
            mine = known is None
            waited = self._known.setdefault(key, Future()) if known is None else known
            self._known.move_to_end(key)
        if mine:
            self._answer(key, waited, request, ask)
        kept = waited.result()
        for folder, own in _folders(request, kept.folder):
            for file in own.iterdir():
                if not (link := folder / file.name).exists():
                    link.hardlink_to(file)
        return kept.reply

    def _answer(self, key: str, waited: Future[_Kept], request: Request, ask: Callable[[Request], Reply]) -> None:
        try:
            kept = self._asked(request, ask)
        except BaseException as error:
            self._forget(key)
            waited.set_exception(error)
            return
        waited.set_result(kept)
        if kept.reply.ending not in REPEATABLE or kept.bytes > self._most:
            self._forget(key)
        self._make_room()

    def _asked(self, request: Request, ask: Callable[[Request], Reply]) -> _Kept:
        folder = Path(tempfile.mkdtemp(dir=self._scratch.path))
        moved = dict(_folders(request, folder))
        for own in moved.values():
            own.mkdir()
        for file in request.varied:
            (moved[file.parent] / file.name).hardlink_to(file)
        kept = _Kept(ask(request.into(moved)), folder)
        weakref.finalize(kept, remove, folder)
        return kept

    def _forget(self, key: str) -> None:
        with self._lock:
            del self._known[key]

    def _make_room(self) -> None:
        with self._lock:
            done = {key: one.result().bytes for key, one in self._known.items() if one.done()}
            total = sum(done.values())
            for key, size in done.items():
                if total <= self._most:
                    break
                total -= size
                del self._known[key]


def _folders(request: OracleRequest, below: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each folder that the request writes to, and the one that stands for it."""
    for index, folder in enumerate(request.writes):
        yield folder, below / str(index)


def _key(request: OracleRequest) -> str:
    """Return the digest of the task and of the request, without names of folders but with the contents of inputs."""
    anywhere = request.into(dict(_folders(request, Path())))
    stated_once = anywhere.model_dump_json(exclude={"reference", "results"})
    varied = [digest_of(file.read_bytes()) for file in request.varied]
    return digest_of("\n".join([_task(request.reference), stated_once, *varied]).encode())


def _task(reference: Path) -> str:
    """Return the claim's harness and the digests of the files beside `reference.py` that it may read."""
    folder = reference.parent
    claim = claims.load(str(folder)).claim if (folder / claims.STATEMENT).is_file() else None
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.parent.name != "__pycache__")
    texts = {str(file.relative_to(folder)): file.read_bytes() for file in files if file.name != claims.STATEMENT}
    variants = [] if claim is None else [texts[variant.file] for variant in claim.variant]
    read = [f"{name} {digest_of(text)}" for name, text in texts.items() if text not in variants]
    return "\n".join([*read, "" if claim is None else claim.harness.model_dump_json()])
