"""Audit many kernels, several at a time over the GPUs or the cores of a machine, and keep what came of each.

    python bench/audits.py CASES OUT [--times] [--jobs N] [--until S] [--limit S] [--gib G] [--device cuda]
                           [--only CASE...]

CASES is a file of JSON, a `Case` a line, in the order to ask in; the folder of each set has a script that writes it.
Cases of one piece share a process, and the right results of their task. On a GPU of CUDA_VISIBLE_DEVICES a process is
ended with its descendants at the limit of its cases; what it found of the one at work is kept, and is no answer. With
`--times` a case is timed as soon as its values are known, also by another run beside this one, one at a time on
each GPU: give that GPU, and some cores, nothing else to do. OUT keeps a claim folder, a record and a state (JSON) of
each, and the last run's rate; the same command goes on where it was cut.
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
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from audit import claims, judge
from audit.audit import Audit
from audit.build.cuda import gpu, toolchain
from audit.build.cuda.device import FAST, PUBLISHED, CudaDevice
from audit.build.device import AuditDevice, Levels, choose
from audit.build.emulated.device import device_for
from audit.claims import ClaimFolder, importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Given
from audit.device_run import DeviceRun
from audit.measure import DO_BENCH, Session, compared, median_ms, speedup
from audit.measure.comparison import EAGER, PREFIX
from audit.measure.timing import LADDER, Times
from audit.model import BuildNote, Record, atomic, store
from audit.model.errors import AuditError, BadInput
from audit.model.run_directory import Scratch
from audit.report.progress import Progress
from audit.run.processes import environment
from audit.run.processes.oracle_cache import OracleCache
from audit.run.processes.pool import Workers
from audit.sandbox import limits

LEAST_S = 20.0
"""No case is begun with less time left."""
TIMED_AT_ONCE = 3
"""Cases a GPU at once with times: one uses it, and the others are built."""
TIMING_S = 120.0
"""The limit of a case that is timed; its turn on the GPU counts too."""
WORKERS = 6
EMULATED_S = {"session_limit_s": 30.0, "kernel_limit_s": 10.0}
REASON, MOST_REASONS = 400, 6
NAMED = 12
"""Cases that are left and named."""
AGAIN = ("cut", "crashed")
"""Outcomes with which a case is asked again."""
BUILDS = {"fast": Levels(first=FAST), "published": Levels(first=PUBLISHED)}


@dataclass(frozen=True)
class Case:
    """One kernel to audit.

    Attributes:
        case: the name of its files in OUT.
        sources: a claim folder, or what an importer takes; paths in the folder of CASES.
        seed: of all inputs.
        form: the importer, where the content should not decide.
        shape: sizes in place of the source's own.
        build: on a GPU "published", the one build it has; "fast" for that in place of it, unless the fast build refuses
            the source; "both" asks of the fast one and again of the other.
        limit_s, gib: on a GPU its seconds, without times, and the memory it may need.
        baselines: the callables that it is timed against.
        piece: cases of one number are asked one after another, by the same right results where their task is the same.
        about: what its state says beside, for the pages.
    """

    case: str
    sources: tuple[str, ...]
    seed: int
    form: str | None = None
    shape: dict[str, int] = field(default_factory=dict)
    build: str = "both"
    limit_s: float = 200.0
    gib: float = 6.0
    baselines: tuple[str, ...] = (EAGER, "compile", "graph_eager")
    piece: int | None = None
    about: dict[str, Any] = field(default_factory=dict)


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


def opened(case: Case, given: argparse.Namespace) -> tuple[ClaimFolder, AuditDevice]:
    """Return the claim of a case, imported if need be, and the device that it is asked on. Raises BadInput: it cannot
    be imported or read."""
    sources = [(given.cases.parent / one).resolve() for one in case.sources]
    folder = sources[0]
    if not (folder / "claim.toml").exists():
        folder = given.out / "claims" / case.case
        if not folder.exists():
            imported = importers.read(sources, given=Given(shape=tuple(case.shape.items())), format_=case.form)
            if lacking := [str(one) for one in imported.missing if one.essential]:
                raise BadInput(f"{case.case}: no audit without {'; '.join(lacking)}")
            writer.write(imported, folder)
    loaded = claims.load(str(folder.resolve()))
    if given.device == "emulated":
        return loaded, device_for(loaded.claim, **EMULATED_S)
    on = choose(given.device, loaded.claim)
    if isinstance(on, CudaDevice):
        on.levels = BUILDS.get(case.build, on.levels)
    return loaded, on


def values(case: Case, given: argparse.Namespace, workers: Workers) -> State:
    """Audit a case with every probe, and without times."""
    folder, on = opened(case, given)
    record = _audited(case, folder, on, given, workers)
    built = any(one.outcome == "built" for one in record.environment.builds)
    if isinstance(on, CudaDevice) and on.levels == BUILDS["fast"] and not built:
        on.levels = BUILDS["published"]
        record = _audited(case, folder, on, given, workers)
    return of_record(case.case, record, "finished")


def _audited(case: Case, folder: ClaimFolder, on: AuditDevice, given: argparse.Namespace, workers: Workers) -> Record:
    said = given.out / "logs" / f"{case.case}.txt"
    with said.open("a", encoding="utf-8") as log, Audit(
        folder, on, given.out / "records" / case.case, entropy=case.seed, timed=False, at_once=2, workers=workers,
        progress=Progress(log),
    ) as audit:  # fmt: skip
        for stage in (audit.prepare, audit.lint, audit.review, audit.build, audit.verify, audit.confirm, audit.judge):
            stage()
        return audit.record


def times(case: Case, given: argparse.Namespace) -> State:
    """Time a case at its claimed shape, and judge its record again with what the timed calls gave."""
    folder, on = opened(case, given)
    record = store.read(given.out / "records" / case.case / store.RECORD)
    found = _timed(case, folder.stating(shapes=folder.claim.shapes.model_copy(update={"others": ()})), on)
    record = record.model_copy(update={
        "findings": (*record.findings, *found.findings), "measurements": found.measurements,
    })  # fmt: skip
    rungs = judge.ladder(record.claim.statement, record.findings, record.measurements)
    record = record.model_copy(update={"ladder": rungs})
    record = record.model_copy(update={"verdict": judge.judge(record)})
    (given.out / "timed" / case.case).mkdir(parents=True, exist_ok=True)
    store.write(record, given.out / "timed" / case.case / store.RECORD)
    return replace(of_record(case.case, record, "finished"), ratios=tuple(ratios(record)))


def _timed(case: Case, folder: ClaimFolder, on: AuditDevice) -> Times:
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
            run.make_cases(entropy=case.seed)
            session = Session(folder.claim, folder.reference, run.cases[-1], workers, say=print, seed=case.seed)
            session.rotate()
            session.interleaved(LADDER, {claimed.name: build.built}, baselines=case.baselines)
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


def ask(cases: Sequence[Case], given: argparse.Namespace) -> None:
    """Ask cases one after another in this process, and keep the state of each as it ends."""
    with OracleCache() as cache, Workers(WORKERS, cache=cache) as workers:
        for case in cases:
            began = time.monotonic()
            try:
                state = times(case, given) if given.times else values(case, given, workers)
            except BadInput as error:
                state = State(case.case, "bad input", reasons=(str(error)[:REASON],))
            except AuditError as error:
                state = State(case.case, "failed", reasons=(str(error)[:REASON],))
            keep(case, state, began, given)


def keep(case: Case, state: State, began: float, given: argparse.Namespace) -> None:
    """Write a state and show it; a file that is there is whole."""
    state = replace(state, seconds=round(time.monotonic() - began, 1))
    text = json.dumps(case.about | asdict(state), indent=1)
    atomic.write(_state(case, given), text.encode())
    print(case.case, state.outcome, state.verdict, state.seconds, *state.reasons[:1], flush=True)


def _state(case: Case, given: argparse.Namespace) -> Path:
    path: Path = given.out / ("times" if given.times else "states") / f"{case.case}.json"
    return path


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


class Queue:
    """Hands pieces to processes, which a GPU each is chosen for, and keeps a state of each case that was cut."""

    def __init__(self, cases: Sequence[Case], given: argparse.Namespace) -> None:
        self._given, self._cases, self._end = given, cases, time.monotonic() + given.until
        self._on_gpu = given.device == "cuda"
        self._gpus = Gpus(given.gib if self._on_gpu else float("inf"))
        self._done = given.out / "values.done"
        for name in ("states", "times", "logs", "records"):
            (given.out / name).mkdir(parents=True, exist_ok=True)
        pieces: dict[object, list[Case]] = {}
        for one in cases:
            alone = given.times or one.piece is None
            pieces.setdefault(one.case if alone else one.piece, []).append(one)
        self._left, self._lock = [*pieces.values()], threading.Lock()

    def run(self) -> None:
        """Ask all cases, several at a time."""
        if not self._given.times:
            self._done.unlink(missing_ok=True)
        lanes = limits.jobs()
        lanes = TIMED_AT_ONCE * len(self._gpus.names) if self._given.times else lanes
        lanes = self._given.jobs or max(1, lanes)
        began, before = time.monotonic(), {one.case for one in self._cases if self._ended(one)}
        with ThreadPoolExecutor(lanes) as pool:
            for lane in [pool.submit(self._lane) for _ in range(lanes)]:
                lane.result()
        if not self._given.times:
            self._done.touch()
        self._keep_rate(lanes, time.monotonic() - began, before)
        if left := [one.case for one in self._cases if not self._ended(one)]:
            why = "cut, not asked, or without a published build to time"
            print(f"left: {len(left)}, {why}: {' '.join(left[:NAMED])}")

    def _keep_rate(self, lanes: int, seconds: float, before: set[str]) -> None:
        """Write how many cases ended in this run, and how many of them have an answer."""
        ended = [one for one in self._cases if self._ended(one) and one.case not in before]
        verdicts = [json.loads(_state(one, self._given).read_text(encoding="utf-8"))["verdict"] for one in ended]
        rate = {
            "machine": environment.processor_and_cores(), "gpu": gpu.find().name if self._on_gpu else "",
            "gpus": len(self._gpus.names) if self._on_gpu else 0, "at_once": lanes, "seconds": round(seconds),
            "ended": len(ended), "answered": sum(one not in ("", "undecided") for one in verdicts),
            "an_hour": round(3600 * len(ended) / seconds),
        }  # fmt: skip
        (self._given.out / "rate.json").write_text(json.dumps(rate, indent=1) + "\n", encoding="utf-8")
        print(json.dumps(rate))

    def _lane(self) -> None:
        while self._end - time.monotonic() > LEAST_S:
            ended = self._done.exists()
            if piece := self._next():
                self._handle(piece)
            elif ended or not self._left:
                return
            else:
                time.sleep(0.5)

    def _next(self) -> list[Case]:
        """Return the first piece that can be asked now, or none."""
        with self._lock:
            able = (one for one in self._left if not self._given.times or self._can_be_timed(one[0]))
            if (found := next(able, None)) is not None:
                self._left.remove(found)
            return found or []

    def _can_be_timed(self, case: Case) -> bool:
        """Return whether its values were asked, so that its build is in the cache."""
        path, record = (self._given.out / where for where in (f"states/{case.case}.json", f"records/{case.case}"))
        if not path.exists() or not json.loads(path.read_text(encoding="utf-8"))["verdict"]:
            return False
        return any(one.outcome == "built" and one.optimisation == PUBLISHED for one in _builds(record / store.RECORD))

    def _handle(self, piece: Sequence[Case]) -> None:
        """Ask the cases of a piece that have no state."""
        left = [one for one in piece if not self._ended(one)]
        while left:
            with self._gpus.one(left[0].gib) as name:
                began = time.monotonic()
                if self._end - began < LEAST_S:
                    return
                done = self._asked(left, name, min(self._limit(left), self._end - began))
            left = [one for one in left if not self._ended(one)]
            if left:
                case, *left = left
                keep(case, self._cut(case, *done), began, self._given)

    def _ended(self, case: Case) -> bool:
        path = _state(case, self._given)
        return path.exists() and json.loads(path.read_text(encoding="utf-8"))["outcome"] not in AGAIN

    def _limit(self, cases: Sequence[Case]) -> float:
        """Return the seconds of a process for those cases."""
        own = [TIMING_S if self._given.times else one.limit_s if self._on_gpu else float("inf") for one in cases]
        return sum(self._given.limit or one for one in own)

    def _asked(self, cases: Sequence[Case], name: str, limit_s: float) -> tuple[int, str]:
        """Return the exit code of the process, and the end of what it said on stderr."""
        command = ["timeout", "--signal=KILL", f"{limit_s:.1f}",  # with its process group
                   sys.executable, *sys.argv, "--these", *(one.case for one in cases)]  # fmt: skip
        where = dict(os.environ)
        if self._on_gpu:
            where["CUDA_VISIBLE_DEVICES"] = name
        if self._given.times:
            where[gpu.LOCK_FILE] = str(self._given.out / f"gpu_{name}.lock")
        with (self._given.out / "logs" / f"{cases[0].case}.stderr").open("w+", encoding="utf-8") as said:
            code = subprocess.run(command, env=where, stderr=said, check=False).returncode
            said.seek(0)
            return code, said.read().strip()[-REASON:]

    def _cut(self, case: Case, code: int, said: str) -> State:
        if code != -signal.SIGKILL:
            return State(case.case, "crashed", reasons=(said,))
        with suppress(AuditError):
            if not self._given.times:
                return of_record(case.case, store.read(self._given.out / "records" / case.case / store.RECORD), "cut")
        return State(case.case, "cut")


@cache
def _builds(record: Path) -> tuple[BuildNote, ...]:
    return store.read(record).environment.builds


def main() -> None:
    """Ask the cases, or some of them in a process of their own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--jobs", type=int, default=0, help="processes at once")
    parser.add_argument("--until", type=float, default=30 * 86400.0, help="seconds for all")
    parser.add_argument("--limit", type=float, default=0.0, help="seconds for a case, in place of its own")
    parser.add_argument("--gib", type=float, default=70.0, help="memory of a GPU")
    parser.add_argument("--device", choices=("cuda", "emulated"), default="cuda")
    parser.add_argument("--only", nargs="*", help="these cases alone")
    parser.add_argument("--these", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    every = [Case(**json.loads(line)) for line in given.cases.read_text(encoding="utf-8").splitlines()]
    if given.these is not None:
        known = {one.case: one for one in every}
        ask([known[name] for name in given.these], given)
        return
    if (odd := {*(given.only or ())} - {one.case for one in every}) or not every:
        parser.error(f"no such case: {', '.join(sorted(odd)) or given.cases}")
    if given.times and given.device != "cuda":
        parser.error("--times: the emulated device gives no times")
    if given.device == "cuda" and (why := toolchain.missing()) is not None:
        parser.error(why)
    Queue([one for one in every if not given.only or one.case in given.only], given).run()


if __name__ == "__main__":
    main()
