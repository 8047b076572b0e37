"""The judge's side: a pool of zygotes, and one call that runs a session in a fresh process and says how it ended."""

from __future__ import annotations

import queue
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from audit.build.emulated.cache import cache_folder
from audit.model.errors import WorkerFailed
from audit.run import protocol
from audit.run.parents import Root, Zygote
from audit.run.requests import AnyRequest, OracleRequest, Place, Release
from audit.run.results import Results
from audit.run.transcript import Forged
from audit.run.wire import RAISED

Ending = Literal["finished", "raised", "ended", "crashed", "timed out", "stopped", "forged"]
"""`raised` is an exception; `ended` a process that left by itself, as `sys.exit` and `os._exit` have it."""


@dataclass(frozen=True)
class Reply:
    """How a session ended and what it told before that, event by event.

    `detail` is for people: the signal, the traceback's last line, the time limit, or what was seen of forging, after
    which no event counts. `arrived_s` has the moment of each event by the parent's clock, since the session was asked
    for. `attested` tells whether the parent could see where the session waited for its keys. `results` holds the
    expected results of an oracle session.
    """

    ending: Ending
    events: tuple[dict[str, Any], ...]
    detail: str
    arrived_s: tuple[float, ...] = ()
    attested: bool = False
    results: Results | None = field(default=None, compare=False, repr=False)

    @property
    def finished(self) -> bool:
        """True if the session ran to its end."""
        return self.ending == "finished"

    def expected(self, event: dict[str, Any]) -> npt.NDArray[np.float64]:
        """The result that an event of an oracle session speaks of."""
        assert self.results is not None  # every reply of an oracle session has them
        return self.results.at(event["expected_at"], event["expected_shape"])

    def also(self, event: dict[str, Any]) -> tuple[npt.NDArray[np.float64], ...]:
        """The results that are as right as that one."""
        assert self.results is not None
        return tuple(self.results.at(start, event["expected_shape"]) for start in event.get("also_at", ()))


