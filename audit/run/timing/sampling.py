"""Runs in a child, alone on the GPU: take raw samples of times."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from audit.model import Harness
from audit.run.calls.arguments import named
from audit.run.calls.harness import stated
from audit.run.calls.outputs import KeptOutputs
from audit.run.devices.cuda import require_cuda
from audit.run.messages import timing_requests
from audit.run.messages.event_writer import EventWriter
from audit.run.messages.timing_requests import EMPTY, EMPTY_CALLS, GRAPHED, Protocol
from audit.run.sessions.oracle import load_reference
from audit.run.timing import callables, other_clocks
from audit.run.timing.answers import contents_of
from audit.run.timing.blocks import LEAST_BLOCKS, Blocks, Plan
from audit.run.timing.callables import PREFIX, Indexed
from audit.run.timing.other_clocks import Watch, watch
from audit.run.timing.stopwatch import Stopwatch, TimedCall, ceilings

Events = Iterator[dict[str, Any]]
AGAIN = "control:again:"
EAGER = f"{PREFIX}eager"
EMPTY_SAMPLES, GRAPH_SAMPLES = 20, 10


def _interleaved(request: timing_requests.Interleaved, writer: EventWriter) -> Events:
    """Time every passing variant in interleaved blocks, then measure the rest, see `_around`."""
    require_cuda()
    mark = _Mark()
    callables.use_disk_cache(request.inductor, workers=1)  # compiled already; more workers cost seconds
    reference, choice = load_reference(request.reference), random.Random(request.seed)
    driver = watch(str(torch.cuda.get_device_properties(0).uuid))
    if driver is not None and (shared := driver.shared()) is not None:
        yield {"shared": shared}
        return
    yield {"gpu": torch.cuda.get_device_name(0), "cost": reference.cost(request.shape)}
    stopwatch = Stopwatch()
    contents, answers = contents_of(request, reference, harness=_harness(request), choice=choice)
    yield mark("inputs")
    calls: dict[str, Indexed] = {}
    yield from _loaded(makers(request, contents.buffer_sets), calls)
    yield mark("load")
    kept = KeptOutputs(request.folder, each=request.kept_calls, choice=choice, write=writer.keep)
    blocks = Blocks(calls, contents=contents, answers=answers, stopwatch=stopwatch, kept=kept, choice=choice)
    for name in [*calls]:
        warmed = blocks.warm(name)
        yield warmed
        if "failed" in warmed:
            del calls[name]
    yield mark("warm up")
    again = blocks.fastest()
    blocks.repeat(again, f"{AGAIN}{again}")
    yield from _session(blocks, request, driver)
    for name in blocks.dropped:
        del calls[name]
    yield from kept.written()
    yield from answers.events()
    yield mark("blocks")
    yield from _around(calls, request, stopwatch)
    yield mark("around")


def _around(calls: dict[str, Indexed], request: timing_requests.Interleaved, stopwatch: Stopwatch) -> Events:
    """Measure what is asked for: do_bench of each callable, this GPU's ceilings, CUDA graphs, the profiler."""
    if request.published:
        yield from by_do_bench(calls, {EAGER: request.published}, others=request.published[:1])
    if request.ceilings:
        cold, hot = stopwatch.contrast()
        yield {"contrast": {"l2_bytes": stopwatch.l2_bytes}, "cold_ms": cold, "hot_ms": hot}
        yield from ceilings(stopwatch)
    if not request.profile:
        return
    yield from _by_graph({one.name: calls[one.name] for one in request.variants if one.name in calls}, stopwatch)
    empty = stopwatch.empty()
    stopwatch.cold([TimedCall(empty)])  # loads the kernel
    yield {"variant": EMPTY, "samples_ms": stopwatch.cold([TimedCall(empty)] * EMPTY_SAMPLES)}
    yield from _profile({**calls, EMPTY: lambda _: empty()}, request.profile, stopwatch)


