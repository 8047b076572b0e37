"""One attempt and everything it starts: papermill in a process group of its own, a limit, and nothing left behind.

Kernels, workers and compilers have sessions of their own, so the end of the group alone would leave them. The keeper
is their subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): a process that loses its parent becomes the keeper's child.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from types import FrameType

from pydantic import Field

from audit.apps.batch.state import End
from audit.model.base import Frozen
from audit.model.run_directory import Scratch
from audit.sandbox import native, processes

LOOK_S = 0.02


class Job(Frozen):
    """One attempt to run: a notebook, its parameters file, where its results, its log and its folder are."""

    notebook: str
    parameters: str
    executed: str
    log: str
    folder: str
    limit_s: float
    env: dict[str, str] = Field(default_factory=dict)


class Keeper:
    """Runs one job in a forked process and watches over it; `keep` is all a keeper process does.

    `body` runs the notebook and returns its exit code, in the forked process; it may write the number of the signal
    that ended the notebook's kernel to the descriptor.
    """

    def __init__(self, job: Job, body: Callable[[Job, int], int]) -> None:
        self._job, self._body, self._stopped = job, body, False
        self._batch = multiprocessing.parent_process()

    def keep(self) -> End:
        """Runs the job to its end or its limit, then ends all that it started."""
        self._own()
        began = time.monotonic()
        with Scratch() as scratch:
            own = str(scratch)
            os.environ.update({"TMPDIR": own, "JUPYTER_RUNTIME_DIR": own})
            tempfile.tempdir = None  # forget the folder that was found before
            reads, writes = os.pipe()
            pid = forked(lambda: self._in_group(writes))
            os.close(writes)
            status = self._watch(pid, deadline=began + self._job.limit_s)
            processes.end_all(first=False)
            with os.fdopen(reads, encoding="utf-8") as pipe:
                word = pipe.read()
        code = None if status is None else os.waitstatus_to_exitcode(status)
        return End(
            returncode=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            kernel_signal=int(word) if word.isdigit() else None,
            timed_out=code is None and not self._stopped,
            trouble="the batch was stopped" if self._stopped else None,
            seconds=round(time.monotonic() - began, 2),
        )

    def _own(self) -> None:
        """A session, a log for its output, the children of its children, and an end with its parent's."""
        parent = os.getppid()
        os.setsid()
        native.adopt_orphans()
        signal.signal(signal.SIGTERM, self._stop)
        native.die_with_parent(signal.SIGTERM)
        self._stopped = os.getppid() != parent  # it ended before the signal was asked for
        log = os.open(self._job.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopped = True

    def _in_group(self, writes: int) -> int:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setpgid(0, 0)
        return self._body(self._job, writes)

    def _watch(self, pid: int, *, deadline: float) -> int | None:
        """papermill's wait status; None if the limit or the batch's end came first."""
        while True:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == pid:
                return status
            self._stopped = self._stopped or (self._batch is not None and not self._batch.is_alive())
            if self._stopped or time.monotonic() > deadline:
                return None
            if not ended:
                time.sleep(LOOK_S)


def forked(body: Callable[[], int]) -> int:
    """Forks a process that runs the body and ends with the code it returns; its number.

    A traceback goes to standard error, which is the log by then.
    """
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        code = exit_code(body)
    except BaseException:  # the log is the only place left for it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def exit_code(body: Callable[[], int]) -> int:
    """The code that the body returns, or leaves by `sys.exit`."""
    try:
        return body()
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(bool(ending.code))
