"""The process that forks audits: it has imported papermill, a kernel and this package once, and has a single thread.

It reads one job a line from standard input, forks a keeper for each, and writes a line for each that has ended. When
its input ends it ends the keepers, and they what they keep: a batch that is killed leaves nothing running.
"""

from __future__ import annotations

import json
import os
import select
import signal
from contextlib import suppress
from functools import partial
from importlib import import_module

from audit.apps.batch.keeper import Job, Keeper, exit_code, forked
from audit.apps.batch.state import End

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
    from audit.apps.batch import kernel

    offered = kernel.offer()
    from papermill.cli import papermill

    options = ["--no-progress-bar", "--log-output", "--autosave-cell-every", "0", "--cwd", job.folder]
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
