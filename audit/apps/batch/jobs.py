"""Jobs on this machine, each in a process forked from one that has imported papermill, a kernel and this package.

Starting Python, IPython, pandas and this package costs an audit more than a second of a core; a fork costs nothing.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING

from audit.apps.batch.state import End, Job
from audit.build.cuda import toolchain
from audit.build.cuda.gpu import LOCK_FILE as VARIABLE
from audit.model.errors import BadInput
from audit.sandbox import limits

if TYPE_CHECKING:
    from audit.apps.batch.ray_jobs import RayJobs

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
INLINE = "module://matplotlib_inline.backend_inline"
"""The backend a kernel sets for matplotlib before it is imported, unless one was chosen."""
PRELOADED = [
    "audit.apps.batch.keeper", "audit.apps.notebook", "audit.report.figures", "ipykernel.kernelapp",
    "ipykernel.ipkernel", "ipykernel.zmqshell", "matplotlib_inline.backend_inline", "nbclient", "papermill.cli",
]  # fmt: skip
CLOSING_S = 30.0
A_GPU = 2
"""The fewest audits that share a GPU: one uses it while the others build on the processor and wait for their turn."""
CORES_OF_AN_AUDIT = 2
"""An audit on a GPU waits longest for its published build, which is the work of one compiler."""
STOPPED = End(trouble="the batch was stopped")


class LocalJobs:
    """Runs jobs on this machine, `slots` at once; of those that share a GPU one uses it at a time.

    `RayJobs` of `ray_jobs.py` does the same on a cluster.

    Args:
        jobs: at work at once.
        gpus: their numbers or names, as CUDA_VISIBLE_DEVICES takes them; none for the emulated device.
        locks: the folder for the lock files of GPUs.
        held: a descriptor that every process of the batch keeps open, and the lock on it with that, if there is one.
    """

    def __init__(self, *, jobs: int, gpus: Sequence[str], locks: Path, held: int | None = None) -> None:
        self.slots = jobs
        self._free = list(islice(cycle(gpus), jobs)) if gpus else []
        self._sharing = math.ceil(jobs / len(gpus)) if gpus else 1
        self._locks = locks
        self._held = None if held is None else Connection(os.dup(held))  # as which a process takes a descriptor
        self._lock, self._stopped = threading.Lock(), False
        self._running: list[BaseProcess] = []
        own = {**dict.fromkeys(THREADS, "1"), "PYTHONPATH": python_path()}
        self._env = {"MPLBACKEND": INLINE, **os.environ, **own}
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)
        before = dict(os.environ)
        os.environ.update(self._env)  # the process that forks the others imports libraries that read it
        try:
            forkserver.ensure_running()
        finally:
            os.environ.clear()
            os.environ.update(before)

    def run(self, job: Job) -> End:
        """Runs a job to its end; there must be a slot for it."""
        from audit.apps.batch.keeper import keep  # Jupyter, which a batch on Ray need not have here

        with self._gpu() as own:
            limit_s = self._sharing * job.limit_s
            job = job.model_copy(update={"env": {**self._env, **own}, "limit_s": limit_s})
            reads, writes = self._context.Pipe(duplex=False)
            keeper = self._context.Process(target=keep, args=(job, writes, self._held))
            with self._lock:
                if self._stopped:
                    return STOPPED
                keeper.start()
                self._running.append(keeper)
            keeper.join()
            with self._lock:
                self._running.remove(keeper)
            if reads.poll():
                return End.model_validate_json(reads.recv_bytes())
        return End(trouble=f"the process that watched over the audit ended with {keeper.exitcode}")

    def stop(self) -> None:
        """Ends whatever runs; nothing is started from now on."""
        with self._lock:
            self._stopped = True
            for keeper in self._running:
                keeper.terminate()

    def close(self) -> None:
        """Ends whatever runs, and waits for that."""
        self.stop()
        for keeper in list(self._running):
            keeper.join(CLOSING_S)
            keeper.kill()
        if self._held is not None:
            self._held.close()

    @contextmanager
    def _gpu(self) -> Iterator[dict[str, str]]:
        """The variables for a job on a GPU, the one with fewer jobs first; none on the emulated device."""
        with self._lock:
            gpu = max(self._free, key=self._free.count) if self._free else None
            if gpu is not None:
                self._free.remove(gpu)
        if gpu is None:
            yield {}
            return
        try:
            yield {"CUDA_VISIBLE_DEVICES": gpu, VARIABLE: str(self._locks / f".gpu-{gpu.replace('/', '-')}.lock")}
        finally:
            with self._lock:
                self._free.append(gpu)


@contextmanager
def opened(
    engine: str, device: str, gpus: str | None, jobs: int | None, *, out: Path, held: int | None
) -> Iterator[tuple[LocalJobs | RayJobs, str]]:
    """The place for jobs and the device its audits are given, as the options say; its processes end with the body.
    Raises BadInput: the device, a GPU or the cluster is not there."""
    place: LocalJobs | RayJobs
    if engine == "ray":
        from audit.apps.batch import ray_jobs

        place = ray_jobs.RayJobs(jobs=jobs, device=device)
        device = place.device
    else:
        device, named = here(device, gpus, jobs)
        most = max(A_GPU * len(named), limits.jobs() // CORES_OF_AN_AUDIT) if named else limits.jobs() + 1
        place = LocalJobs(jobs=jobs or most, gpus=named, locks=out, held=held)
    try:
        yield place, device
    finally:
        place.close()


def here(asked: str, gpus: str | None, jobs: int | None) -> tuple[str, list[str]]:
    """The device of this machine, and the GPUs to use where it is one. Raises BadInput: one of them is not there."""
    reason = toolchain.missing()
    device = asked if asked != "auto" else "emulated" if reason else "cuda"
    if device == "emulated":
        if gpus is not None:
            raise BadInput(f"--gpus {gpus}: the audits run on the emulated device ({reason or '--device emulated'})")
        return device, []
    if reason is not None:
        raise BadInput(reason)
    text = gpus or os.environ.get("CUDA_VISIBLE_DEVICES") or "0"
    named = [gpu.strip() for gpu in text.split(",") if gpu.strip()]
    if not named or len(set(named)) < len(named):
        raise BadInput(f"--gpus {text}: name each GPU once, as in --gpus 0,1")
    if jobs is not None and jobs < len(named):
        raise BadInput(f"--jobs {jobs}: a GPU of {text} has no audit; it takes {len(named)} at least")
    return device, named


def python_path() -> str:
    """PYTHONPATH for a child: the folder of this package, then the PYTHONPATH of this process."""
    return os.pathsep.join(filter(None, (str(Path(__file__).resolve().parents[3]), os.environ.get("PYTHONPATH"))))
