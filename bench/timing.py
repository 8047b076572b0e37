"""What the timing engine can tell: `python bench/timing.py [--sessions 100] [--out FILE]`, on a machine with a GPU.

Three figures: false alarms of callables timed against themselves in sessions of 2 s; how tight ratio intervals get in
3 s; event medians against the profiler's kernel time.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from audit import claims  # noqa: E402
from audit.build.cuda import fast, gpu  # noqa: E402
from audit.build.cuda.device import fast_digests, flags_of  # noqa: E402
from audit.build.settings import CudaSettings  # noqa: E402
from audit.model import Harness  # noqa: E402
from audit.run import callables, other_clocks  # noqa: E402
from audit.run.answers import Answers  # noqa: E402
from audit.run.blocks import COLD, Blocks, Plan  # noqa: E402
from audit.run.callables import Indexed, Inputs  # noqa: E402
from audit.run.contents import Contents  # noqa: E402
from audit.run.oracle import load_reference  # noqa: E402
from audit.run.outputs import KeptOutputs  # noqa: E402
from audit.run.ratios import Samples, ratio  # noqa: E402
from audit.run.stopwatch import Stopwatch, Timed  # noqa: E402
from audit.sandbox import machine  # noqa: E402

SIDE = 4096
VARIANTS = ("register_blocked", "wmma_split", "wmma_f16")
AGAIN = "again:"
SESSION_S, TIGHT_S = 2.0, 3.0
PROFILED = 15
LEAST_US = 50.0
EMPTY = "empty kernel"


def main() -> None:
    """Measures, prints and, with `--out`, writes the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=100, help="sessions of 2 s for the false alarms")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    card = gpu.find()
    numbers: dict[str, Any] = {"gpu": card.name, "driver": card.driver, "torch": torch.__version__,
                               "cores": machine.cores(), "utc": time.strftime("%Y-%m-%d", time.gmtime())}  # fmt: skip
    calls, contents = callables_at_hand(card)
    numbers["profiler"] = against_profiler(calls, contents)
    numbers["intervals"] = intervals(calls, contents)
    numbers["same"] = against_themselves(calls, contents, asked.sessions)
    if asked.out:
        asked.out.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


def callables_at_hand(card: gpu.Gpu) -> tuple[dict[str, Indexed], Contents]:
    """Three variants, the eager baselines, and torch operations from 25 us up, over changing contents."""
    path = ROOT / "kernels" / "triangular_mm"
    reference = load_reference(path / "reference.py")
    draws = [reference.inputs({"N": SIDE}, torch.Generator().manual_seed(seed)) for seed in range(2)]
    place, free = partial(callables.on_gpu, harness=Harness()), torch.cuda.mem_get_info()[0]
    contents = Contents(draws, place, reference.reference, choice=random.Random(1), free_bytes=free)
    contents.renew(contents.most)
    sets = contents.buffer_sets
    found = {f"baseline:{name}": callables.baseline(name, reference, sets) for name in ("eager", "eager_tf32")}
    for name, built in fast_builds(path, card, VARIANTS).items():
        settings = CudaSettings(
            library=built.library, module=name, binding=built.binding, digests=fast_digests(built), memory="plain"
        )
        found[name] = callables.variant(settings, "forward", sets, Harness())
    for side in (1024, 2048, 4096):
        found[f"tril {side}"] = partial(_tril, sets, side)
    found["add"] = lambda place: sets[place][0] + sets[place][1]
    found["copy"] = lambda place: sets[place][0].clone()
    return found, contents


def _tril(sets: list[Inputs], side: int, place: int) -> Any:
    return sets[place][0][:side, :side].tril()


def fast_builds(path: Path, card: gpu.Gpu, names: tuple[str, ...]) -> dict[str, fast.FastBuild]:
    """Fast builds of those variants."""
    claim = claims.load(str(path)).claim
    chosen = [variant for variant in claim.variant if variant.name in names]
    return {
        one.name: fast.build(path / one.file, flags=flags_of(one, claim), compute_capability=card.compute_capability)
        for one in chosen
    }


