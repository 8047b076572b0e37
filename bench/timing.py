"""What the timing engine can tell: `python bench/timing.py [--deadline 140] [--out FILE]`, on a machine with a GPU.

Four figures: how far the ratios of fresh processes lie apart, and how often an interval holds that of the others; event
medians against the profiler's kernel time; how tight ratio intervals get in a session; false alarms of callables timed
against themselves, and how often their interval holds one. Sessions are those of an audit. The deadline, in seconds,
ends it; the file is written after each figure.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from audit import claims  # noqa: E402
from audit.build.cuda import fast, fast_toolchain, gpu  # noqa: E402
from audit.build.cuda.device import fast_digests, flags_of  # noqa: E402
from audit.build.settings import CudaSettings  # noqa: E402
from audit.measure.comparison import PREFIX, PROCESSES  # noqa: E402
from audit.measure.timing import BRIEF_S, BUDGET_S, HALF_WIDTH  # noqa: E402
from audit.model import Harness  # noqa: E402
from audit.run.calls.outputs import KeptOutputs  # noqa: E402
from audit.run.sessions.oracle import load_reference  # noqa: E402
from audit.run.timing import callables, other_clocks  # noqa: E402
from audit.run.timing.answers import Answers  # noqa: E402
from audit.run.timing.blocks import COLD, Blocks, Plan  # noqa: E402
from audit.run.timing.callables import Indexed, Inputs  # noqa: E402
from audit.run.timing.contents import Contents  # noqa: E402
from audit.run.timing.ratios import Ratio, Samples, pooled, ratio  # noqa: E402
from audit.run.timing.stopwatch import Stopwatch, TimedCall  # noqa: E402
from audit.sandbox import limits  # noqa: E402

SIDE = 4096
VARIANTS = ("register_blocked", "wmma_split", "wmma_f16")
EAGER = f"{PREFIX}eager"
EAGERS = (EAGER, f"{PREFIX}eager_tf32")
AGAIN = "again:"
TWICE = ("tril 2048", "wmma_split", EAGER)
IN_PROCESSES, GROUPS = 0.45, 1000
"""The share of the deadline for fresh processes, and the groups of them that are drawn."""
PROCESS_S = 60.0
PROFILED = 15
LEAST_US = 50.0
EMPTY = "empty kernel"


def main() -> None:
    """Measures, prints and, with `--out`, writes the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deadline", type=float, default=140.0, help="seconds for everything")
    parser.add_argument("--sessions", type=int, default=200, help="the most sessions for the false alarms")
    parser.add_argument("--processes", type=int, default=18, help="the most fresh processes")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    began, card = time.monotonic(), gpu.find()
    until = began + asked.deadline
    numbers: dict[str, Any] = {"gpu": card.name, "driver": card.driver, "torch": torch.__version__,
                               "cores": limits.cores(), "utc": time.strftime("%Y-%m-%d", time.gmtime())}  # fmt: skip

    def keep(figure: str, found: Any) -> None:
        numbers[figure] = found
        print(f"{figure}, after {time.monotonic() - began:.0f} s:", json.dumps(found), flush=True)
        if asked.out:
            asked.out.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")

    hand = at_hand(card)
    keep("processes", across_processes(hand, asked.processes, until=began + IN_PROCESSES * asked.deadline))
    calls, contents = callables_of(hand)
    keep("profiler", against_profiler(calls, contents))
    keep("intervals", intervals(calls, contents))
    keep("same", against_themselves(calls, contents, asked.sessions, until=until))


@dataclass(frozen=True)
class Hand:
    """What every process of a GPU needs, made without one: the task, two draws of its inputs, and built variants."""

    reference: ModuleType
    draws: list[Inputs]
    builds: dict[str, fast.FastBuild]


def at_hand(card: gpu.Gpu) -> Hand:
    """Return the task and its built variants."""
    torch.set_num_threads(1)  # a process that is forked has none of this one's threads
    path = ROOT / "kernels" / "triangular_mm"
    reference = load_reference(path / "reference.py")
    draws = [reference.inputs({"N": SIDE}, torch.Generator().manual_seed(seed)) for seed in range(2)]
    return Hand(reference, draws, fast_builds(path, card, VARIANTS))