class _Mark:
    """Makes an event with the seconds of each part of the work."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def __call__(self, part: str) -> dict[str, Any]:
        before, self._last = self._last, time.perf_counter()
        return {"part": part, "seconds": round(self._last - before, 3)}


def _session(blocks: Blocks, request: timing_requests.Interleaved, driver: Watch | None) -> Events:
    """Run the blocks; yield the driver's state at each, and the samples, also where an exception ends the blocks."""
    states: list[dict[str, Any]] = []

    def look(block: int) -> None:
        if driver is not None:
            states.append({"block": block, **driver.state()})

    try:
        plan = Plan(request.budget_s, request.half_width, request.rounds or LEAST_BLOCKS)
        ended = blocks.run(plan, between=look)
    finally:
        look(blocks.block)
        yield {"states": states}
        yield from ({"failed": name, "why": why} for name, why in blocks.dropped.items())
        for name, by_clock in blocks.taken.items():
            for how, samples in by_clock.items():
                yield {"variant": name, "how": how, **vars(samples)}
    yield {"session": ended}


def _by_graph(calls: dict[str, Indexed], stopwatch: Stopwatch) -> Events:
    """Time each callable as a CUDA graph; one that cannot be captured, as with other streams, has no such time."""
    for name, call in calls.items():
        try:
            replay = callables.graph(call, [[0]])
            stopwatch.cold([TimedCall(partial(replay, 0))])  # the first replay loads the graph
            times = stopwatch.cold([TimedCall(partial(replay, 0))] * GRAPH_SAMPLES)
        except Exception:  # claimed code may raise anything while it is captured
            continue
        yield {"variant": name, "protocol": GRAPHED, "samples_ms": times}


def _profile(calls: dict[str, Indexed], times: int, stopwatch: Stopwatch) -> Events:
    """Profile the calls, after all samples: the profiler's hooks stay in the process."""
    order = [name for name in calls for _ in range(times)]
    try:
        seen = other_clocks.profiled([lambda name=name: calls[name](0) for name in order], stopwatch)  # type: ignore[misc]
    except RuntimeError as error:
        yield {"failed": "profiler", "why": named(error)}
        return
    for name in calls:
        own = [activities for other, activities in zip(order, seen, strict=True) if other == name]
        yield {"profiled": name, "busy_ms": [other_clocks.busy_ms(one) for one in own],
               "span_ms": [other_clocks.span_ms(one) for one in own],
               "kernels": len(own[0]) if own else 0}  # fmt: skip


def _published(request: timing_requests.Published, _: EventWriter) -> Events:
    """Time each variant under each of the published protocols."""
    require_cuda()
    sets = callables.load_inputs(request.inputs, _harness(request))
    calls: dict[str, Indexed] = {}
    yield from _loaded(_variants(request, sets), calls)
    yield from by_do_bench(calls, {}, others=request.protocols)


def _alone(request: timing_requests.Alone, _: EventWriter) -> Events:
    """Time one callable by the parent's clock, in a process that times nothing else."""
    require_cuda()
    callables.use_disk_cache(request.inductor, workers=1)
    sets = callables.load_inputs(request.inputs, _harness(request))
    choice, empty = random.Random(request.seed), Stopwatch().empty()
    clocked = partial(other_clocks.between_messages, sets=sets, choice=choice)
    yield from clocked(EMPTY, lambda _: empty(), calls=EMPTY_CALLS)
    calls: dict[str, Indexed] = {}
    made = _variants(request, sets)
    if request.baseline is not None:
        reference, name = load_reference(request.reference), request.baseline
        made = [(f"{PREFIX}{name}", lambda: callables.baseline(name, reference, sets))]
    yield from _loaded(made, calls)
    for name, call in calls.items():
        yield from clocked(name, call, calls=request.calls)


