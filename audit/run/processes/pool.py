"""In the judge's process: a pool of supervisors, and one call that runs a session in a fresh process."""

from __future__ import annotations

import queue
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from audit.build.cache import cache_folder
from audit.model.errors import WorkerFailed
from audit.model.sanitizer import TERMINAL_ESCAPE
from audit.run.messages import protocol, wire
from audit.run.messages.requests import Folders, OracleRequest, Release
from audit.run.messages.results import Results
from audit.run.messages.timing_requests import Timing
from audit.run.messages.wire import AnyRequest, ProtocolViolation
from audit.run.processes.oracle_cache import OracleCache
from audit.run.processes.supervisors import Supervisor, fork_server, release

SWITCH_S = 0.0005
"""The interpreter's switch interval. The judge's threads compare arrays in many short calls of numpy and wait for the
interpreter's lock after each; with Python's 5 ms and two busy threads a comparison took five times as long."""
_RAISED = re.compile(r"[\w.]+(Error|Exception|Interrupt|BadInput)\b")
"""The beginning of a traceback's line with the exception; torch appends lines of advice."""
Ending = Literal["finished", "raised", "ended", "crashed", "timed out", "stopped", "protocol violation"]
"""`raised` is an exception; `ended` a process that exited by itself, by `sys.exit` or `os._exit`."""


@dataclass(frozen=True)
class Reply:
    """How a session ended, and the events before that.

    Attributes:
        ending: after a `protocol violation` there are no events.
        events: in order.
        detail: the signal, the traceback's last line, the time limit, or the violation, in words.
        arrived_s: the arrival of each event by the supervisor's clock, in seconds since the request.
        results: the right results of an oracle session.
    """

    ending: Ending
    events: tuple[dict[str, Any], ...]
    detail: str
    arrived_s: tuple[float, ...] = ()
    results: Results | None = field(default=None, compare=False, repr=False)

    @property
    def finished(self) -> bool:
        """Whether the session ran to its end."""
        return self.ending == "finished"

    def expected(self, event: dict[str, Any]) -> npt.NDArray[np.float64]:
        """Return the right result that an event of an oracle session names."""
        assert self.results is not None  # an oracle session has results
        return self.results.at(event["expected_at"], event["expected_shape"])

    def also(self, event: dict[str, Any]) -> tuple[npt.NDArray[np.float64], ...]:
        """Return the alternatives to that result that are right too."""
        assert self.results is not None
        return tuple(self.results.at(start, event["expected_shape"]) for start in event.get("also_at", ()))


class Interrupted(KeyboardInterrupt):
    """The audit was interrupted while a session ran or was due; no conclusion follows."""


class Workers:
    """A pool of supervisors, one session at a time in each; a context manager, safe to call from several threads.

    Args:
        size: of the pool.
        cache: keeps the replies of oracle sessions for other audits of the same task.
    """

    def __init__(self, size: int, *, cache: OracleCache | None = None) -> None:
        sys.setswitchinterval(SWITCH_S)
        self._cache = cache
        self._idle: queue.SimpleQueue[Supervisor] = queue.SimpleQueue()
        self._timing: queue.SimpleQueue[Supervisor] | None = None
        self._interrupted = False
        self._fork_server = fork_server()
        self._replacing = threading.Lock()
        self._all = [self._fork_server.supervisor() for _ in range(size)]
        for supervisor in self._all:
            self._idle.put(supervisor)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def interrupt(self) -> None:
        """End every session at once; `call` raises `Interrupted` from now on, in all threads."""
        self._interrupted = True
        self._fork_server.kill()

    def close(self) -> None:
        """End the supervisors; no session may be running."""
        for supervisor in self._all:
            supervisor.close()
        release(self._fork_server)

    def call(self, request: AnyRequest, *, limit_s: float) -> Reply:
        """Run one session in a fresh process, which is killed with its descendants after its `Deadline`."""
        request = request.model_copy(update={"limit_s": limit_s})
        if self._cache is not None and isinstance(request, OracleRequest):
            return self._cache.reply(request, self._call)
        return self._call(request)

    def _call(self, request: AnyRequest) -> Reply:
        self._stop_if_interrupted()
        idle = self._with_compiler() if isinstance(request, Timing) else self._idle
        supervisor = idle.get()
        try:
            return _asked(supervisor, request)
        except WorkerFailed as error:
            supervisor = self.replacement(supervisor)
            return Reply("crashed", (), str(error))
        finally:
            idle.put(supervisor)

    def _with_compiler(self) -> queue.SimpleQueue[Supervisor]:
        """Return the queue of the one supervisor for timing, forked from a process that has imported torch.compile: as
        its import takes seconds, the first timing request has it done once for all."""
        with self._replacing:
            if self._timing is None:
                self._fork_server.import_compiler()
                supervisor = self._fork_server.supervisor()
                self._all.append(supervisor)
                self._timing = queue.SimpleQueue()
                self._timing.put(supervisor)
        return self._timing

    def replacement(self, dead: Supervisor) -> Supervisor:
        """Return a new supervisor for one that was killed or stopped, as a session can do in a partial sandbox."""
        self._stop_if_interrupted()
        dead.close()
        with self._replacing:
            if self._fork_server.is_over():
                self._fork_server.close()
                self._fork_server = fork_server()
            supervisor = self._fork_server.supervisor()
            self._all = [one for one in self._all if one is not dead] + [supervisor]
        return supervisor

    def _stop_if_interrupted(self) -> None:
        if self._interrupted:
            raise Interrupted

    @contextmanager
    def shared(self, scratch: Path, *, reads: Iterable[Path]) -> Iterator[SharedProcess]:
        """Share one process among several sessions, to spare the start of a CUDA context.

        Args:
            scratch: gets its folders; on the same file system as the inputs of its sessions.
            reads: files and folders that any of its sessions needs in addition to its inputs.
        """
        folder = Path(tempfile.mkdtemp(prefix="process-", dir=scratch))
        process = SharedProcess(self, self._idle.get(), folder, reads)
        try:
            yield process
        finally:
            self._idle.put(process.released())


