"""What sessions say on a GPU that is not left alone: `python bench/disturbed.py [--deadline 90] [--out FILE]`.

The session of an audit, with its control, over and over: on a quiet card, beside a process that multiplies matrices all
the time, and beside one that does so in bursts. Counted: the sessions that an audit does not hold, since the driver
says that others use the card, the words of each variant's ratio to eager, and how often one that is not inconclusive
lies off the quiet card's ratio. The deadline, in seconds, ends it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import timing  # first: it makes the kit importable
import torch

from audit.build.cuda import gpu
from audit.measure.timing import BUDGET_S, HALF_WIDTH
from audit.run.timing import other_clocks
from audit.run.timing.blocks import Plan
from audit.run.timing.ratios import Ratio, ratio

STARTED = "started"
NEIGHBOUR = f"""
import random, sys, time, torch
half = torch.randn(8192, 8192, device="cuda", dtype=torch.half)
torch.cuda.synchronize()
print("{STARTED}", flush=True)
while True:
    until = time.monotonic() + 0.5 * random.random()
    while time.monotonic() < until:
        for _ in range(4):
            half @ half
        torch.cuda.synchronize()
    if sys.argv[1] == "bursts":
        time.sleep(1.5 * random.random())
"""
WAYS = ("quiet", "steady", "bursts")
Session = dict[str, Ratio]
"""The ratio to eager of each variant, and that of the control."""


def main() -> None:
    """Times, prints and, with `--out`, writes the numbers after each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deadline", type=float, default=90.0, help="seconds for everything")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    began, card = time.monotonic(), gpu.find()
    calls, contents = timing.callables_of(timing.at_hand(card))
    raced = {name: calls[name] for name in (timing.EAGER, *timing.VARIANTS)}
    numbers: dict[str, Any] = {"gpu": card.name, "driver": card.driver, "torch": torch.__version__}
    found: dict[str, list[Session]] = {}
    for left, way in zip((3, 2, 1), WAYS, strict=True):
        until = time.monotonic() + (began + asked.deadline - time.monotonic()) / left
        with neighbour(way):
            driver = other_clocks.watch(str(torch.cuda.get_device_properties(0).uuid))
            found[way], states, refused = [], list[dict[str, Any]](), 0
            while time.monotonic() < until:
                torch.cuda.synchronize()
                if driver is not None and driver.shared() is not None:
                    refused += 1  # an audit holds no session then
                    continue
                found[way].append(session(raced, contents, seed=len(found[way])))
                states += [driver.state()] if driver else []
        numbers[way] = {
            "not_held": refused,
            **counted(found[way], found["quiet"]),
            "card": states[:: max(1, len(states) // 5)],
        }
        print(f"{way}, after {time.monotonic() - began:.0f} s:", json.dumps(numbers[way]), flush=True)
        if asked.out:
            asked.out.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


@contextmanager
def neighbour(way: str) -> Iterator[None]:
    """Have a process at work on the same card, or none on a quiet one."""
    if way == "quiet":
        yield
        return
    with subprocess.Popen([sys.executable, "-c", NEIGHBOUR, way], stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            if STARTED not in other.stdout.readline():
                raise RuntimeError("the neighbour did not start")
            time.sleep(1.5)  # the driver's figure of the GPU's use looks back
            yield
        finally:
            other.kill()


def session(raced: dict[str, Any], contents: Any, *, seed: int) -> Session:
    """One session of an audit with those callables, one of which is timed twice."""
    blocks = timing.warm(raced, contents, seed=seed)
    again = blocks.fastest()
    blocks.repeat(again, f"{timing.AGAIN}{again}")
    blocks.run(Plan(BUDGET_S, HALF_WIDTH), between=lambda _: None)
    ratios = {name: ratio(timing.cold(blocks, name), timing.cold(blocks, timing.EAGER)) for name in timing.VARIANTS}
    return {**ratios, timing.AGAIN: ratio(timing.cold(blocks, again), timing.cold(blocks, f"{timing.AGAIN}{again}"))}


def counted(found: Sequence[Session], quiet: Sequence[Session]) -> dict[str, Any]:
    """The words of each ratio, where the control came out as the same and where not, and beside the `quiet` sessions:
    conclusions of another word, and conclusions whose interval does not hold the median ratio, with the farthest."""
    values: dict[str, Any] = {
        "sessions": len(found),
        "controls_not_the_same": sum(one[timing.AGAIN].word != "same" for one in found),
    }
    for name in [one for one in (quiet[0] if quiet else {}) if one != timing.AGAIN]:
        true, word = (
            median(one[name].value for one in quiet),
            Counter(one[name].word for one in quiet).most_common(1)[0][0],
        )
        taken = [(one[name], one[timing.AGAIN].word == "same") for one in found]
        concluded = [one for one, same in taken if same and one.word != "inconclusive"]
        off = [one for one in concluded if not timing.holds(one, true)]
        values[name] = {
            "quiet_ratio": true,
            "words": dict(Counter(one.word if same else "inconclusive" for one, same in taken)),
            "another_word": sum(one.word != word for one in concluded),
            "interval_off": len(off),
            "farthest": max((abs(one.value / true - 1) for one in off), default=0.0),
        }
    return values


if __name__ == "__main__":
    main()
