"""A batch of 24 small claims on the emulated device against one audit at a time, and a batch killed twenty times; the
same claims on one GPU and on two.

    python bench/batch.py                               # the first two; some ten minutes on two idle cores
    python bench/batch.py kills                         # one of them: speed or kills
    python bench/batch.py gpus --scratch /tmp/batch     # one GPU against two of one host; goes on where it was stopped

The claims are kernels of `kernels/controls_good/`, one a claim, each compiled anew in every round: a remark at
its end makes it new, while what builds share is made before. "One at a time" is what somebody does without `audit
batch`: `papermill` on the command line for one claim after the other. `bench/results/batch.json` keeps every round
with the processor time it took and how many cores were busy with other things.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from measured import RESULTS, keep, timed

from audit import claims
from audit.apps.batch import parameters

NOTEBOOK = claims.KERNELS.parent / "notebooks" / "audit_claim.ipynb"
CLAIMS, KILLS, ROUNDS = 24, 20, 2
KILLED_BY = 0.4
"""Each kill comes within this part of the time a whole batch takes here."""
SEED = 20261121


def main() -> None:
    """Measures, prints and stores."""
    parser = argparse.ArgumentParser(description="audit batch against one audit at a time, and killed twenty times")
    parser.add_argument("part", nargs="*", default=["speed", "kills"], help="speed, kills or gpus; speed and kills")
    parser.add_argument("--scratch", type=Path, help="where gpus keeps its builds and rounds")
    parser.add_argument("--claims", type=int, default=CLAIMS, help="that gpus asks; 24")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of every way, of which the fastest counts")
    options = parser.parse_args()
    if options.part == ["gpus"]:
        os.environ["AUDIT_CACHE"] = f"{options.scratch}/cache"
        keep("two_gpus", gpus(options.scratch, claims=options.claims), seeds=(SEED,))
        return
    kept = RESULTS / "batch.json"
    values: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["AUDIT_CACHE"] = f"{scratch}/cache"
        generate(Path(scratch) / "warm", remark="what builds share")
        whole_s = timed(lambda: batch(Path(scratch) / "warm", Path(scratch) / "warm-out"))["seconds"]
        values["claims"] = CLAIMS
        values.pop("environment", None)
        if "speed" in options.part:
            values["speed"] = speed(Path(scratch), rounds=options.rounds)
            keep("batch", values, seeds=(SEED,))
        if "kills" in options.part:
            values["kills"] = kills(Path(scratch), within_s=KILLED_BY * whole_s)
            keep("batch", values, seeds=(SEED,))


def generate(folder: Path, *, remark: str, most: int = CLAIMS) -> list[Path]:
    """The claim folders, one kernel each, none compiled before under that remark."""
    return [_claim(folder / f"claim_{number:02d}", *pair, remark) for number, pair in enumerate(_kernels()[:most])]


def _kernels() -> list[tuple[Path, str]]:
    """The first kernel of every task, then the second of every task, and so on."""
    tasks = sorted(path.parent for path in (claims.KERNELS / "controls_good").glob("*/claim.toml"))
    files = {
        task: [one.file for one in claims.load(str(task)).claim.variant if one.precision == "fp32"] for task in tasks
    }
    turns = ((task, files[task][turn]) for turn in range(9) for task in tasks if turn < len(files[task]))
    return list(islice(turns, CLAIMS))


def _claim(place: Path, task: Path, file: str, remark: str) -> Path:
    place.mkdir(parents=True)
    head = (task / "claim.toml").read_text(encoding="utf-8").partition("[[variant]]")[0]
    variant = f'[[variant]]\nfile = "{file}"\nrole = "claimed"\ntechnique = "see the file"\n'
    (place / "claim.toml").write_text(head + variant, encoding="utf-8")
    shutil.copy(task / "reference.py", place)
    text = (task / file).read_text(encoding="utf-8")
    (place / file).write_text(f"{text}\n// {place.name}: {remark}\n", encoding="utf-8")
    return place


def speed(scratch: Path, *, rounds: int) -> dict[str, Any]:
    """Each way in turn, so that a neighbour's load does not fall on one of them alone."""
    ways: dict[str, Callable[[Path, Path], object]] = {
        "one papermill at a time": papermills,
        "audit batch --jobs 1": lambda folder, out: batch(folder, out, "--jobs", "1"),
        "audit batch": batch,
    }
    done: list[dict[str, Any]] = []
    for turn in range(rounds):
        for way, run in ways.items():
            folder = scratch / f"{turn}-{len(done)}"
            generate(folder, remark=f"{way}, round {turn}")
            done.append({"way": way, **timed(partial(run, folder, folder / "out"))})
            print(done[-1], flush=True)
    best = {way: min(one["seconds"] for one in done if one["way"] == way) for way in ways}
    ratios = {way: round(seconds / best["audit batch"], 2) for way, seconds in best.items()}
    return {"rounds": done, "best_seconds": best, "times_the_throughput_of": ratios}