def session(
    calls: dict[str, Indexed], contents: Contents, *, seconds: float, half_width: float, seed: int
) -> tuple[Blocks, Any]:
    """One timing session over those callables; results are compared as in an audit, and nobody reads how."""
    choice = random.Random(seed)
    kept = KeptOutputs(Path(), each=0, choice=choice, write=lambda *_: "")
    answers, stopwatch = Answers(contents, lambda _: 1e-4, need=0.0), Stopwatch()
    blocks = Blocks(calls, contents=contents, answers=answers, stopwatch=stopwatch, kept=kept, choice=choice)
    for name in calls:
        blocks.warm(name)
    return blocks, blocks.run(Plan(seconds, half_width), between=lambda _: None)


def cold(blocks: Blocks, name: str) -> Samples:
    """The cold samples of one callable."""
    return blocks.taken[name][COLD]


def against_themselves(calls: dict[str, Indexed], contents: Contents, sessions: int) -> dict[str, Any]:
    """Every session times three callables twice; an alarm is a "faster" or "slower" of one against itself."""
    names = ("tril 2048", "wmma_split", "baseline:eager")
    twice = {name: calls[name] for name in names} | {f"{AGAIN}{name}": calls[name] for name in names}
    words: dict[str, dict[str, int]] = {name: {} for name in names}
    worst = dict.fromkeys(names, 0.0)
    alarmed = 0
    for seed in range(sessions):
        blocks, _ = session(twice, contents, seconds=SESSION_S, half_width=0.0, seed=seed)
        found = {name: ratio(cold(blocks, name), cold(blocks, f"{AGAIN}{name}")) for name in names}
        for name, one in found.items():
            words[name][one.word] = words[name].get(one.word, 0) + 1
            worst[name] = max(worst[name], abs(one.value - 1))
        alarmed += any(one.word in ("faster", "slower") for one in found.values())
    values = {"sessions": sessions, "seconds_each": SESSION_S, "sessions_with_an_alarm": alarmed, "words": words,
            "largest_difference": worst}  # fmt: skip
    print("against themselves:", json.dumps(values), flush=True)
    return values


def intervals(calls: dict[str, Indexed], contents: Contents) -> list[dict[str, Any]]:
    """Each variant against eager alone, until the interval is within 1 % or 3 s have gone."""
    entries = []
    for name in (*VARIANTS, "tril 4096"):
        pair = {"baseline:eager": calls["baseline:eager"], name: calls[name]}
        blocks, ended = session(pair, contents, seconds=TIGHT_S, half_width=0.01, seed=1)
        found = ratio(cold(blocks, name), cold(blocks, "baseline:eager"))
        entries.append({"variant": name, "ratio": found.value, "half_width": found.half_width, **ended})
        print("interval:", json.dumps(entries[-1]), flush=True)
    return entries


def against_profiler(calls: dict[str, Indexed], contents: Contents) -> list[dict[str, Any]]:
    """Median of events in a session over the median of what the profiler saw from first start to last end.

    `net` leaves out what events say of an empty kernel beyond that kernel, the cost of the events themselves.
    """
    blocks, _ = session(calls, contents, seconds=TIGHT_S, half_width=0.0, seed=2)
    stopwatch = Stopwatch()
    empty = stopwatch.empty()
    stopwatch.cold([Timed(empty)] * 5)
    empty_ms = median(stopwatch.cold([Timed(empty)] * 50))
    order = [name for name in (*calls, EMPTY) for _ in range(PROFILED)]
    every = {**calls, EMPTY: lambda _: empty()}
    seen = other_clocks.profiled([partial(every[name], 0) for name in order], stopwatch)
    profiles = {name: [one for other, one in zip(order, seen, strict=True) if other == name] for name in every}
    spans = {name: median(other_clocks.span_ms(one) for one in own) for name, own in profiles.items()}
    overhead = empty_ms - spans[EMPTY]
    found = [{"callable": EMPTY, "events_ms": empty_ms, "span_ms": spans[EMPTY], "overhead_ms": overhead}]
    for name in calls:
        events, span = median(blocks.taken[name][COLD].samples_ms), spans[name]
        found.append({"callable": name, "kernels": len(profiles[name][0]), "events_ms": events, "span_ms": span,
                     "events_over_span": events / span, "net_over_span": (events - overhead) / span,
                     "over_50_us": span * 1e3 > LEAST_US})  # fmt: skip
    print("profiler:", *(json.dumps(one) for one in found), sep="\n  ", flush=True)
    return found


if __name__ == "__main__":
    main()
