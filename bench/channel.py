"""The cost of a session, sealed channel and sandbox included: `python bench/channel.py BEFORE AFTER [--out FILE]`,
two checkouts of this repository with `audit.run.requests`.

Sessions of a Python kernel on the emulated device, six calls each, in fresh processes and in a kept one; the two
checkouts take turns. Prints the median milliseconds of a session of each.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from audit.sandbox import machine

SESSIONS, ROUNDS = 30, 12
CALLS = 6
KERNEL = "def forward(x):\n    return x * 2\n"
REFERENCE = "def reference(x):\n    return x * 2\n"


def main() -> None:
    """Compares, prints and, with `--out`, writes the numbers."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(Path(sys.argv[2]))))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    numbers = compared({"before": asked.before.resolve(), "after": asked.after.resolve()})
    print(json.dumps(numbers["median_ms"], indent=1))
    if asked.out:
        asked.out.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


def compared(checkouts: dict[str, Path]) -> dict[str, Any]:
    """Rounds in which each checkout is asked once, in turns; every round's milliseconds, and their medians."""
    rounds: dict[str, dict[str, list[float]]] = {name: {} for name in checkouts}
    for number in range(ROUNDS):
        names = list(checkouts) if number % 2 == 0 else list(checkouts)[::-1]
        for name in names:
            for how, ms in child(checkouts[name]).items():
                rounds[name].setdefault(how, []).append(ms)
    median = {name: {how: round(statistics.median(ms), 2) for how, ms in own.items()} for name, own in rounds.items()}
    least = {name: {how: min(ms) for how, ms in own.items()} for name, own in rounds.items()}
    commits = {name: commit(path) for name, path in checkouts.items()}
    return {"cores": machine.cores(), "sessions_a_round": SESSIONS, "calls_a_session": CALLS, "commits": commits,
            "median_ms": median, "least_ms": least, "rounds_ms": rounds}  # fmt: skip


def commit(checkout: Path) -> str:
    """The checkout's commit, shortened."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def child(checkout: Path) -> dict[str, float]:
    """Milliseconds a session, fresh and kept, in a process that imports that checkout."""
    with tempfile.TemporaryDirectory(prefix="audit-bench-") as folder:
        command = [sys.executable, str(Path(__file__).resolve()), "--one", folder]
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=checkout)
    values: dict[str, float] = json.loads(done.stdout)
    return values


def one(folder: Path) -> dict[str, float]:
    """What this process's own checkout needs."""
    import torch

    from audit.build.emulated.device import EmulatedDevice
    from audit.model import Variant
    from audit.run.pool import Workers
    from audit.run.requests import Session, Step

    (folder / "kernel.py").write_text(KERNEL, encoding="utf-8")
    (folder / "reference.py").write_text(REFERENCE, encoding="utf-8")
    torch.save([torch.arange(1000.0)], folder / "0.pt")
    variant = Variant(file="kernel.py", role="claimed", technique="doubles")
    built = EmulatedDevice().build(folder / "kernel.py", variant, optimisation="O2")
    request = Session(
        device=built.settings(memory="plain", order="forward", check=False),
        entry="forward",
        inputs=(folder / "0.pt",),
        output_bytes=((4000,),),
        steps=(Step(run="claim", case=0),) * CALLS,
        folder=folder,
    )
    with Workers(1) as workers:
        fresh = timed(workers, request)
        with workers.shared(folder, reads=[folder]) as process:
            kept = timed(process, request.model_copy(update={"folder": process.results}))
    return {"fresh": fresh, "kept": kept}


def timed(asks: Any, request: Any) -> float:
    """Milliseconds a session, the first ones left out."""
    for _ in range(3):
        assert asks.call(request, limit_s=60.0).finished
    started = time.perf_counter()
    for _ in range(SESSIONS):
        assert asks.call(request, limit_s=60.0).finished
    return round(1e3 * (time.perf_counter() - started) / SESSIONS, 3)


if __name__ == "__main__":
    main()
