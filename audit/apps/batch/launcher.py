"""The process that forks audits: it has imported papermill, a kernel and this package once, and has a single thread.

It reads one job a line from standard input, forks a keeper for each, and writes a line for each that has ended. When
its input ends it ends the keepers, and they what they keep: a batch that is killed leaves nothing running.

Starting Python, IPython, pandas and this package costs an audit more than a second of a core; a fork costs nothing. So
the kernel of a notebook is forked too: it waits for a connection file and becomes a kernel. papermill asks for its
kernel through a provisioner of Jupyter, and gets this one. It must be forked while the process still has one thread, so
before papermill opens its sockets.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any

from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from audit.apps.batch.keeper import Job, Keeper, exit_code, forked
from audit.apps.batch.state import End

LAUNCHER = ["-m", "ipykernel_launcher"]
NAME = "audit-forked"


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


LOOK_S = 0.05
PRELOADED = (
    "audit.apps.notebook", "audit.report.figures", "ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.zmqshell",
    "matplotlib_inline.backend_inline", "nbclient", "papermill.cli",
)  # fmt: skip
INLINE = "module://matplotlib_inline.backend_inline"
"""The backend a kernel sets for matplotlib before it is imported, unless one was chosen."""


def serve() -> None:
    """Keeps jobs until standard input ends, then ends every keeper."""
    keepers: dict[int, tuple[Job, int]] = {}
    """By process: the job, and the pipe that the keeper writes its end to."""
    pending = b""
    while True:
        if select.select([0], [], [], LOOK_S)[0]:
            chunk = os.read(0, 1 << 16)
            if not chunk:
                break
            *lines, pending = (pending + chunk).split(b"\n")
            for job in map(Job.model_validate_json, lines):
                reads, writes = os.pipe()
                keepers[forked(partial(_keep, job, writes))] = (job, reads)
                os.close(writes)
        _collect(keepers)
    for pid in keepers:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    for pid in keepers:
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _collect(keepers: dict[int, tuple[Job, int]]) -> None:
    """Writes a line for every keeper that has ended; of one that was killed, what it kept ends by itself."""
    while keepers:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        job, reads = keepers.pop(pid)
        with os.fdopen(reads, encoding="utf-8") as pipe:
            text = pipe.read()
        lost = f"the process that watched over the audit ended with {os.waitstatus_to_exitcode(status)}"
        end = End.model_validate_json(text) if text else End(trouble=lost)
        print(json.dumps({"id": job.id, "end": end.model_dump(mode="json")}), flush=True)


def _keep(job: Job, writes: int) -> int:
    """A keeper's whole life; one that ends without a word counts as lost, and the log says why."""
    try:
        end = Keeper(job, _papermill).keep()
    except OSError as error:
        end = End(trouble=str(error))
    os.write(writes, end.model_dump_json().encode())
    return 0


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


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", INLINE)
    for name in PRELOADED:
        import_module(name)
    serve()
