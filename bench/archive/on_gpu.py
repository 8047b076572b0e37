"""Ask the archive's kernels about their values on a GPU: a second method beside `screen.py`.

    python bench/archive/on_gpu.py KERNELS OUT --ids FILE [--jobs N] [--until S] [--device cuda]

KERNELS and FILE as in `screen.py`. Each kernel is built once by the device's fast build and asked at the claimed shape
by the probes in VALUES; no time is taken. The kernels are dealt to all GPUs. OUT keeps the findings of each kernel,
also of one that ran out of time, and `gpu.json`: `id`, `verdict` and `evidence`. `right at its inputs` means the
benchmark's own inputs: a kernel may be wrong at others, which the probes come to later.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import torch
from screen import SEED, item, tasks

from audit import claims
from audit.build.device import choose
from audit.device_run import DeviceRun
from audit.judge.answers import result_state
from audit.model import BuildNote, Finding
from audit.model.errors import AuditError
from audit.model.run_directory import Scratch
from audit.run.pool import Workers

VALUES = ("contract", "agreement", "order", "coverage", "inherited", "fresh_values", "repeat", "dead_inputs")
WORKERS = 4
LIMIT_S = 170.0
"""For one kernel; what it answered before counts."""
RESULT = "gpu.json"


def ask(number: int, kernels: Path, out: Path, device: str) -> None:
    """Build one kernel and write its findings to a file, a line each, as they come in."""
    one = item(number, tasks(kernels)[number], kernels, out)
    if one.make is not None and not one.folder.exists():
        one.make(one.folder)
    folder = claims.load(str(one.folder.resolve()))
    claimed, on, notes = folder.claim.claimed, choose(device, folder.claim), list[BuildNote]()
    assert claimed is not None  # `make` writes it
    with (out / f"{number}.jsonl").open("w") as file, Workers(WORKERS) as workers, Scratch() as scratch:
        run = DeviceRun(folder, on, workers=workers, scratch=scratch, keep=notes.append)
        try:
            on.prepare()
            run.make_cases(entropy=SEED)
            build = run.build(claimed, on.levels.first)
            for finding in run.verify(claimed, build.built, only=VALUES) if build.built is not None else ():
                print(finding.model_dump_json(), file=file, flush=True)
        except AuditError as error:
            print(error, file=sys.stderr)
        finally:
            run.rest()


def verdict(findings: list[Finding]) -> tuple[str, str]:
    """Return what the judge says of a kernel's values by these findings, and the first piece of evidence."""
    state, proof = result_state(findings, ())
    if proof:
        return state, f"{proof[0].probe}: {proof[0].summary}"
    right = any(one.probe == "agreement" and one.outcome == "pass" for one in findings)
    return ("right at its inputs" if right else "no answer"), ""


def findings_of(file: Path) -> list[Finding]:
    """Return the findings in a file; a line that was cut is left out."""
    found = []
    for line in file.read_text().splitlines() if file.exists() else ():
        with suppress(ValueError):
            found.append(Finding.model_validate_json(line))
    return found


def asked(number: int, place: int, gpus: int, command: list[str], deadline: float) -> None:
    """Ask one kernel in a process of its own, which is ended with its descendants at its limit."""
    left = min(LIMIT_S, deadline - time.monotonic())
    if left <= 0:
        return
    where = {"CUDA_VISIBLE_DEVICES": str(place % gpus)} if gpus > 1 else {}
    ended_after = ["timeout", "--signal=KILL", f"{left:.1f}"]  # with its process group
    subprocess.run([*ended_after, *command, "--one", str(number)], env=os.environ | where, check=False)


def main() -> None:
    """Ask the kernels, several at a time, and write what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--ids", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0)) // 4))
    parser.add_argument("--until", type=float, default=30 * 86400.0)
    parser.add_argument("--device", choices=("cuda", "emulated"), default="cuda")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.one is not None:
        ask(given.one, given.kernels, given.out, given.device)
        return
    ids = [int(one) for one in given.ids.read_text().split()]
    command, deadline = [sys.executable, *sys.argv], time.monotonic() + given.until
    gpus = max(1, torch.cuda.device_count())
    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(lambda one: asked(one[1], one[0], gpus, command, deadline), enumerate(ids)))
    answers = [(number, *verdict(findings_of(given.out / f"{number}.jsonl"))) for number in ids]
    rows = [{"id": number, "verdict": name, "evidence": evidence} for number, name, evidence in answers]
    (given.out / RESULT).write_text(json.dumps(rows, indent=1))
    for row in rows:
        print(*row.values())


if __name__ == "__main__":
    main()
