"""How often a 95 % interval of a ratio holds the true one: `python bench/coverage.py [--sessions 4000] [--out FILE]`.

The timing session is the kit's own, with its order of calls, its budget and its rule of stopping. Simulated is the GPU
alone: two kernels of known times, whose noise a row of `SCENES` states. No GPU is needed. `OTHERS` are intervals that
were not chosen, each deciding when to stop as well. Where processes differ, one session stands beside several, whose
ratios are pooled.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, cast
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from audit.measure.comparison import PROCESSES  # noqa: E402
from audit.measure.timing import BRIEF_S, BUDGET_S, HALF_WIDTH  # noqa: E402
from audit.run.calls.outputs import KeptOutputs  # noqa: E402
from audit.run.timing import blocks  # noqa: E402
from audit.run.timing.answers import Answers  # noqa: E402
from audit.run.timing.contents import Content, Contents  # noqa: E402
from audit.run.timing.ratios import Ratio, Samples, pooled, ratio  # noqa: E402
from audit.run.timing.stopwatch import Stopwatch, TimedCall  # noqa: E402

OURS, THEIRS = "kernel", "baseline:eager"
TRUE = 1.25
CALL_S = 0.0005
"""What a call costs beside its own time: contents, flush, waiting."""


@dataclass(frozen=True)
class Scene:
    """Noise, relative.

    Attributes:
        sample: of each sample, normal.
        block: of each kernel in each block, normal: what memory, placement or a neighbour do to one of the two.
        drift: by which the clock slows in a second.
        steps: of the clock in a second, each to another speed.
        step: the largest of them.
        late: the share of samples that take up to five times as long.
        delay: one-sided noise of each kernel in each block, exponential.
        process: of each kernel in each process, normal: what placement and alignment decide once.
        kernel_ms: of the kernel; the baseline takes `TRUE` times as long.
    """

    sample: float = 0.003
    block: float = 0.0
    drift: float = 0.0
    steps: float = 0.0
    step: float = 0.1
    late: float = 0.0
    delay: float = 0.0
    process: float = 0.0
    kernel_ms: float = 0.24


SCENES = {
    "quiet": Scene(),
    "jitter of blocks, 0.7 %": Scene(block=0.007),
    "jitter of blocks, 1 %": Scene(block=0.01),
    "jitter of blocks, 1.4 %": Scene(block=0.014),
    "jitter of blocks, 2 %": Scene(block=0.02),
    "jitter of blocks, 4 %": Scene(block=0.04),
    "drift": Scene(drift=0.06, block=0.01),
    "steps": Scene(steps=4.0, block=0.007),
    "late samples": Scene(late=0.05, sample=0.02),
    "one-sided delays": Scene(delay=0.02),
    "slow kernels": Scene(sample=0.012, kernel_ms=2.4),
    "slow kernels, drift, steps, late": Scene(sample=0.01, drift=0.06, steps=4.0, late=0.03, kernel_ms=2.4),
    "everything": Scene(sample=0.01, block=0.01, drift=0.06, steps=4.0, late=0.03, delay=0.01),
}

OF_PROCESSES = {
    "no difference between processes": Scene(block=0.005),
    "processes differ by 0.3 %": Scene(block=0.005, process=0.003),
    "processes differ by 1 %": Scene(block=0.005, process=0.01),
    "processes differ by 3 %": Scene(block=0.005, process=0.03),
}


class Gpu:
    """Stands for the stopwatch, and for the clock that ends a session: a call takes what the scene makes of it."""

    def __init__(self, scene: Scene, draw: random.Random) -> None:
        self.scene, self.draw = scene, draw
        self.seconds, self._speed, self._next_step = 0.0, 1.0, math.inf
        self._step()
        self._in_block: dict[tuple[float, int], float] = {}
        self._in_process: dict[float, float] = {}
        self.block = 0

    def cold(self, calls: Sequence[TimedCall]) -> list[float]:
        """See `Stopwatch`."""
        return [self.host(timed) for timed in calls]

    def hot(self, calls: Sequence[TimedCall]) -> list[float]:
        """See `Stopwatch`."""
        return self.cold(calls)[1:]

    def host(self, timed: TimedCall) -> float:
        """See `Stopwatch`; every call takes simulated time."""
        while self.seconds > self._next_step:
            self._step()
        ms: float = timed.call()
        noise = self._in_process.setdefault(ms, self.draw.gauss(0, self.scene.process)) + self._block_noise(ms)
        noise += self.draw.gauss(0, self.scene.sample)
        ms *= math.exp(noise) * self._speed * (1 + self.scene.drift * self.seconds)
        if self.draw.random() < self.scene.late:
            ms *= 1 + 4 * self.draw.random()
        self.seconds += 1e-3 * ms + CALL_S
        return ms

    def perf_counter(self) -> float:
        """Seconds since the session began."""
        return self.seconds

    def _step(self) -> None:
        self._speed = 1 + self.scene.step * self.draw.random() if self.scene.steps else 1.0
        self._next_step = self.seconds + self.draw.expovariate(self.scene.steps) if self.scene.steps else math.inf

    def _block_noise(self, kernel: float) -> float:
        key = kernel, self.block
        if key not in self._in_block:
            delay = self.draw.expovariate(1 / self.scene.delay) if self.scene.delay else 0.0
            self._in_block[key] = self.draw.gauss(0, self.scene.block) + delay
        return self._in_block[key]


class Same:
    """Stands for contents and answers: what a call computes is not the question here."""

    most = 14

    def taken(self, owner: str, count: int) -> list[tuple[Content, int]]:  # noqa: ARG002
        """As many contents as calls."""
        return [(Content(0, drawn=None), 0)] * count

    def nothing(self, *_: object, **__: object) -> None:
        """Do nothing: no content is written and no result compared."""

    renew = write = check = settle = measure_contrast = nothing


def session(scene: Scene, seed: int, budget_s: float = BUDGET_S) -> blocks.Blocks:
    """One timing session, from the warm-up to its end."""
    choice = random.Random(seed)
    gpu, same = Gpu(scene, choice), Same()
    made = blocks.Blocks(
        {OURS: lambda _: scene.kernel_ms, THEIRS: lambda _: TRUE * scene.kernel_ms},
        contents=cast(Contents, same),
        answers=cast(Answers, same),
        stopwatch=cast(Stopwatch, gpu),
        kept=KeptOutputs(Path(), each=0, choice=choice, write=lambda *_: ""),
        choice=choice,
    )
    with mock.patch.object(blocks, "time", gpu):
        for name in (OURS, THEIRS):
            made.warm(name)
        made.run(blocks.Plan(budget_s, HALF_WIDTH), between=lambda block: setattr(gpu, "block", block))
    return made


Rule = Callable[[Samples, Samples], Ratio]


def covered(scene: Scene, sessions: int, rule: Rule = ratio) -> dict[str, Any]:
    """The share of sessions whose interval holds the true ratio, in percent, with the median of blocks and width."""
    held, widths, counts = 0, [], []
    for seed in range(sessions):
        with mock.patch.object(blocks, "ratio", rule):
            taken = session(scene, seed).taken
        found = rule(taken[OURS][blocks.COLD], taken[THEIRS][blocks.COLD])
        assert found.low is not None and found.high is not None and found.half_width is not None
        held += found.low <= TRUE <= found.high
        widths.append(found.half_width)
        counts.append(found.blocks)
    return {"covered": round(100 * held / sessions, 2), "blocks": median(counts),
            "half_width": round(100 * median(widths), 3)}  # fmt: skip


def covered_by_processes(scene: Scene, audits: int) -> dict[str, Any]:
    """The share in percent of audits whose interval holds the true ratio: the pooled one, and that of one session."""
    held, alone, widths = 0, 0, []
    for audit in range(audits):
        ratios = []
        for process in range(PROCESSES):
            taken = session(scene, audit * PROCESSES + process, BRIEF_S).taken
            ratios.append(ratio(taken[OURS][blocks.COLD], taken[THEIRS][blocks.COLD]))
        whole, (first, *_) = pooled(ratios), ratios
        assert whole.low is not None and whole.high is not None and whole.half_width is not None
        assert first.low is not None and first.high is not None
        held += whole.low <= TRUE <= whole.high
        alone += first.low <= TRUE <= first.high
        widths.append(whole.half_width)
    return {"covered": round(100 * held / audits, 2), "one_session": round(100 * alone / audits, 2),
            "half_width": round(100 * median(widths), 3)}  # fmt: skip


def by_deviation(ours: Samples, theirs: Samples) -> Ratio:
    """The median of log ratios, plus or minus 1.96 of its standard errors from the median absolute deviation."""
    logs = _logs(ours, theirs)
    middle = median(logs)
    spread = 1.4826 * median(abs(one - middle) for one in logs)
    return _around(middle, 1.96 * math.sqrt(math.pi / 2) * spread / math.sqrt(len(logs)), len(logs))


def by_t(ours: Samples, theirs: Samples) -> Ratio:
    """The mean of log ratios, plus or minus what Student's t leaves at 95 % (by its expansion around the normal)."""
    logs, z = _logs(ours, theirs), 1.959964
    free = len(logs) - 1
    t = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    return _around(fmean(logs), t * stdev(logs) / math.sqrt(len(logs)), len(logs))


