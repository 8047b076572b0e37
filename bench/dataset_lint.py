"""How long `audit lint` takes: a table of scores, and a made-up archive of 30,000 rows with cells of realistic size.

    python bench/dataset_lint.py

Prints a table and writes `bench/results/dataset_lint.json` with the machine it came from. Seconds are wall clock of a
whole command with every file it writes, the quickest of three; memory is the largest its process ever held. The rows
come from a fixed seed: texts of random words whose sizes spread as the columns of the AI CUDA Engineer Archive do
(code some kilobytes, profiles some tens), a task for every kernel of it, times with noise, one in five marked wrong.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from measured import keep
from pyarrow import parquet

SCORES = Path(__file__).resolve().parents[1] / "reports" / "datasets" / "cuda_l1" / "cuda_l1_scores.csv"
ROWS, ROWS_AT_ONCE, TASKS, ROUNDS = 30_000, 1000, 230, 3
LIMIT_S = {"archive": 10.0, "scores": 2.0}
LIMIT_MB = 2000.0
BYTES = {"CUDA_Code": 5000, "PyTorch_Code_Functional": 1200, "NCU_Profile": 14000, "Torch_Profile": 7000,
         "Clang_Tidy": 5000}  # fmt: skip
TASK = '''import torch
import torch.nn as nn


class Model(nn.Module):
    """Task {task}."""

    def forward(self, a, b):
        return torch.matmul(a, b)


M = {size}
K = 1024


def get_inputs():
    return [torch.randn(M, K), torch.randn(K, M)]


def get_init_inputs():
    return []
'''


def archive(path: Path, *, seed: int = 20250220) -> None:
    """Writes the made-up archive as Parquet."""
    dice = random.Random(seed)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz_0123456789", k=dice.randint(2, 11))) for _ in range(5000)]
    writer = None
    for first in range(0, ROWS, ROWS_AT_ONCE):
        rows = pa.Table.from_pylist([_row(number, dice, words) for number in range(first, first + ROWS_AT_ONCE)])
        writer = writer or parquet.ParquetWriter(path, rows.schema, compression="snappy")
        writer.write_table(rows)
    if writer is not None:
        writer.close()


def _row(number: int, dice: random.Random, words: list[str]) -> dict[str, Any]:
    task = number * TASKS // ROWS
    correct = dice.random() < 0.8
    native = 10 ** dice.uniform(-2, 1)
    kernel = native / 10 ** dice.gauss(0.05, 0.3) if correct else None
    compiled = native * 10 ** dice.gauss(-0.05, 0.1)
    texts = {name: " ".join(dice.choices(words, k=int(dice.lognormvariate(0, 0.5) * size / 7)))
             for name, size in BYTES.items()}  # fmt: skip
    return {
        "Op_Name": f"op_{task}",
        "Level_ID": 1 + task % 3,
        "Task_ID": 1 + task // 3,
        "Kernel_Name": f"op_{task}_kernel_{number}",
        "CUDA_Runtime": kernel,
        "PyTorch_Native_Runtime": native,
        "PyTorch_Compile_Runtime": compiled,
        "CUDA_Speedup_Native": kernel and native / kernel,
        "CUDA_Speedup_Compile": kernel and compiled / kernel,
        "PyTorch_Code_Module": TASK.format(task=task, size=256 * (1 + task % 16)),
        "Correct": correct,
        "Max_Diff": dice.random() * 1e-3,
        "Error": None if correct else "mismatch",
        **texts,
    }


@dataclass(frozen=True)
class Run:
    """One command: wall-clock seconds, processor seconds, and the most megabytes it held."""

    seconds: float
    processor_seconds: float
    megabytes: float


def lint(path: Path, out: Path) -> Run:
    """One command; two cores, as the limits say."""
    command = [sys.executable, "-m", "audit", "lint", str(path), "--gpu", "H100", "--out", str(out)]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit(f"audit lint {path.name} ended with status {status}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3)


def quickest(path: Path, out: Path) -> Run:
    """The quickest of several rounds."""
    return min((lint(path, out) for _ in range(ROUNDS)), key=lambda run: run.seconds)


def main() -> None:
    """Measures, prints and stores."""
    load = round(os.getloadavg()[0], 1)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "archive.parquet"
        archive(made)
        size_mb = made.stat().st_size / 1e6
        found = {name: quickest(path, Path(scratch) / name) for name, path in (("archive", made), ("scores", SCORES))}
    result = {
        "archive_rows": ROWS,
        "archive_mb": round(size_mb),
        "load_before": load,
        "seconds": {name: round(run.seconds, 2) for name, run in found.items()},
        "processor_seconds": {name: round(run.processor_seconds, 2) for name, run in found.items()},
        "largest_mb": {name: round(run.megabytes) for name, run in found.items()},
        "limits_s": LIMIT_S,
        "limit_mb": LIMIT_MB,
    }
    keep("dataset_lint", result)
    for name, run in found.items():
        print(
            f"{name:<8} {run.seconds:5.2f} s (aim: {LIMIT_S[name]:g} s), {run.megabytes:5.0f} MB (aim: {LIMIT_MB:g} MB)"
        )


if __name__ == "__main__":
    main()
