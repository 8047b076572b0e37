"""One audit: papermill, on a kernel forked before, in processes that a keeper watches over.

papermill asks for its kernel through a provisioner of Jupyter, and gets one that was forked: it waits for a connection
file and becomes a kernel. It must be forked while the process still has one thread, so before papermill opens its
sockets.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib.metadata import EntryPoint
from multiprocessing.connection import Connection
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
