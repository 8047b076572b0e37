"""Ask rows of CUDA-L1 on a GPU: what torch's builder says, whose kernels run, whether values are right, and the ratio.

    python bench/cuda_l1/l1_on_gpu.py FILE OUT [--ids FILE] [--times] [--compile] [--jobs N] [--until S] [--device cuda]

FILE and `--ids` as in `l1_screen.py`. Without `--times` the probes in VALUES are asked, several rows a GPU at once.
With it each row is timed by the kit's interleaved blocks against the task's eager reference in eval mode, with
`--compile` also against `torch.compile`, one row a GPU at a time; let nothing else run on the machine. OUT keeps a file
a row, and the same command goes on where it was cut; `values.json` or `times.json` has a summary of each.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from l1_kinds import NO_ANSWER, NOT_BUILT, RIGHT, SO_FAR, cached, kind_of, values_of
from l1_screen import SEED, Row, item, named, rows

from audit import claims
from audit.build.cuda.compile import compiler_words
from audit.build.cuda.device import CudaVariant
from audit.build.device import BuiltVariant, choose
from audit.build.emulated.device import EmulatedVariant
from audit.build.settings import CudaPython, EmulatedPythonSettings
from audit.claims import ClaimFolder
from audit.device_run import DeviceRun
from audit.measure import DO_BENCH, Session, compared, speedup
from audit.measure.comparison import EAGER, PREFIX, TIMED_OUTPUTS
from audit.measure.timing import LADDER
from audit.model import BuildNote, Finding, Variant
from audit.model.errors import AuditError
from audit.model.run_directory import Scratch
from audit.run.pool import Workers

VALUES = (
    "contract", "agreement", "kernels_ran", "inputs_intact", "alias", "order", "coverage", "inherited", "fresh_values",
    "repeat", "precision", "late_writes", "dead_inputs",
)  # fmt: skip
COMPILE = "compile"
WORKERS = 4
LIMIT_S = {False: 200.0, True: 200.0}
"""For one row, without and with times; what it answered before counts."""
WORDS = 400
"""Characters of a builder's refusal that are kept."""
Event = dict[str, Any]
Keep = Callable[..., None]


def ask(row: Row, out: Path, device: str, baselines: Sequence[str]) -> None:
    """Build one row and write what is found to a file, a line each, as it comes in; with baselines it is timed."""
    one = item(row, out)
    with (out / f"{row.name}.jsonl").open("w", encoding="utf-8") as file:

        def keep(**event: Any) -> None:
            print(json.dumps(event), file=file, flush=True)

        try:
            if one.make is not None and not one.folder.exists():
                one.make(one.folder)
            _asked(claims.load(str(one.folder.resolve())), device, baselines, keep)
        except AuditError as error:
            keep(error=f"{type(error).__name__}: {error}"[:WORDS])
        keep(end="whole")


def _asked(folder: ClaimFolder, device: str, baselines: Sequence[str], keep: Keep) -> None:
    claimed, on, notes = folder.claim.claimed, choose(device, folder.claim), list[BuildNote]()
    assert claimed is not None  # `make` writes it
    with Workers(WORKERS) as workers, Scratch() as scratch:
        run = DeviceRun(folder, on, workers=workers, scratch=scratch, keep=notes.append)
        try:
            on.prepare()
            build = run.build(claimed, on.levels.first)
            refused = [] if build.built is None else refusals(build.built)
            unsupported = build.note.outcome == "not supported"
            keep(build=build.note.outcome, log=build.note.log[:WORDS], seconds=build.note.seconds, refused=refused,
                 unsupported=unsupported)  # fmt: skip
            if build.built is None:
                return
            run.make_cases(entropy=SEED)
            if baselines:
                _timed(run, folder, claimed, build.built, baselines, workers, keep)
            else:
                for finding in run.verify(claimed, build.built, only=VALUES):
                    keep(finding=finding.model_dump(mode="json"))
        finally:
            run.rest()


def refusals(built: BuiltVariant) -> list[str]:
    """Return what torch's builder says about each extension of a row that it refuses."""
    if isinstance(built, EmulatedVariant) and isinstance(built.loaded, EmulatedPythonSettings):
        return [text[:WORDS] for text in built.loaded.refusals.values()]
    if isinstance(built, CudaVariant) and isinstance(built.loaded, CudaPython):
        texts = [text for text in (built.loaded.extensions or {}).values() if isinstance(text, str)]
        return [compiler_words(text)[:WORDS] for text in texts]
    return []


