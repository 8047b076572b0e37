"""One attempt and everything it starts: papermill on a forked kernel, in a process group of its own, within a limit.

Kernels, workers and compilers have sessions of their own, so the end of the group alone would leave them. The keeper
is their subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): a process that loses its parent becomes the keeper's child.

papermill asks for its kernel through a provisioner of Jupyter, and gets one that was forked: it waits for a connection
file and becomes a kernel. It must be forked while the process still has one thread, so before papermill opens its
sockets.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import EntryPoint
from multiprocessing import popen_fork
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from types import FrameType
from typing import Any

from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from audit.apps.batch import parameters
from audit.apps.batch.state import EXECUTED, LOG, End, Job
from audit.model.run_directory import Scratch
from audit.sandbox import native, processes

LOOK_S = 0.02
LAUNCHER = ["-m", "ipykernel_launcher"]
NAME = "audit-forked"


class Keeper:
    """Runs one job in a forked process and watches over it; `keep` is all a keeper process does.

    `body` runs the notebook and exits with a code, in the forked process; it may write the number of the signal that
    ended the notebook's kernel to the descriptor.
    """

    def __init__(self, job: Job, body: Callable[[Job, int], None]) -> None:
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
            started = Forked(ForkProcess(target=self._in_group, args=(writes,)))
            os.close(writes)
            code = self._watch(started, deadline=began + self._job.limit_s)
            processes.end_all(first=False)
            with os.fdopen(reads, encoding="utf-8") as pipe:
                word = pipe.read()
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
        log = os.open(f"{self._job.out}/{LOG}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopped = True

    def _in_group(self, writes: int) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setpgid(0, 0)
        self._body(self._job, writes)

    def _watch(self, started: Forked, *, deadline: float) -> int | None:
        """papermill's return code, a signal as its negative number; None if the limit or the batch's end came first."""
        while (code := started.poll()) is None:
            self._stopped = self._stopped or (self._batch is not None and not self._batch.is_alive())
            if self._stopped or time.monotonic() > deadline:
                return None
            time.sleep(LOOK_S)
        return code


class Forked(popen_fork.Popen):
    """A forked process with the part of `subprocess.Popen`'s interface that Jupyter uses."""

    stdin = stdout = stderr = None

    def send_signal(self, number: int) -> None:
        """Sends a signal to it alone."""
        if self.poll() is None:
            os.kill(self.pid, number)


class ForkedProvisioner(LocalProvisioner):
    """Gives the process forked last; where the kernel spec names another Python it starts what the spec says."""

    waiting: tuple[Forked, Connection] | None = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Wakes the process that waits."""
        if ForkedProvisioner.waiting is None or cmd[0] != sys.executable or cmd[1:3] != LAUNCHER:
            return await super().launch_kernel(cmd, **kwargs)
        forked, wake = ForkedProvisioner.waiting
        env = {**kwargs.get("env", os.environ), "JPY_PARENT_PID": str(os.getpid())}
        wake.send((cmd[3:], kwargs.get("cwd"), env))
        self.process: Any = forked
        self.pid, self.pgid, self.cwd = forked.pid, forked.pid, kwargs.get("cwd")
        return self.connection_info


def offer() -> Forked:
    """Forks a process and has the next kernel of this process be it."""
    waits, wake = multiprocessing.Pipe(duplex=False)
    forked = Forked(ForkProcess(target=_become_kernel, args=(waits, wake)))
    waits.close()
    ForkedProvisioner.waiting = forked, wake
    factory = KernelProvisionerFactory.instance()
    place = f"{__name__}:{ForkedProvisioner.__name__}"
    factory.provisioners[NAME] = EntryPoint(NAME, place, KernelProvisionerFactory.GROUP_NAME)
    factory.default_provisioner_name = NAME
    return forked


def _become_kernel(waits: Connection, wake: Connection) -> None:
    """Waits, then runs the kernel; ends at once if the other end is closed without a word."""
    wake.close()
    os.setsid()
    try:
        arguments, folder, env = waits.recv()
    except EOFError:
        return
    from ipykernel.kernelapp import IPKernelApp

    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder or ".")
    sys.path.insert(0, "")  # a kernel finds modules in its folder
    IPKernelApp.launch_instance(argv=arguments)


def keep(job: Job, answer: Connection, _held: Connection | None) -> None:
    """A keeper's whole life, in the environment of the job; one that ends without a word counts as lost."""
    os.environ.clear()
    os.environ.update(job.env)
    try:
        end = Keeper(job, _papermill).keep()
    except OSError as error:
        end = End(trouble=str(error))
    answer.send_bytes(end.model_dump_json().encode())


def _papermill(job: Job, writes: int) -> None:
    """Runs the notebook as `papermill` on the command line would, on a kernel forked before, and exits as it does."""
    offered = offer()
    from papermill.cli import papermill

    options = ["--report-mode", "--no-progress-bar", "--log-output", "--autosave-cell-every", "0", "--cwd", job.folder]
    given, executed = (f"{job.out}/{name}" for name in (parameters.FILE, EXECUTED))
    try:
        papermill.main([*options, "-f", given, job.notebook, executed], prog_name="papermill")
    finally:
        died = offered.poll()
        if died is not None and died < 0:
            os.write(writes, str(-died).encode())
