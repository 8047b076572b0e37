"""A kernel that is there already: forked with everything imported, it waits for a connection file and becomes one.

Starting Python, IPython, pandas and this package costs an audit more than a second of a core; a fork costs nothing.
papermill asks for its kernel through a provisioner of Jupyter, and gets this one. It must be forked while the process
still has one thread, so before papermill opens its sockets.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib.metadata import EntryPoint
from typing import Any

from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from audit.apps.batch.keeper import forked

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