def callables_of(hand: Hand, names: Sequence[str] = ()) -> tuple[dict[str, Indexed], Contents]:
    """Three variants, the eager baselines and those of `names`, and torch operations from 25 us up, over changing
    contents."""
    reference, draws = hand.reference, hand.draws
    place, free = partial(callables.on_gpu, harness=Harness()), torch.cuda.mem_get_info()[0]
    contents = Contents(draws, place, reference.reference, choice=random.Random(1), free_bytes=free)
    contents.renew(contents.most)
    sets = contents.buffer_sets
    others = [name for name in names if name.startswith(PREFIX)]
    found = {name: callables.baseline(name.removeprefix(PREFIX), reference, sets) for name in (*EAGERS, *others)}
    for name, built in hand.builds.items():
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
    fast_toolchain.prepare()
    claim = claims.load(str(path)).claim
    chosen = [variant for variant in claim.variant if variant.name in names]
    return {
        one.name: fast.build(path / one.file, flags=flags_of(one, claim), compute_capability=card.compute_capability)
        for one in chosen
    }


def session(
    calls: dict[str, Indexed], contents: Contents, *, seconds: float, half_width: float, seed: int
) -> tuple[Blocks, Any]:
    """One timing session over those callables."""
    blocks = warm(calls, contents, seed=seed)
    return blocks, blocks.run(Plan(seconds, half_width), between=lambda _: None)


def warm(calls: dict[str, Indexed], contents: Contents, *, seed: int) -> Blocks:
    """Blocks over those callables, each warm; results are compared as in an audit, and nobody reads how."""
    choice = random.Random(seed)
    kept = KeptOutputs(Path(), each=0, choice=choice, write=lambda *_: "")
    answers, stopwatch = Answers(contents, lambda _: 1e-4, need=0.0), Stopwatch()
    blocks = Blocks(calls, contents=contents, answers=answers, stopwatch=stopwatch, kept=kept, choice=choice)
    for name in calls:
        blocks.warm(name)
    return blocks


def cold(blocks: Blocks, name: str) -> Samples:
    """The cold samples of one callable."""
    return blocks.taken[name][COLD]


def across_processes(hand: Hand, most: int, *, until: float) -> dict[str, Any]:
    """The ratios of two variants to eager in fresh processes, each a session as an audit repeats it."""
    names = ("register_blocked", "wmma_f16")
    found = sessions_in_processes(hand, names, most, until=until)
    return {"processes": len(found), **{name: of_processes([one[name] for one in found]) for name in names}}


def sessions_in_processes(hand: Hand, names: Sequence[str], most: int, *, until: float) -> list[dict[str, Ratio]]:
    """The ratios of those callables to eager, a session in each of at most so many fresh processes."""
    found: list[dict[str, Ratio]] = []
    fork = multiprocessing.get_context("fork")
    while len(found) < most and time.monotonic() < until:
        ours, theirs = fork.Pipe()
        process = fork.Process(target=_in_a_process, args=(hand, names, len(found), theirs))
        process.start()
        theirs.close()
        try:
            if not ours.poll(PROCESS_S):
                break
            found.append(ours.recv())
        except EOFError:  # it ended without a result
            break
        finally:
            process.kill()
            process.join()
    return found


def _in_a_process(hand: Hand, names: Sequence[str], seed: int, result: Connection) -> None:
    calls, contents = callables_of(hand, names)
    raced = {name: calls[name] for name in (EAGER, *names)}
    blocks, _ = session(raced, contents, seconds=BRIEF_S, half_width=HALF_WIDTH, seed=seed)
    result.send({name: ratio(cold(blocks, name), cold(blocks, EAGER)) for name in names})


