"""Audit chosen runs of kernelbench.com for their values on a GPU; no time is taken.

    python bench/kernelbench_com/ask.py RUNS OUT [--jobs N] [--until S] [--limit S] [--device cuda] [--only RUN...]

RUNS is the folder that `choose.py` wrote. Each run is imported by the kit's importer at the sizes of SIZES, one claim a
size, and audited with every probe; all runs at their first size, then at their second, and so on. A job is a process
of its own on one GPU, ended with its descendants at its limit; what it found before counts. OUT keeps a claim folder, a
record and a state (JSON) of each; the same command goes on where it was cut. `--device emulated` asks at the sizes of
SMALL.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import queue
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

import torch
from audit.build.devices import choose
from choose import ORDER

from audit import claims, judge
from audit.audit import Audit
from audit.build.cuda.device import PUBLISHED, CudaDevice
from audit.build.device import Levels
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.imported import Given
from audit.model import Record, store
from audit.model.errors import AuditError, BadInput
from audit.report.progress import Progress

Sizes = dict[str, int]
SEED = 20260807
JOBS_A_GPU = 4
LEAST_S = 20.0
"""No job is begun with less time left."""
LIMIT_S, A_COMPILER_S = 85.0, 60.0
"""For one job, and more for one whose source builds an extension."""
REASON, MOST_REASONS = 400, 6


def _named(names: str, *rows: tuple[int, ...]) -> tuple[Sizes, ...]:
    return tuple(dict(zip(names.split(), row, strict=True)) for row in rows)


_PAGED = "BATCH NUM_HEADS NUM_KV_HEADS HEAD_DIM SEQ_LEN PAGE_SIZE"
SIZES = {
    "01_fp8_gemm": _named("M N K", (4096, 4096, 4096), (4096, 4096, 4127), (32, 8192, 8192)),
    "02_kda_cutlass": _named("B T H K V CHUNK_SIZE", (2, 1024, 8, 128, 128, 64), (1, 2048, 4, 128, 128, 64)),
    "03_paged_attention": _named(
        _PAGED, (8, 32, 8, 128, 1024, 16), (16, 32, 8, 128, 1535, 16), (8, 16, 4, 64, 2000, 16)
    ),
    "05_topk_bitonic": _named("batch n k", (64, 8192, 8), (16, 12000, 16), (32, 16384, 32), (1, 131072, 64)),
    "06_sonic_moe_swiglu": _named("T_total H I E K", (4096, 2048, 1024, 64, 4)),
    "07_w4a16_gemm": _named("M N K", (1, 12288, 4096), (32, 12288, 4096), (16, 14336, 4096)),
}
"""Sizes of the set's `shapes.py`; those are left out whose float64 results take gigabytes."""
SMALL = {
    "01_fp8_gemm": _named("M N K", (64, 64, 128)),
    "02_kda_cutlass": _named("B T H K V CHUNK_SIZE", (1, 64, 1, 128, 128, 64)),
    "03_paged_attention": _named(_PAGED, (2, 8, 2, 128, 64, 16)),
    "05_topk_bitonic": _named("batch n k", (2, 8192, 8), (16, 12000, 16)),
    "06_sonic_moe_swiglu": _named("T_total H I E K", (64, 128, 128, 4, 2)),
    "07_w4a16_gemm": _named("M N K", (1, 256, 256)),
}


@dataclass(frozen=True)
class State:
    """The end of one job. `outcome`: finished, cut (at its limit), bad input, failed or crashed."""

    run: str
    sizes: Sizes
    outcome: str
    verdict: str = ""
    reasons: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    device: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Job:
    """One run at one place in the sizes of its problem."""

    run: str
    place: int

    @property
    def name(self) -> str:
        """The name of its files, which a claim may have too."""
        return f"{re.sub(r'[^a-z0-9]+', '_', self.run.lower())}_{self.place}"

    def sizes(self, device: str) -> Sizes:
        """Return the sizes to ask at."""
        return next(of[self.place] for name, of in _sizes(device).items() if self.run.endswith(name))


def _sizes(device: str) -> dict[str, tuple[Sizes, ...]]:
    return SIZES if device == "cuda" else SMALL


def jobs(runs: list[str], device: str) -> Iterator[Job]:
    """Yield all jobs, those at the first sizes first."""
    known = _sizes(device)
    each = [[Job(run, place) for place, _ in enumerate(of)] for run in runs for name, of in known.items()
            if run.endswith(name)]  # fmt: skip
    for wave in zip_longest(*each):
        yield from (one for one in wave if one is not None)


