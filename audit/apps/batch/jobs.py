"""The engine for jobs on this machine, and the choice of one by the command line."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from audit.apps.batch.keeper import Job
from audit.apps.batch.state import End
from audit.build.cuda import toolchain
from audit.build.cuda.gpu import LOCK_FILE as VARIABLE
from audit.model.errors import AuditError, BadInput
from audit.sandbox import machine

if TYPE_CHECKING:
    from audit.apps.batch.ray_jobs import RayJobs

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
CLOSING_S = 30.0
A_GPU = 2
"""Audits that share a GPU: one uses it while the other builds on the processor and waits for its turn."""


class LocalJobs:
    """Runs jobs on this machine, forked from one launcher; on GPUs two at a time each, of which one uses it.

    `slots` jobs may be at work at once. `RayJobs` of `ray_jobs.py` does the same on a cluster.

    Args:
        jobs: at work at once; on GPUs two each, whatever this says.
        gpus: their numbers or names, as CUDA_VISIBLE_DEVICES takes them; none for the emulated device.
        locks: the folder for the lock files of GPUs.
        held: a descriptor that every process of the batch keeps open, and the lock on it with that.
    """

    def __init__(self, *, jobs: int, gpus: Sequence[str], locks: Path, held: int) -> None:
        self.slots = A_GPU * len(gpus) if gpus else jobs
        self._free = [gpu for gpu in gpus for _ in range(A_GPU)]
        self._of: dict[str, str] = {}
        self._locks = locks
        self._pending = b""
        self._launcher = subprocess.Popen(
            [sys.executable, "-m", "audit.apps.batch.launcher"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            pass_fds=[held],
            env={**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": python_path()},
        )

    def start(self, job: Job) -> None:
        """Starts a job, for which there must be a slot; a GPU is chosen here, the one with fewer jobs first."""
        if self._free:
            gpu = max(self._free, key=self._free.count)
            self._free.remove(gpu)
            self._of[job.id] = gpu
            own = {"CUDA_VISIBLE_DEVICES": gpu, VARIABLE: str(self._locks / f".gpu-{gpu.replace('/', '-')}.lock")}
            job = job.model_copy(update={"env": {**job.env, **own}, "limit_s": A_GPU * job.limit_s})
        assert self._launcher.stdin is not None
        try:
            self._launcher.stdin.write(job.model_dump_json().encode() + b"\n")
        except BrokenPipeError as error:
            raise AuditError(_GONE) from error

    def ended(self, wait_s: float) -> list[tuple[str, End]]:
        """The jobs that have ended, by their id, after at most that many seconds."""
        assert self._launcher.stdout is not None
        deadline = time.monotonic() + wait_s
        while b"\n" not in self._pending:
            rest = deadline - time.monotonic()
            if rest < 0 or not select.select([self._launcher.stdout], [], [], rest)[0]:
                return []
            chunk = os.read(self._launcher.stdout.fileno(), 1 << 16)
            if not chunk:
                raise AuditError(_GONE)
            self._pending += chunk
        *lines, self._pending = self._pending.split(b"\n")
        answers = [json.loads(line) for line in lines]
        self._free += [self._of.pop(one["id"]) for one in answers if one["id"] in self._of]
        return [(one["id"], End.model_validate(one["end"])) for one in answers]

    def close(self) -> None:
        """Ends whatever runs, and waits for that."""
        assert self._launcher.stdin is not None
        self._launcher.stdin.close()
        try:
            self._launcher.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            self._launcher.kill()
            self._launcher.wait()


@dataclass(frozen=True)
class Wanted:
    """The engine and device that the command line asks for; None for an option left out."""

    engine: str
    device: str
    gpus: str | None
    jobs: int | None

    @contextmanager
    def opened(self, out: Path, lock: int) -> Iterator[tuple[LocalJobs | RayJobs, str]]:
        """The place for jobs and the device its audits are given; its processes end with the body.

        Raises:
            BadInput: the device, a GPU or the cluster is not there.
        """
        jobs: LocalJobs | RayJobs
        if self.engine == "ray":
            from audit.apps.batch import ray_jobs

            jobs = ray_jobs.RayJobs(jobs=self.jobs, device=self.device)
            device = jobs.device
        else:
            device, gpus = self._here()
            jobs = LocalJobs(jobs=self.jobs or machine.jobs() + 1, gpus=gpus, locks=out, held=lock)
        try:
            yield jobs, device
        finally:
            jobs.close()

    def _here(self) -> tuple[str, list[str]]:
        """The device, and the GPUs to use where it is one."""
        reason = toolchain.missing()
        device = self.device if self.device != "auto" else "emulated" if reason else "cuda"
        if device == "emulated":
            if self.gpus is not None:
                why = reason or "--device emulated"
                raise BadInput(f"--gpus {self.gpus}: the audits run on the emulated device ({why})")
            return device, []
        if reason is not None:
            raise BadInput(reason)
        named = self.gpus or os.environ.get("CUDA_VISIBLE_DEVICES") or "0"
        gpus = [gpu.strip() for gpu in named.split(",") if gpu.strip()]
        if not gpus or len(set(gpus)) < len(gpus):
            raise BadInput(f"--gpus {named}: name each GPU once, as in --gpus 0,1")
        if self.jobs not in (None, A_GPU * len(gpus)):
            raise BadInput(f"--jobs {self.jobs}: on GPUs it is {A_GPU} for each; leave --jobs out")
        return device, gpus


def python_path() -> str:
    """PYTHONPATH for a child: the folder of this package, then the PYTHONPATH of this process."""
    return os.pathsep.join(filter(None, (str(Path(__file__).resolve().parents[3]), os.environ.get("PYTHONPATH"))))


_GONE = "the process that starts the audits died; go on with --resume"
