"""The process that forks audits: it has imported papermill, a kernel and this package once, and has a single thread.

It reads one job a line from standard input, forks a keeper for each, and writes a line for each that has ended. When
its input ends it ends the keepers, and they what they keep: a batch that is killed leaves nothing running.
"""

from __future__ import annotations

import json
import os
import select
import signal
import traceback
from contextlib import suppress
from typing import NoReturn

from audit.apps.batch.keeper import Job, Keeper
from audit.apps.batch.state import End

LOOK_S = 0.05
PRELOADED = (
    "audit.apps.notebook", "audit.report.figures", "ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.zmqshell",
    "matplotlib_inline.backend_inline", "nbclient", "papermill.cli",
)  # fmt: skip
INLINE = "module://matplotlib_inline.backend_inline"
"""What a kernel sets for matplotlib before it is imported, unless somebody chose."""


class Launcher:
    """The keepers that are at work, and the pipes they tell their end through."""

    def __init__(self) -> None:
        self._keepers: dict[int, tuple[Job, int]] = {}

    def run(self) -> None:
        """Serves until standard input ends."""
        pending = b""
        while True:
            if select.select([0], [], [], LOOK_S)[0]:
                chunk = os.read(0, 1 << 16)
                if not chunk:
                    break
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    self._start(Job.model_validate_json(line))
            self._collect()
        self._stop()

    def _start(self, job: Job) -> None:
        told, tells = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(told)
            _keep(job, tells)
        os.close(tells)
        self._keepers[pid] = (job, told)

    def _collect(self) -> None:
        """Tells of every keeper that has ended."""
        while self._keepers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            job, told = self._keepers.pop(pid)
            with os.fdopen(told, encoding="utf-8") as pipe:
                text = pipe.read()
            end = End.model_validate_json(text) if text else _lost(status)
            print(json.dumps({"id": job.id, "end": end.model_dump(mode="json")}), flush=True)

    def _stop(self) -> None:
        """Nobody waits for answers any more."""
        for pid in self._keepers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for pid in self._keepers:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _keep(job: Job, tells: int) -> NoReturn:
    try:
        end = Keeper(job, _papermill).keep()
        os.write(tells, end.model_dump_json().encode())
    except OSError as error:
        os.write(tells, End(trouble=str(error)).model_dump_json().encode())
    except BaseException:  # a keeper that ends without a word is told of as lost; the log says why
        traceback.print_exc()
    finally:
        os._exit(0)


def _papermill(job: Job, tells: int) -> int:
    """Runs the notebook as `papermill` on the command line would, on a kernel forked before, and returns its code."""
    from audit.apps.batch import kernel

    forked = kernel.offer()
    from papermill.cli import papermill

    options = ["--no-progress-bar", "--log-output", "--autosave-cell-every", "0", "--cwd", job.folder]
    try:
        papermill.main(args=[*options, "-f", job.parameters, job.notebook, job.executed], prog_name="papermill")
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(bool(ending.code))
    died = forked.poll()
    if died is not None and died < 0:
        os.write(tells, str(-died).encode())
    return code


def _lost(status: int) -> End:
    """A keeper that was killed; what it kept ends by itself."""
    code = os.waitstatus_to_exitcode(status)
    return End(trouble=f"the process that watched over the audit ended with {code}")


def main() -> None:
    """Imports, then serves."""
    import importlib

    os.environ.setdefault("MPLBACKEND", INLINE)
    for name in PRELOADED:
        importlib.import_module(name)
    Launcher().run()


if __name__ == "__main__":
    main()