def _compiled(request: timing_requests.Compiled, _: EventWriter) -> Events:
    """Compile the baselines of torch.compile into its cache."""
    require_cuda()
    callables.use_disk_cache(request.inductor, workers=request.compile_workers)
    sets = callables.load_inputs(request.inputs, _harness(request))
    reference = load_reference(request.reference)
    ahead = [(name, lambda name=name: callables.baseline(name, reference, sets)) for name in request.compiled]
    yield from _loaded(ahead, {})


def makers(request: timing_requests.Interleaved, sets: list[Any]) -> Iterable[tuple[str, Callable[[], Indexed]]]:
    """Yield the function that makes each callable of a request, the compiled baselines first.

    A baseline that allows TF32 while it runs leaves PyTorch's precision at "ieee" instead of "none". Both mean the
    same, but torch.compile would miss its cache.
    """
    reference, every = callables.names(request.reference, sets)
    chosen = every if request.baselines is None else request.baselines
    for name in [*request.compiled, *chosen]:
        yield f"{PREFIX}{name}", lambda name=name: callables.baseline(name, reference, sets)  # type: ignore[misc]
    yield from _variants(request, sets)


def _variants(request: timing_requests.Timing, sets: list[Any]) -> Iterable[tuple[str, Callable[[], Indexed]]]:
    for one in request.variants:
        made = partial(callables.variant, one.device, one.entry, sets, _harness(request))
        yield one.name, made


def _harness(request: timing_requests.Timing) -> Harness:
    return stated(request.reference.parent)


def _loaded(makers: Iterable[tuple[str, Callable[[], Indexed]]], calls: dict[str, Indexed]) -> Events:
    """Load each callable, call it once over its first inputs, and add it; an exception becomes an event."""
    for name, make in makers:
        yield {"trying": name}
        started = time.perf_counter()
        try:
            function = make()
            function(0)
            torch.cuda.synchronize()
        except Exception as error:  # the failure of one callable does not end the session
            yield {"failed": name, "why": named(error)}
        else:
            calls[name] = function
            yield {"loaded": name, "seconds": round(time.perf_counter() - started, 3)}


KINDS: dict[str, Callable[[Any, EventWriter], Events]] = {
    "interleaved": _interleaved,
    "published": _published,
    "alone": _alone,
    "compiled": _compiled,
}


MOST_SAMPLES = 300
"""The most samples in the event of one protocol, evenly spaced among all, in the order they were taken."""


def by_do_bench(
    calls: Mapping[str, Indexed], protocols: Mapping[str, Sequence[Protocol]], *, others: Sequence[Protocol]
) -> Events:
    """Yield one event a callable and protocol: `variant`, `protocol`, `samples_ms`; all over the first set of inputs.

    Triton's own benchmark function: CUDA events around each call, the L2 cache overwritten before it. One event alone,
    `skipped`, where it is missing or has another interface. Callables without `protocols` of their own get `others`.
    """
    try:
        from triton.testing import do_bench

        [float(sample) for sample in do_bench(lambda: None, warmup=1, rep=1, return_mode="all")]
    except (ImportError, AssertionError, TypeError, ValueError, RuntimeError) as error:
        yield {"skipped": "triton.testing.do_bench", "why": named(error)}
        return
    for name, function in calls.items():
        for protocol in protocols.get(name, others):
            call = (lambda f=function: f(0).mean()) if protocol.of_mean else (lambda f=function: f(0))
            samples = do_bench(call, warmup=protocol.warmup_ms, rep=protocol.rep_ms, return_mode="all")
            taken = evenly([float(sample) for sample in samples])
            yield {"variant": name, "protocol": protocol.name, "samples_ms": taken}


def evenly(samples: list[float]) -> list[float]:
    """Return at most MOST_SAMPLES of the samples, evenly spaced, in milliseconds rounded to a nanosecond."""
    step = max(1, -(-len(samples) // MOST_SAMPLES))
    return [round(sample, 6) for sample in samples[::step]]
