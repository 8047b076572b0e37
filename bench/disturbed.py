"""What an audit says on a GPU that is not left alone: `python bench/disturbed.py [--out FILE]`, on such a machine.

The same audit three times: on a quiet card, beside a process that multiplies matrices all the time, and beside one that
does so in bursts. Printed: each variant's ratio and word against eager, and what the report says about the card.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from audit.judge import BASELINE  # noqa: E402
from audit.measure import compared  # noqa: E402
from audit.model import Record, store  # noqa: E402

CLAIM = "triangular_mm"
NEIGHBOUR = """
import random, sys, time, torch
half = torch.randn(8192, 8192, device="cuda", dtype=torch.half)
while True:
    until = time.monotonic() + 0.5 * random.random()
    while time.monotonic() < until:
        for _ in range(4):
            half @ half
        torch.cuda.synchronize()
    if sys.argv[1] == "bursts":
        time.sleep(1.5 * random.random())
"""
ABOUT_THE_CARD = ("clocks", "same_twice", "l2_flush", "order_effect", "timing", "clocks_agree", "neighbours")


def main() -> None:
    """Runs the audits, prints a table and, with `--out`, writes the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    numbers: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="audit-bench-") as folder:
        audited(Path(folder) / "warm", Path(folder) / "cache")
        for how in ("quiet", "steady", "bursts"):
            numbers[how] = told(beside(how, Path(folder) / how, Path(folder) / "cache"))
            print(f"{how}:", json.dumps(numbers[how], indent=1), flush=True)
    if asked.out:
        asked.out.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


def beside(how: str, out: Path, cache: Path) -> Record:
    """The audit while a neighbour is at work, or none."""
    if how == "quiet":
        return audited(out, cache)
    with subprocess.Popen([sys.executable, "-c", NEIGHBOUR, how]) as neighbour:
        try:
            return audited(out, cache)
        finally:
            neighbour.kill()


def audited(out: Path, cache: Path) -> Record:
    """One audit as a user starts it."""
    command = [sys.executable, "-m", "audit", "run", CLAIM, "--device", "cuda", "--out", str(out)]
    env = {**os.environ, "AUDIT_CACHE": str(cache)}
    subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)
    return store.read(out / "record.json")


def told(record: Record) -> dict[str, Any]:
    """Verdict, ratios with their words, and the findings about the card that are not a pass, or speak of it."""
    passing = [rung.variant for rung in record.ladder if rung.state == "passed"]
    ratios = {name: compared(record.measurements, name, BASELINE) for name in passing}
    card = [one for one in record.findings if one.probe in ABOUT_THE_CARD]
    return {
        "gpu": record.device.name,
        "verdict": record.verdict.name,
        "passed": len(passing),
        "against_eager": {name: f"{one.word}: {one.sentence()}" for name, one in ratios.items() if one is not None},
        "about_the_card": [f"{one.probe} ({one.target}): {one.outcome}: {one.summary}" for one in card
                           if one.outcome != "pass" or one.probe in ("clocks", "neighbours")],
    }  # fmt: skip


if __name__ == "__main__":
    main()
