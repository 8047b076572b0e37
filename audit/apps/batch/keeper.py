"""One attempt and everything it starts: papermill on a forked kernel, in a process group of its own, within a limit.

Kernels, workers and compilers have sessions of their own, so the end of the group alone would leave them. The keeper
is their subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): a process that loses its parent becomes the keeper's child.

papermill asks for its kernel through a provisioner of Jupyter, and gets one that was forked: it waits for a connection
file and becomes a kernel. It must be forked while the process still has one thread, so before papermill opens its
sockets.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from importlib.metadata import EntryPoint
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from audit.apps.batch.state import End, Job
from audit.model.run_directory import Scratch
from audit.sandbox import native, processes

LOOK_S = 0.02
LAUNCHER = ["-m", "ipykernel_launcher"]
NAME = "audit-forked"


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


class Forked:
    """The waiting process, with the part of `subprocess.Popen`'s interface that Jupyter uses."""

    stdin = stdout = stderr = None

    def __init__(self) -> None:
        wakes, self._wake = os.pipe()
        self.returncode: int | None = None
        self.pid = forked(lambda: _become_kernel(wakes, self._wake))
        os.close(wakes)

    def wake(self, argv: list[str], *, cwd: str | None, env: dict[str, str]) -> None:
        """Makes it the kernel for those arguments."""
        with os.fdopen(self._wake, "w", encoding="utf-8") as pipe:
            json.dump({"argv": argv, "cwd": cwd, "env": env}, pipe)

    def poll(self) -> int | None:
        """The return code, a signal as its negative number; None while it lives."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self) -> int:
        """Waits for its end and returns the return code."""
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends a signal to it alone."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Asks it to end."""
        self.send_signal(signal.SIGTERM)


class ForkedProvisioner(LocalProvisioner):
    """Gives the process forked last; where the kernel spec names another Python it starts what the spec says."""

    waiting: Forked | None = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Wakes the process that waits."""
        forked = ForkedProvisioner.waiting
        if forked is None or cmd[0] != sys.executable or cmd[1:3] != LAUNCHER:
            return await super().launch_kernel(cmd, **kwargs)
        env = {**kwargs.get("env", os.environ), "JPY_PARENT_PID": str(os.getpid())}
        forked.wake(cmd[3:], cwd=kwargs.get("cwd"), env=env)
        self.process: Any = forked
        self.pid, self.pgid, self.cwd = forked.pid, forked.pid, kwargs.get("cwd")
        return self.connection_info


def offer() -> Forked:
    """Forks a process and has the next kernel of this process be it."""
    ForkedProvisioner.waiting = Forked()
    factory = KernelProvisionerFactory.instance()
    place = f"{__name__}:{ForkedProvisioner.__name__}"
    factory.provisioners[NAME] = EntryPoint(NAME, place, KernelProvisionerFactory.GROUP_NAME)
    factory.default_provisioner_name = NAME
    return ForkedProvisioner.waiting


def _become_kernel(wakes: int, other_end: int) -> int:
    """Waits, then runs the kernel; ends at once if the other end is closed without a word."""
    os.close(other_end)
    os.setsid()
    with os.fdopen(wakes, encoding="utf-8") as pipe:
        text = pipe.read()
    if text:
        from ipykernel.kernelapp import IPKernelApp

        given = json.loads(text)
        os.environ.clear()
        os.environ.update(given["env"])
        if given["cwd"]:
            os.chdir(given["cwd"])
        sys.path.insert(0, "")  # a kernel finds modules in its folder
        IPKernelApp.launch_instance(argv=given["argv"])
    return 0


def keep(job: Job, answer: Connection, _held: Connection) -> None:
    """A keeper's whole life, in the environment of the job; one that ends without a word counts as lost."""
    os.environ.clear()
    os.environ.update(job.env)
    try:
        end = Keeper(job, _papermill).keep()
    except OSError as error:
        end = End(trouble=str(error))
    answer.send_bytes(end.model_dump_json().encode())


def _papermill(job: Job, writes: int) -> int:
    """Runs the notebook as `papermill` on the command line would, on a kernel forked before, and returns its code."""
    offered = offer()
    from papermill.cli import papermill

    options = ["--report-mode", "--no-progress-bar", "--log-output", "--autosave-cell-every", "0", "--cwd", job.folder]
    arguments = [*options, "-f", job.parameters, job.notebook, job.executed]
    code = exit_code(lambda: papermill.main(args=arguments, prog_name="papermill") or 0)
    died = offered.poll()
    if died is not None and died < 0:
        os.write(writes, str(-died).encode())
    return code