def of_processes(ratios: Sequence[Ratio]) -> dict[str, Any]:
    """How often, in percent, an interval holds the median of the ratios of the processes that it does not rest on:
    that of one session, and that between six drawn at random; None for fewer than two more than six."""
    values = [one.value for one in ratios]
    spread = {"ratios": values, "spread": max(values) / min(values) - 1 if values else None}
    if len(ratios) < PROCESSES + 2:
        return {**spread, "one_session_holds": None, "six_hold": None}
    draw, places = random.Random(0), range(len(ratios))
    groups = [draw.sample(places, PROCESSES) for _ in range(GROUPS)]
    six = [holds(pooled([ratios[one] for one in group]), _others(values, group)) for group in groups]
    alone = [holds(ratios[place], _others(values, [place])) for place in places]
    return {**spread, "one_session_holds": _percent(alone), "six_hold": _percent(six)}


def _others(values: Sequence[float], group: Sequence[int]) -> float:
    return median(value for place, value in enumerate(values) if place not in group)


def holds(one: Ratio, value: float) -> bool:
    """Whether the interval of a ratio holds that value."""
    return one.low is not None and one.high is not None and one.low <= value <= one.high


def _percent(held: Sequence[bool]) -> float:
    return round(100 * sum(held) / len(held), 1)


def against_themselves(calls: dict[str, Indexed], contents: Contents, most: int, *, until: float) -> dict[str, Any]:
    """Sessions that time three callables twice each; an alarm is a "faster" or "slower" of one against itself."""
    twice = {name: calls[name] for name in TWICE} | {f"{AGAIN}{name}": calls[name] for name in TWICE}
    found: list[dict[str, Ratio]] = []
    while len(found) < most and time.monotonic() < until:
        blocks, _ = session(twice, contents, seconds=BUDGET_S, half_width=HALF_WIDTH, seed=len(found))
        found.append({name: ratio(cold(blocks, name), cold(blocks, f"{AGAIN}{name}")) for name in TWICE})
    return of_sessions(found)


def of_sessions(found: Sequence[dict[str, Ratio]]) -> dict[str, Any]:
    """Alarms, words, the largest difference from one, and how often in percent the interval holds one, by callable."""
    names = found[0] if found else {}
    alarms = [any(one.word in ("faster", "slower") for one in each.values()) for each in found]
    words = {name: [each[name].word for each in found] for name in names}
    return {
        "sessions": len(found),
        "sessions_with_an_alarm": sum(alarms),
        "words": {name: {word: own.count(word) for word in dict.fromkeys(own)} for name, own in words.items()},
        "largest_difference": {name: max(abs(each[name].value - 1) for each in found) for name in names},
        "holds_one": {name: _percent([holds(each[name], 1.0) for each in found]) for name in names},
    }


def intervals(calls: dict[str, Indexed], contents: Contents) -> list[dict[str, Any]]:
    """Each variant against eager alone, until the interval is within 1 % or the budget of an audit's session."""
    entries = []
    for name in (*VARIANTS, "tril 4096"):
        pair = {EAGER: calls[EAGER], name: calls[name]}
        blocks, ended = session(pair, contents, seconds=BUDGET_S, half_width=HALF_WIDTH, seed=1)
        found = ratio(cold(blocks, name), cold(blocks, EAGER))
        entries.append({"variant": name, "ratio": found.value, "half_width": found.half_width, **ended})
    return entries


def against_profiler(calls: dict[str, Indexed], contents: Contents) -> list[dict[str, Any]]:
    """Median of events in a session over the median of what the profiler saw from first start to last end.

    `net` leaves out what events say of an empty kernel beyond that kernel, the cost of the events themselves.
    """
    blocks, _ = session(calls, contents, seconds=BUDGET_S, half_width=0.0, seed=2)
    stopwatch = Stopwatch()
    empty = stopwatch.empty()
    stopwatch.cold([TimedCall(empty)] * 5)
    empty_ms = median(stopwatch.cold([TimedCall(empty)] * 50))
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
    return found


if __name__ == "__main__":
    main()