def _logs(ours: Samples, theirs: Samples) -> list[float]:
    pairs = zip(theirs.samples_ms, ours.samples_ms, strict=True)
    by_block: dict[int, list[tuple[float, float]]] = {}
    for block, pair in zip(ours.blocks, pairs, strict=True):
        by_block.setdefault(block, []).append(pair)
    return [math.log(median(a for a, _ in each) / median(b for _, b in each)) for each in by_block.values()]


def _around(middle: float, half: float, count: int) -> Ratio:
    return Ratio(math.exp(middle), math.exp(middle - half), math.exp(middle + half), count)


OTHERS: dict[str, Rule] = {"median and absolute deviation": by_deviation, "mean and Student's t": by_t}


def main() -> None:
    """Simulates, prints and, with `--out`, writes the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=4000, help="sessions of each scene")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    scenes: dict[str, Any] = {}
    for name, scene in SCENES.items():
        scenes[name] = covered(scene, asked.sessions)
        print(f"{name:34} {scenes[name]}", flush=True)
    others: dict[str, dict[str, Any]] = {}
    for name, rule in OTHERS.items():
        others[name] = {scene: covered(SCENES[scene], asked.sessions // 10, rule) for scene in SCENES}
        print(f"{name:34} {others[name]}", flush=True)
    processes: dict[str, Any] = {}
    for name, scene in OF_PROCESSES.items():
        processes[name] = covered_by_processes(scene, asked.sessions // 2)
        print(f"{name:34} {processes[name]}", flush=True)
    if asked.out:
        numbers = {"sessions": asked.sessions, "scenes": scenes, "others": others, "processes": processes}
        asked.out.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()
