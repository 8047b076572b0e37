"""Runs in a child, alone on the GPU: raw samples of callables under named protocols. Judges nothing.

Request: `reference` (path of reference.py), `inputs` (file of arguments), `protocols` (see `Protocol`), and either
`library`, `module` and `entry` of a compiled variant, whose name is `variant`, or none of them for the baselines:
every entry of `BASELINES` in reference.py, then torch.compile of the reference, which is last because it may fail.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypedDict

import torch

from audit.worker.cuda import entry_of, require_cuda
from audit.worker.oracle import baselines_of, load_reference

Run = Callable[[], Any]
FLUSH_BYTES = 256 << 20
"""More than the L2 cache of any GPU there is."""
MOST_SAMPLES = 1000
"""Samples told for one protocol: where there are more, evenly spaced ones in the order they were taken."""
LEAST_REPEATS, MOST_REPEATS = 10, 200


class Protocol(TypedDict):
    """How to time: `clock` "events" is triton's do_bench, "host" a host clock around synchronised calls.

    `of_mean` times `call().mean()` instead of `call()`; `only` lists the variants it is for, empty means all.
    """

    name: str
    clock: str
    of_mean: bool
    warmup_ms: int
    rep_ms: int
    only: list[str]


def run(request: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> None:
    """Tells one event a callable and protocol: `variant`, `protocol`, `samples_ms`."""
    require_cuda()
    arguments = torch.load(request["inputs"], weights_only=True)
    inputs = [x.to("cuda") if isinstance(x, torch.Tensor) else x for x in arguments]
    for variant, function in _functions(request):
        for protocol in request["protocols"]:
            if variant in protocol["only"] or not protocol["only"]:
                call = _bound(function, inputs, of_mean=protocol["of_mean"])
                samples = CLOCKS[protocol["clock"]](call, protocol)
                tell({"variant": variant, "protocol": protocol["name"], "samples_ms": evenly(samples)})


def evenly(samples: list[float], most: int = MOST_SAMPLES) -> list[float]:
    """At most that many of the samples, evenly spaced, in milliseconds to the nanosecond."""
    step = max(1, -(-len(samples) // most))
    return [round(sample, 6) for sample in samples[::step]]


def _functions(request: dict[str, Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    if "library" in request:
        yield request["variant"], entry_of(Path(request["library"]), request["module"], request["entry"])
        return
    reference = load_reference(request["reference"])
    for name, function in baselines_of(reference).items():
        yield f"baseline:{name}", function
    yield "baseline:compile", torch.compile(reference.reference)


def _bound(function: Callable[..., Any], inputs: list[Any], *, of_mean: bool) -> Run:
    return (lambda: function(*inputs).mean()) if of_mean else (lambda: function(*inputs))


def _events(call: Run, protocol: Protocol) -> list[float]:
    """Triton's own benchmark function: CUDA events around each call, the L2 cache overwritten before it."""
    from triton.testing import do_bench

    samples = do_bench(call, warmup=protocol["warmup_ms"], rep=protocol["rep_ms"], return_mode="all")
    return [float(sample) for sample in samples]


def _host(call: Run, protocol: Protocol) -> list[float]:
    """A clock outside the GPU, which no stream of the kernel escapes; includes the launch, about 0.01 ms."""
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    first = _once(call, flush)
    repeats = min(MOST_REPEATS, max(LEAST_REPEATS, int(protocol["rep_ms"] / max(first, 1e-3))))
    return [_once(call, flush) for _ in range(repeats)]


def _once(call: Run, flush: torch.Tensor) -> float:
    flush.zero_()
    torch.cuda.synchronize()
    started = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - started)


CLOCKS: dict[str, Callable[[Run, Protocol], list[float]]] = {"events": _events, "host": _host}