def _timed(  # noqa: PLR0913, PLR0917
    run: DeviceRun,
    folder: ClaimFolder,
    claimed: Variant,
    built: BuiltVariant,
    baselines: Sequence[str],
    workers: Workers,
    keep: Keep,
) -> None:
    case = run.cases[-1]  # on a GPU the claimed shape
    session = Session(folder.claim, folder.reference, case, workers, say=print, seed=SEED)
    session.rotate()
    session.interleaved(LADDER, {claimed.name: built}, baselines=baselines)
    times = session.taken()
    for name in baselines:
        both = compared(times.measurements, claimed.name, PREFIX + name)
        bench = speedup(times.measurements, claimed.name, PREFIX + name, DO_BENCH)
        if both is not None:
            keep(against=name, ratio=both.ratio.value, low=both.ratio.low, high=both.ratio.high, doubt=both.doubt,
                 do_bench=bench)  # fmt: skip
    for finding in run.timed(times.findings, {claimed.name: built}):
        keep(finding=finding.model_dump(mode="json"))


def events_of(file: Path) -> Iterator[Event]:
    """Yield the events in a file; a line that was cut is left out."""
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        with suppress(ValueError):
            yield json.loads(line)


def summary(name: str, file: Path) -> Event:
    """Return what is known of a row on the GPU, by the judge of today."""
    events = list(events_of(file))
    findings = [Finding.model_validate_json(json.dumps(one["finding"])) for one in events if "finding" in one]
    build = next((one for one in events if "build" in one), {})
    error = next((one["error"] for one in events if "error" in one), "")
    values, evidence = values_of(findings)
    if build.get("build", "built") != "built":
        values, evidence = NO_ANSWER if build["unsupported"] else NOT_BUILT, build["log"]
    end = next((one["end"] for one in events if "end" in one), "cut")
    values = SO_FAR if values == RIGHT and end != "whole" else values
    wrong = [one.summary for one in findings if one.probe == TIMED_OUTPUTS and one.fails_kernel]
    return {
        "id": name,
        "values": values,
        "evidence": evidence or error,
        "kind": kind_of(findings),
        "cached": cached(findings),
        "refused": build.get("refused", []),
        "build_s": build.get("seconds"),
        "end": end,
        "timed_outputs": wrong[0] if wrong else "",
        "ratios": [one for one in events if "against" in one],
    }


def asked(row: Row, gpus: queue.Queue[int], given: argparse.Namespace, deadline: float) -> None:
    """Ask one row in a process of its own on a free place of a GPU; the process is ended at its limit."""
    file = given.out / f"{row.name}.jsonl"
    if any("end" in one for one in events_of(file)):
        return
    gpu = gpus.get()
    try:
        left = deadline - time.monotonic()
        if left <= 0:
            return
        where = {"CUDA_VISIBLE_DEVICES": str(gpu)} if given.gpus > 1 else {}
        command = [sys.executable, *sys.argv, "--one", row.name]
        limit_s = min(LIMIT_S[given.times], left)
        ended_after = ["timeout", "--signal=KILL", f"{limit_s:.1f}"]  # with its process group
        code = subprocess.run([*ended_after, *command], env=os.environ | where, check=False).returncode
        late = code == -signal.SIGKILL
        ended = "crashed" if code and not late else "time limit" if late and left > limit_s else ""
        if ended:
            with file.open("a", encoding="utf-8") as more:
                print("\n" + json.dumps({"end": ended}), file=more)
    finally:
        gpus.put(gpu)


def shown(every: Sequence[Event]) -> str:
    """Return a short table of counts."""
    done = [one for one in every if one["end"] != "cut"]
    lines = [f"{len(done)} of {len(every)} rows asked to the end"]
    for key in ("values", "kind"):
        lines += [f"  {number:4} {key}: {value}" for value, number in Counter(one[key] for one in every).most_common()]
    lines.append(f"  {sum(bool(one['refused']) for one in every):4} with an extension that torch's builder refuses")
    lines.append(f"  {sum(bool(one['ratios']) for one in every):4} with a ratio")
    return "\n".join(lines)


def main() -> None:
    """Ask the rows, several at a time, and write what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--ids", type=Path)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--jobs", type=int, default=4, help="rows a GPU at once, without --times")
    parser.add_argument("--until", type=float, default=30 * 86400.0)
    parser.add_argument("--device", choices=("cuda", "emulated"), default="cuda")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.one is not None:
        baselines = (EAGER, *((COMPILE,) if given.compile else ())) if given.times else ()
        ask(rows(given.file)[given.one], given.out, given.device, baselines)
        return
    deadline, given.gpus = time.monotonic() + given.until, max(1, torch.cuda.device_count())
    chosen, places = named(given.file, given.ids), queue.Queue[int]()
    jobs = 1 if given.times else given.jobs
    for place in range(jobs * given.gpus):
        places.put(place % given.gpus)
    with ThreadPoolExecutor(jobs * given.gpus) as pool:
        list(pool.map(lambda row: asked(row, places, given, deadline), chosen))
    every = [summary(row.name, given.out / f"{row.name}.jsonl") for row in chosen]
    (given.out / ("times.json" if given.times else "values.json")).write_text(json.dumps(every, indent=1))
    print(shown(every))


if __name__ == "__main__":
    main()