class Workers:
    """A pool of zygotes, one session at a time in each. Use as a context manager; safe to call from several threads.

    Args:
        size: of the pool.
        walled: False leaves sessions without walls, to measure what those cost; no command offers it.
    """

    def __init__(self, size: int, *, walled: bool = True) -> None:
        self._idle: queue.SimpleQueue[Zygote] = queue.SimpleQueue()
        self._walled = walled
        self._root = Root(walled=walled)
        self._replacing = threading.Lock()
        self._all = [self._root.zygote() for _ in range(size)]
        for zygote in self._all:
            self._idle.put(zygote)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the zygotes; no session may be running."""
        for zygote in self._all:
            zygote.close()
        self._root.close()

    def call(self, request: AnyRequest, *, limit_s: float) -> Reply:
        """Run one session in a fresh process, which is killed with all it started after so many wall-clock seconds."""
        zygote = self._idle.get()
        try:
            return _asked(zygote, request.model_copy(update={"limit_s": limit_s}))
        except WorkerFailed as error:
            zygote = self.another(zygote)
            return Reply("crashed", (), str(error))
        finally:
            self._idle.put(zygote)

    def another(self, dead: Zygote) -> Zygote:
        """A zygote in place of one that was ended or stopped: where some wall is missing, a session can do that."""
        dead.close()
        with self._replacing:
            if self._root.is_over():
                self._root.close()
                self._root = Root(walled=self._walled)
            zygote = self._root.zygote()
            self._all = [one for one in self._all if one is not dead] + [zygote]
        return zygote

    @contextmanager
    def shared(self, scratch: Path, *, reads: Iterable[Path]) -> Iterator[SharedProcess]:
        """One process for several sessions, where starting one costs much, as a CUDA context does.

        Args:
            scratch: where its folders are made; the inputs of its sessions lie on the same file system.
            reads: files and folders that any of its sessions needs besides its inputs.
        """
        folder = Path(tempfile.mkdtemp(prefix="process-", dir=scratch))
        process = SharedProcess(self, self._idle.get(), folder, reads)
        try:
            yield process
        finally:
            self._idle.put(process.released())


class SharedProcess:
    """Sessions one after another in one process, a new one where the last did not finish.

    What the process may see is settled when it starts, so its sessions get folders that hold for all.

    Attributes:
        results: where sessions leave files; each needs a folder below it.
        caches: where a compiler may keep what it makes.
    """

    def __init__(self, workers: Workers, zygote: Zygote, folder: Path, reads: Iterable[Path]) -> None:
        self._workers = workers
        self._zygote = zygote
        self._lock = threading.Lock()
        self._inputs, self.results, self.caches = folder / "inputs", folder / "results", folder / "caches"
        for each in (self._inputs, self.results, self.caches):
            each.mkdir()
        self._place = Place(reads=(self._inputs, cache_folder(), *reads), results=self.results, caches=self.caches)

    def call(self, request: AnyRequest, *, limit_s: float) -> Reply:
        """See `Workers.call`, but for the fresh process."""
        with self._lock, self._linked(request.inputs) as inputs:
            own = {"inputs": inputs, "place": self._place, "limit_s": limit_s, "keep": True}
            try:
                return _asked(self._zygote, request.model_copy(update=own))
            except WorkerFailed as error:
                self._zygote = self._workers.another(self._zygote)
                return Reply("crashed", (), str(error))

    def released(self) -> Zygote:
        """The zygote, once the process is over."""
        with self._lock:
            try:
                self._zygote.ask(Release())
            except WorkerFailed:
                self._zygote = self._workers.another(self._zygote)
            return self._zygote

    @contextmanager
    def _linked(self, inputs: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
        """The inputs of one session, where the process sees them for as long as it lasts and no others."""
        links = [self._inputs / f"{index}-{file.name}" for index, file in enumerate(inputs)]
        try:
            for file, link in zip(inputs, links, strict=True):
                link.hardlink_to(file)
            yield tuple(links)
        finally:
            for link in links:
                link.unlink(missing_ok=True)


def _asked(zygote: Zygote, request: AnyRequest) -> Reply:
    if not isinstance(request, OracleRequest):
        return _reply(zygote.ask(request), request)
    results = Results()
    reply = replace(_reply(zygote.ask(request, [results.fileno()]), request), results=results)
    told = [event for event in reply.events if "expected_at" in event]
    starts = ((start, event) for event in told for start in (event["expected_at"], *event.get("also_at", ())))
    if all(results.hold(start, event["expected_shape"]) for start, event in starts):
        return reply
    return Reply("forged", (), "a result was told that nobody wrote")


def _reply(answer: dict[str, Any], request: AnyRequest) -> Reply:
    """The reply, once every event was seen to be one that this request can be answered with."""
    if answer["forged"] is not None:
        return Reply("forged", (), answer["forged"])
    try:
        events = protocol.checked(request, answer["lines"], finished=answer["finished"])
    except Forged as seen:
        return Reply("forged", (), str(seen))
    ending, detail = _ending(answer, request.limit_s)
    return Reply(ending, events, detail, tuple(answer["arrived_s"]), answer["attested"])


def _ending(answer: dict[str, Any], limit_s: float) -> tuple[Ending, str]:
    if answer["finished"]:
        return "finished", ""
    if answer["timed_out"]:
        return "timed out", f"did not finish within {limit_s:g} s"
    if answer["stopped"]:
        return "stopped", f"the session {answer['stopped']}"
    if answer["signal"]:
        return "crashed", f"the process died of {signal.Signals(answer['signal']).name}"
    if answer["exit"] != RAISED:
        return "ended", f"the process ended itself with exit code {answer['exit']}"
    last = answer["prints"].strip().splitlines()[-1:] or ["no message"]
    return "raised", last[0]