def ask(job: Job, runs: Path, out: Path, device: str) -> State:
    """Import and audit one run; what stands in its way is its state."""
    sizes = job.sizes(device)
    try:
        given = Given(shape=tuple(sizes.items()))
        imported = importers.read([runs / job.run], given=given, format_="kernelbench_com")
        claim = out / "claims" / job.name
        if not claim.exists():
            writer.write(imported, claim)
        folder = claims.load(str(claim.resolve()))
        on = choose(device, folder.claim)
        if isinstance(on, CudaDevice):
            on.levels = Levels(first=PUBLISHED)  # a `.py` has one build, and is asked once
        with Audit(folder, on, out / "records" / job.name, entropy=SEED, timed=False, at_once=2,
                   progress=Progress(io.StringIO())) as audit:  # fmt: skip
            for stage in (audit.prepare, audit.review, audit.build, audit.verify, audit.judge):
                stage()
            return of_record(job, sizes, audit.record, "finished")
    except BadInput as error:
        return State(job.run, sizes, "bad input", reasons=(str(error)[:REASON],))
    except AuditError as error:
        return State(job.run, sizes, "failed", reasons=(str(error)[:REASON],))


def of_record(job: Job, sizes: Sizes, record: Record, outcome: str) -> State:
    """Return the state that a record supports, also one that was cut."""
    verdict = record.verdict if outcome == "finished" else judge.judge(record)
    hints = {one.probe for one in record.findings if one.outcome == "fail" and one.grade == "hint"}
    return State(
        job.run,
        sizes,
        outcome,
        verdict=verdict.name,
        reasons=tuple(one[:REASON] for one in verdict.reasons[:MOST_REASONS]),
        missing=tuple(one[:REASON] for one in verdict.missing[:MOST_REASONS]),
        hints=tuple(sorted(hints)),
        device=record.device.name,
    )


class Desk:
    """Hands jobs to the GPUs, and keeps a state of each."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self._end = time.monotonic() + given.until
        self._states: Path = given.out / "states"
        self._states.mkdir(parents=True, exist_ok=True)
        gpus = max(1, torch.cuda.device_count())
        self.jobs: int = given.jobs or JOBS_A_GPU * gpus
        self._free: queue.Queue[int] = queue.Queue()
        for one in range(self.jobs):
            self._free.put(one % gpus)

    def handle(self, job: Job) -> None:
        """Ask one job in a process of its own, unless it has its state or no time is left."""
        path = self._states / f"{job.name}.json"
        if path.exists() and json.loads(path.read_text(encoding="utf-8"))["outcome"] != "cut":
            return
        gpu, began = self._free.get(), time.monotonic()
        try:
            if self._end - began < LEAST_S:
                return
            state = self._asked(job, gpu, min(self._limit(job), self._end - began))
        finally:
            self._free.put(gpu)
        seconds = round(time.monotonic() - began, 1)
        path.write_text(json.dumps(asdict(state) | {"seconds": seconds}, indent=1), encoding="utf-8")
        print(job.name, state.outcome, state.verdict, seconds, *state.reasons[:1], flush=True)

    def _limit(self, job: Job) -> float:
        text = (self._given.runs / job.run / "solution.py").read_text(encoding="utf-8")
        limit: float = self._given.limit
        return limit + (A_COMPILER_S if "cpp_extension" in text else 0.0)

    def _asked(self, job: Job, gpu: int, left: float) -> State:
        given, written = self._given, self._states / f"{job.name}.part"
        command = [sys.executable, __file__, str(given.runs), str(given.out), "--device", given.device, "--one",
                   job.run, str(job.place), str(written)]  # fmt: skip
        where = os.environ | {"CUDA_VISIBLE_DEVICES": str(gpu)}
        ended_after = ["timeout", "--signal=KILL", f"{left:.1f}"]  # with its process group
        done = subprocess.run([*ended_after, *command], env=where, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode == -signal.SIGKILL and not written.exists():
            return self._cut(job)
        if not written.exists():
            return State(job.run, job.sizes(given.device), "crashed", reasons=(done.stderr.strip()[-REASON:],))
        found = json.loads(written.read_text())
        written.unlink()
        return State(**found)

    def _cut(self, job: Job) -> State:
        sizes, record = job.sizes(self._given.device), self._given.out / "records" / job.name / store.RECORD
        with suppress(AuditError):
            return of_record(job, sizes, store.read(record), "cut")
        return State(job.run, sizes, "cut")


def main() -> None:
    """Ask all runs, several at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--until", type=float, default=30 * 86400.0)
    parser.add_argument("--limit", type=float, default=LIMIT_S)
    parser.add_argument("--device", choices=("cuda", "emulated"), default="cuda")
    parser.add_argument("--only", nargs="*", help="these runs alone")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        run, place, written = given.one
        state = ask(Job(run, int(place)), given.runs, given.out, given.device)
        Path(written).write_text(json.dumps(asdict(state)), encoding="utf-8")
        return
    runs = (given.runs / ORDER).read_text(encoding="utf-8").split()
    desk = Desk(given)
    with ThreadPoolExecutor(desk.jobs) as pool:
        list(pool.map(desk.handle, jobs([one for one in runs if not given.only or one in given.only], given.device)))


if __name__ == "__main__":
    main()
