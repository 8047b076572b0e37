"""Audit the cases of `quoted_cases.py` on a GPU, for their values, and beside or after that for their times.

    python bench/quoted/quoted_ask.py CLAIMS OUT [--times] [--jobs N] [--until S] [--limit S] [--gib G] [--device cuda]
                               [--only CASE...]

CLAIMS is the folder that `quoted_cases.py` wrote. Each case is audited in a process of its own on one of the GPUs in
CUDA_VISIBLE_DEVICES, ended with its descendants at its limit; what it found before is kept, and is no answer. With
`--times` a case is timed as soon as its values are known, one at a time on each GPU: give that GPU, and some cores,
nothing else to do. OUT keeps a record and a state (JSON) of each; the same command goes on where it was cut.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from quoted_cases import ORDER

from audit import claims, judge
from audit.audit import Audit
from audit.build.cuda import gpu
from audit.build.cuda.device import PUBLISHED, CudaDevice
from audit.build.device import AuditDevice, Levels, choose
from audit.claims import ClaimFolder
from audit.device_run import DeviceRun
from audit.measure import DO_BENCH, Session, compared, median_ms, speedup
from audit.measure.comparison import EAGER, PREFIX
from audit.measure.timing import LADDER, Times
from audit.model import BuildNote, Record, store
from audit.model.errors import AuditError, BadInput
from audit.model.run_directory import Scratch
from audit.report.progress import Progress
from audit.run.pool import Workers

SEED = 20261127
LEAST_S = 20.0
"""No case is begun with less time left."""
LIMIT_S = {False: 230.0, True: 120.0}
"""For one case, without and with times; with these the turn on the GPU counts too."""
JOBS = {False: 12, True: 3}
WORKERS = 4
REASON, MOST_REASONS = 400, 6
BASELINES = {"cuda_l2": (EAGER, "cublas_tn", "cublaslt", "cublaslt_tn", "graph_eager")}
"""Of a set; others are timed against USUAL."""
USUAL = (EAGER, "compile", "graph_eager")
FAST_FIRST = ("robust_kbench",)
"""Sets whose sources the fast build takes; others are built once, as published."""


@dataclass(frozen=True)
class State:
    """The end of one case. `outcome`: finished, cut (at its limit), bad input, failed or crashed."""

    case: str
    outcome: str
    verdict: str = ""
    reasons: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    ratios: tuple[dict[str, Any], ...] = ()
    device: str = ""
    seconds: float = 0.0


def opened(case: str, given: argparse.Namespace) -> tuple[ClaimFolder, AuditDevice]:
    """Return the claim of a case, and the device that it is asked on."""
    folder = claims.load(str((given.claims / case).resolve()))
    on = choose(given.device, folder.claim)
    if isinstance(on, CudaDevice) and not case.startswith(FAST_FIRST):
        on.levels = Levels(first=PUBLISHED)
    return folder, on


def values(case: str, given: argparse.Namespace) -> State:
    """Audit a case with every probe, and without times."""
    folder, on = opened(case, given)
    said = given.out / "logs" / f"{case}.txt"
    with said.open("w", encoding="utf-8") as log, Audit(
        folder, on, given.out / "records" / case, entropy=SEED, timed=False, at_once=2, progress=Progress(log)
    ) as audit:  # fmt: skip
        for stage in (audit.prepare, audit.lint, audit.review, audit.build, audit.verify, audit.confirm, audit.judge):
            stage()
        return of_record(case, audit.record, "finished")


def times(case: str, given: argparse.Namespace) -> State:
    """Time a case at its claimed shape, and judge its record again with what the timed calls gave."""
    folder, on = opened(case, given)
    record = store.read(given.out / "records" / case / store.RECORD)
    found = _timed(case, _claimed_alone(folder), on)
    record = record.model_copy(update={
        "findings": (*record.findings, *found.findings), "measurements": found.measurements,
    })  # fmt: skip
    rungs = judge.ladder(record.claim.statement, record.findings, record.measurements)
    record = record.model_copy(update={"ladder": rungs})
    record = record.model_copy(update={"verdict": judge.judge(record)})
    (given.out / "timed" / case).mkdir(parents=True, exist_ok=True)
    store.write(record, given.out / "timed" / case / store.RECORD)
    return replace(of_record(case, record, "finished"), ratios=tuple(ratios(record)))


def _claimed_alone(folder: ClaimFolder) -> ClaimFolder:
    """Return the claim without shapes other than the claimed one."""
    claim = folder.claim
    claim = claim.model_copy(update={"shapes": claim.shapes.model_copy(update={"others": ()})})
    return replace(folder, audited=folder.audited.model_copy(update={"statement": claim}))


def _timed(case: str, folder: ClaimFolder, on: AuditDevice) -> Times:
    claimed = folder.claim.claimed
    assert claimed is not None  # an importer writes it
    with Workers(WORKERS) as workers, Scratch() as scratch:
        run = DeviceRun(folder, on, workers=workers, scratch=scratch, keep=lambda note: None)  # noqa: ARG005
        try:
            on.prepare()
            build = run.build(claimed, PUBLISHED)
            if build.built is None:
                raise BadInput(build.note.log)
            gpu.lock()
            run.make_cases(entropy=SEED)
            session = Session(folder.claim, folder.reference, run.cases[-1], workers, say=print, seed=SEED)
            session.rotate()
            of = next((names for start, names in BASELINES.items() if case.startswith(start)), USUAL)
            session.interleaved(LADDER, {claimed.name: build.built}, baselines=of)
            found = session.taken()
            return Times(found.measurements, tuple(run.timed(found.findings, {claimed.name: build.built})))
        finally:
            run.rest()


def ratios(record: Record) -> Iterator[dict[str, Any]]:
    """Yield what was measured against each baseline; times are medians in milliseconds."""
    known, claimed = record.measurements, record.claimed_name or ""
    for name in dict.fromkeys(one.variant for one in known if one.variant.startswith(PREFIX)):
        if (both := compared(known, claimed, name)) is not None:
            yield {
                "against": name.removeprefix(PREFIX), "ratio": both.ratio.value, "low": both.ratio.low,
                "high": both.ratio.high, "doubt": both.doubt or "", "do_bench": speedup(known, claimed, name, DO_BENCH),
                "ms": median_ms(known, claimed), "baseline_ms": median_ms(known, name),
            }  # fmt: skip


def of_record(case: str, record: Record, outcome: str) -> State:
    """Return the state that a record supports, also one that was cut."""
    verdict = record.verdict if outcome == "finished" else judge.judge(record)
    hints = {one.probe for one in record.findings if one.outcome == "fail" and one.grade == "hint"}
    return State(
        case,
        outcome,
        verdict=verdict.name,
        reasons=tuple(one[:REASON] for one in verdict.reasons[:MOST_REASONS]),
        missing=tuple(one[:REASON] for one in verdict.missing[:MOST_REASONS]),
        hints=tuple(sorted(hints)),
        device=record.device.name,
    )


class Gpus:
    """GPUs with free memory, in GiB; a job waits until one has as much as it needs."""

    def __init__(self, gib: float) -> None:
        named = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        self.names = named.split(",") if named else [str(one) for one in range(_count())]
        self._free, self._most = dict.fromkeys(self.names, gib), gib
        self._changed = threading.Condition()

    @contextmanager
    def one(self, gib: float) -> Iterator[str]:
        """Yield a GPU that has that much left."""
        needed = min(gib, self._most)
        with self._changed:
            self._changed.wait_for(lambda: max(self._free.values()) >= needed)
            name = max(self._free, key=lambda one: self._free[one])
            self._free[name] -= needed
        try:
            yield name
        finally:
            with self._changed:
                self._free[name] += needed
                self._changed.notify_all()


def _count() -> int:
    with suppress(OSError):
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
        return max(1, len(done.stdout.splitlines()))
    return 1


class Desk:
    """Hands cases to the GPUs, and keeps a state of each."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given, self._end, self._gpus = given, time.monotonic() + given.until, Gpus(given.gib)
        self._values, self._done = given.out / "states", given.out / "values.done"
        self._states = given.out / ("times" if given.times else "states")
        for folder in (self._values, self._states, given.out / "logs"):
            folder.mkdir(parents=True, exist_ok=True)
        listed = [line.split() for line in (given.claims / ORDER).read_text(encoding="utf-8").splitlines()]
        self._left = {case: float(gib) for case, gib in listed if not given.only or case in given.only}
        self._lock = threading.Lock()
        self._limit: float = given.limit or LIMIT_S[given.times]

    def run(self) -> None:
        """Ask all cases, several at a time."""
        if not self._given.times:
            self._done.unlink(missing_ok=True)
        lanes = (self._given.jobs or JOBS[self._given.times]) * len(self._gpus.names)
        with ThreadPoolExecutor(lanes) as pool:
            for lane in [pool.submit(self._lane) for _ in range(lanes)]:
                lane.result()
        if not self._given.times:
            self._done.touch()

    def _lane(self) -> None:
        while self._end - time.monotonic() > LEAST_S:
            ended = self._done.exists()
            case, gib = self._next()
            if case:
                self._handle(case, gib)
            elif ended or not self._left:
                return
            else:
                time.sleep(0.5)

    def _next(self) -> tuple[str, float]:
        """Return the first case that can be asked now, or no name."""
        with self._lock:
            for case, gib in self._left.items():
                if self._given.times and not self._can_be_timed(case):
                    continue
                del self._left[case]
                return case, gib
        return "", 0.0

    def _can_be_timed(self, case: str) -> bool:
        """Return whether its values were asked, so that its build is in the cache."""
        path, record = self._values / f"{case}.json", self._given.out / "records" / case / store.RECORD
        if not path.exists() or not _state(path)["verdict"]:
            return False
        return any(one.outcome == "built" and one.optimisation == PUBLISHED for one in _builds(record))

    def _handle(self, case: str, gib: float) -> None:
        path = self._states / f"{case}.json"
        if path.exists() and _state(path)["outcome"] != "cut":
            return
        with self._gpus.one(gib) as name:
            began = time.monotonic()
            if self._end - began < LEAST_S:
                return
            state = self._asked(case, name, min(self._limit, self._end - began))
        state = replace(state, seconds=round(time.monotonic() - began, 1))
        written = path.with_suffix(".new")
        written.write_text(json.dumps(asdict(state), indent=1), encoding="utf-8")
        written.rename(path)
        print(case, state.outcome, state.verdict, state.seconds, *state.reasons[:1], flush=True)

    def _asked(self, case: str, name: str, left: float) -> State:
        written = self._states / f"{case}.part"
        command = [sys.executable, *sys.argv, "--one", case, str(written)]
        where = os.environ | {"CUDA_VISIBLE_DEVICES": name}
        if self._given.times:
            where[gpu.LOCK_FILE] = str(self._given.out / f"gpu_{name}.lock")
        ended_after = ["timeout", "--signal=KILL", f"{left:.1f}"]  # with its process group
        done = subprocess.run([*ended_after, *command], env=where, stderr=subprocess.PIPE, text=True, check=False)
        if written.exists():
            found = State(**json.loads(written.read_text(encoding="utf-8")))
            written.unlink()
            return found
        if done.returncode != -signal.SIGKILL:
            return State(case, "crashed", reasons=(done.stderr.strip()[-REASON:],))
        return State(case, "cut") if self._given.times else self._cut(case)

    def _cut(self, case: str) -> State:
        with suppress(AuditError):
            return of_record(case, store.read(self._given.out / "records" / case / store.RECORD), "cut")
        return State(case, "cut")


@cache
def _builds(record: Path) -> tuple[BuildNote, ...]:
    return store.read(record).environment.builds


def _state(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Ask the cases, or one of them in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("claims", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--jobs", type=int, default=0, help="cases a GPU at once")
    parser.add_argument("--until", type=float, default=30 * 86400.0)
    parser.add_argument("--limit", type=float, default=0.0)
    parser.add_argument("--gib", type=float, default=70.0, help="memory of a GPU")
    parser.add_argument("--device", choices=("cuda", "emulated"), default="cuda")
    parser.add_argument("--only", nargs="*", help="these cases alone")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is None:
        Desk(given).run()
        return
    case, written = given.one
    try:
        state = (times if given.times else values)(case, given)
    except BadInput as error:
        state = State(case, "bad input", reasons=(str(error)[:REASON],))
    except AuditError as error:
        state = State(case, "failed", reasons=(str(error)[:REASON],))
    Path(written).write_text(json.dumps(asdict(state)), encoding="utf-8")


if __name__ == "__main__":
    main()