class SharedProcess:
    """Runs sessions one after another in one process, a new one after a session that did not finish.

    The process enters its sandbox once, so all its sessions have the same folders.

    Attributes:
        results: the folder of the sessions' files; each needs a folder below it.
        caches: the folder of compiler caches.
    """

    def __init__(self, workers: Workers, supervisor: Supervisor, folder: Path, reads: Iterable[Path]) -> None:
        self._workers = workers
        self._supervisor = supervisor
        self._lock = threading.Lock()
        self._inputs, self.results, self.caches = folder / "inputs", folder / "results", folder / "caches"
        for each in (self._inputs, self.results, self.caches):
            each.mkdir()
        self._folders = Folders(reads=(self._inputs, cache_folder(), *reads), results=self.results, caches=self.caches)

    def call(self, request: AnyRequest, *, limit_s: float) -> Reply:
        """Run one session in this process; see `Workers.call`."""
        with self._lock, self._linked(request.inputs) as inputs:
            own = {"inputs": inputs, "shared_folders": self._folders, "limit_s": limit_s, "keep": True}
            try:
                return _asked(self._supervisor, request.model_copy(update=own))
            except WorkerFailed as error:
                self._supervisor = self._workers.replacement(self._supervisor)
                return Reply("crashed", (), str(error))

    def released(self) -> Supervisor:
        """End the process and return its supervisor."""
        with self._lock:
            try:
                self._supervisor.ask(Release())
            except WorkerFailed:
                self._supervisor = self._workers.replacement(self._supervisor)
            return self._supervisor

    @contextmanager
    def _linked(self, inputs: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
        """Link the inputs of one session into the process's folder while the session lasts."""
        links = [self._inputs / f"{index}-{file.name}" for index, file in enumerate(inputs)]
        try:
            for file, link in zip(inputs, links, strict=True):
                link.hardlink_to(file)
            yield tuple(links)
        finally:
            for link in links:
                link.unlink(missing_ok=True)


def _asked(supervisor: Supervisor, request: AnyRequest) -> Reply:
    if not isinstance(request, OracleRequest):
        return _reply(supervisor.ask(request), request)
    results = Results()
    reply = replace(_reply(supervisor.ask(request, [results.fileno()]), request), results=results)
    if results.too_large:
        return Reply("stopped", (), f"the session {results.too_large}")
    found = [event for event in reply.events if "expected_at" in event]
    starts = ((start, event) for event in found for start in (event["expected_at"], *event.get("also_at", ())))
    if all(results.hold(start, event["expected_shape"]) for start, event in starts):
        return reply
    return Reply("protocol violation", (), "a result was told that nobody wrote")


def _reply(ended: wire.Ended, request: AnyRequest) -> Reply:
    """Return the reply; a protocol violation where an event cannot answer this request."""
    if ended.violation is not None:
        return Reply("protocol violation", (), ended.violation)
    try:
        events = protocol.checked(request, ended.lines, finished=ended.finished)
    except ProtocolViolation as seen:
        return Reply("protocol violation", (), str(seen))
    ending, detail = _ending(ended, request.limit_s)
    return Reply(ending, events, detail, ended.arrived_s)


def _ending(ended: wire.Ended, limit_s: float) -> tuple[Ending, str]:
    if ended.finished:
        return "finished", ""
    if ended.timed_out:
        return "timed out", f"did not finish within {limit_s:g} s"
    if ended.stopped:
        return "stopped", f"the session {ended.stopped}"
    if ended.signal:
        by = ", which its code or a library raised by abort()" if ended.signal == signal.SIGABRT else ""
        return "crashed", f"the process died of {signal.Signals(ended.signal).name}{by}"
    if ended.exit != wire.RAISED:
        return "ended", f"the process ended itself with exit code {ended.exit}"
    lines = TERMINAL_ESCAPE.sub("", ended.prints).strip().splitlines() or ["no message"]
    return "raised", next((line for line in reversed(lines) if _RAISED.match(line)), lines[-1])