def gpus(scratch: Path, *, claims: int) -> dict[str, Any]:
    """Seconds of a batch on one GPU and on two, with every build made before by a batch that is not counted."""
    folder, done = scratch / "claims", scratch / "rounds.json"
    if not folder.exists():
        generate(folder, remark="one GPU and two", most=claims)
    batch(folder, scratch / "builds", "--resume", "--gpus", "0,1", device="cuda")
    rounds: dict[str, dict[str, Any]] = json.loads(done.read_bytes()) if done.exists() else {}
    for numbers in ("0,1", "0"):
        out = scratch / f"out-{numbers}"
        if numbers in rounds:
            continue
        shutil.rmtree(out, ignore_errors=True)
        rounds[numbers] = timed(partial(batch, folder, out, "--gpus", numbers, device="cuda"))
        rounds[numbers]["verdicts"] = _verdicts(out)
        done.write_text(json.dumps(rounds), encoding="utf-8")
        print(numbers, rounds[numbers], flush=True)
    ratio = round(rounds["0"]["seconds"] / rounds["0,1"]["seconds"], 2)
    return {"claims": claims, "gpus": rounds, "two_gpus_times_one": ratio}


def _verdicts(out: Path) -> dict[str, int]:
    records = (json.loads(path.read_bytes()) for path in sorted(out.glob("*/record.json")))
    return dict(Counter(one["verdict"]["name"] for one in records))


def papermills(folder: Path, out: Path) -> None:
    """One audit after the other, as by hand."""
    for claim in sorted(path for path in folder.iterdir() if (path / "claim.toml").exists()):
        out.mkdir(exist_ok=True)
        values: dict[str, Any] = {
            "claim": str(claim),
            "device": "emulated",
            "out": str(out / claim.name),
            "interactive": False,
        }
        parameters.write(values, out / "p.yaml")
        command = ["--no-progress-bar", "-f", str(out / "p.yaml"), "--cwd", str(NOTEBOOK.parent), str(NOTEBOOK)]
        subprocess.run(
            [sys.executable, "-m", "papermill", *command, str(out / f"{claim.name}.ipynb")],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def batch(folder: Path, out: Path, *more: str, device: str = "emulated") -> subprocess.CompletedProcess[bytes]:
    """One whole batch."""
    return subprocess.run(_command(folder, out, *more, device=device), check=True, stdout=subprocess.DEVNULL)


def kills(scratch: Path, *, within_s: float) -> dict[str, Any]:
    """One batch, killed at random moments: the batch itself or the process that starts its audits, without warning."""
    folder, out = scratch / "killed", scratch / "killed-out"
    generate(folder, remark="killed")
    chance = random.Random(SEED)
    finished: dict[str, str] = {}
    rounds: list[dict[str, Any]] = []
    batches: list[dict[str, Any]] = []
    while len(rounds) < KILLS:
        victim, after = chance.choice(("batch", "launcher")), round(chance.uniform(1.0, within_s), 2)
        ended = _killed(folder, out, victim=victim, after_s=after)
        now = dict(_finished(out))
        lost = sorted(name for name, digest in finished.items() if now.get(name) != digest)
        finished = now
        if ended:  # nothing was left to kill: another batch begins, and the count goes on
            batches.append({"finished": len(now), "lost": lost, "left_running": _left(out)})
            shutil.rmtree(out)
            finished = {}
        else:
            rounds.append({"victim": victim, "after_s": after, "finished": len(now), "lost": lost})
            print(rounds[-1], flush=True)
    batch(folder, out, "--resume")
    now = dict(_finished(out))
    lost = sorted(name for name, digest in finished.items() if now.get(name) != digest)
    batches.append({"finished": len(now), "lost": lost, "left_running": _left(out)})
    return {"kills": rounds, "batches_at_their_end": batches}


def _killed(folder: Path, out: Path, *, victim: str, after_s: float) -> bool:
    """Starts or resumes the batch and kills it after that long; True if it ended by itself before."""
    process = subprocess.Popen(
        _command(folder, out, "--resume"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        process.wait(after_s)
        return True
    except subprocess.TimeoutExpired:
        launcher = _children(process.pid) if victim == "launcher" else []
        for pid in launcher or [process.pid]:  # there is none yet in the first moments
            os.kill(pid, signal.SIGKILL)
        process.wait()
    return False


def _finished(out: Path) -> Iterator[tuple[str, str]]:
    """Claims that have finished, and a digest of their record and state."""
    for path in sorted(out.glob("items/*.json")):
        attempts = json.loads(path.read_bytes()).get("attempts", [])
        if attempts and attempts[-1]["outcome"] == "finished":
            digest = hashlib.sha256(path.read_bytes() + (out / path.stem / "record.json").read_bytes())
            yield path.stem, digest.hexdigest()


def _left(out: Path) -> int:
    """Processes that name the batch's folder and are still there."""
    time.sleep(1.0)
    return sum(str(out) in _line(place) for place in Path("/proc").glob("[0-9]*/cmdline"))


def _line(place: Path) -> str:
    try:
        return place.read_bytes().decode(errors="replace")
    except OSError:
        return ""


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _command(folder: Path, out: Path, *more: str, device: str = "emulated") -> list[str]:
    return [sys.executable, "-m", "audit", "batch", str(folder), "--device", device, "--out", str(out), *more]


if __name__ == "__main__":
    main()
