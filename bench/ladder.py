"""How fast the variants of triangular_mm are: `python bench/ladder.py --out FILE`, on a machine with a GPU.

Times every repair and lesson, every baseline of `reference.py` and further ones in PyTorch in one process: rounds in
which each is called once, in an order drawn anew, behind a write that fills the L2 cache. Raw samples are kept, and the
own time of each kernel by the profiler: what a variant's second launch takes is what it takes from inputs prepared
before. `triton.testing.do_bench` times each as well, its median with the 20th and 80th percentile. Errors are against
float64, relative, in norm; the precision class is what the result shows beside inputs rounded to lower formats.

The file is written again after every step of the work, so one that is cut off has the numbers until then. After
`--deadline` seconds nothing new is begun; what cannot be built, called or was not reached is named with the reason.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import math
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

import torch
from ladder_table import CLAIM, NOT_MEASURED, do_bench_table, of_peak
from torch.profiler import ProfilerActivity, profile

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from audit import claims
from audit.build.cuda import fast, fast_load, fast_toolchain, gpu
from audit.build.cuda.device import fast_digests, flags_of
from audit.model import Claim, Variant, atomic
from audit.probes.precision import FLOAT32_BITS, class_of
from audit.run.inputs import formats
from audit.run.sessions.oracle import baselines_of, load_reference
from audit.sandbox import command

GIVEN = {"diagonals_given_fp16": torch.float16, "diagonals_given_bf16": torch.bfloat16}
"""Ways whose inputs are prepared in that type before."""
SIZES = (1, 33, 255, 1000, 4095, 4096)
SIDE = 4096
FLUSH_BYTES = 256 << 20
WARM_UP = 2
FIRST = 5
"""Times taken of each way before the rounds, which replace them."""
BATCH = 10
"""Rounds between two looks at the clock."""
PROFILED = 20
FOR_BUILDS = 0.5
"""The share of a deadline after which a build that is not done is left out."""

Way = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Numbers:
    """What is known so far, on disk at every step; `left_s` are the seconds until the deadline."""

    def __init__(self, out: Path | None, deadline_s: float) -> None:
        self._out, self._began, self._deadline_s = out, time.monotonic(), deadline_s
        self.ways: dict[str, dict[str, Any]] = {}
        self.missing: dict[str, str] = {}
        self.known: dict[str, Any] = {"machine": _machine(), "side": SIDE, "ways": self.ways, "missing": self.missing}

    def left_s(self, share: float = 1.0) -> float:
        """Seconds until that share of the deadline is over."""
        return self._deadline_s * share - (time.monotonic() - self._began)

    def lacks(self, name: str, why: object) -> None:
        """Name a way that has no number, or not all."""
        text = f"{type(why).__name__}: {why}" if isinstance(why, Exception) else str(why)
        self.missing[name] = " ".join(text.split())[:300]
        print(f"{name}: {NOT_MEASURED}: {self.missing[name]}", flush=True)

    def keep(self) -> None:
        """Write the file."""
        if self._out:
            atomic.write(self._out, (json.dumps(self.known) + "\n").encode())


def main() -> None:
    """Builds, checks, times, prints a table and, with `--out`, writes the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--deadline", type=float, default=math.inf, help="seconds for everything")
    parser.add_argument("--no-profile", action="store_true", help="leave the kernels' own times out")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    numbers = Numbers(asked.out, asked.deadline)
    ways = _baselines() | _variants(numbers)
    _measure(ways, numbers, rounds=asked.rounds, profiled=not asked.no_profile)
    _show(numbers.known)


def _baselines() -> dict[str, Way]:
    reference = load_reference(CLAIM / "reference.py")
    diagonals = reference.diagonals
    more: dict[str, Way] = {"float16": _float16}
    more |= dict.fromkeys(GIVEN, diagonals)
    try:
        more["trmm"] = _trmm()
    except (OSError, AttributeError) as error:  # torch without CUDA, or with cuBLAS linked in
        print(f"trmm: NOT MEASURED: {error}")
    return baselines_of(reference) | more


def _trmm() -> Way:
    """cuBLAS's product of a triangular matrix and a full one, which torch offers by no function of its own.

    Row major A and B are their transposes to cuBLAS: it is asked for B^T A^T, with A^T upper triangular on the right.
    """
    right, upper, as_it_is, any_diagonal = 1, 1, 0, 0
    function = ctypes.CDLL(f"libcublas.so.{(torch.version.cuda or 'none').split('.')[0]}").cublasStrmm_v2
    one = ctypes.c_float(1.0)

    def run(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a, b, c, side = a.contiguous(), b.contiguous(), torch.empty_like(b), b.shape[0]
        handle = ctypes.c_void_p(torch.cuda.current_blas_handle())  # type: ignore[no-untyped-call]  # on torch's stream
        matrices = [word for x in (a, b, c) for word in (ctypes.c_void_p(x.data_ptr()), side)]
        code = function(handle, right, upper, as_it_is, any_diagonal, side, side, ctypes.byref(one), *matrices)
        if code:
            raise RuntimeError(f"cublasStrmm: status {code}")
        return c

    return run


def _float16(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What cuBLAS takes if the inputs are rounded to fp16 first, as wmma_f16 does."""
    return torch.matmul(a.half(), b.half()).tril().float()


def _variants(numbers: Numbers) -> dict[str, Way]:
    """The repairs and lessons that can be built here and in time."""
    loaded = claims.load(str(CLAIM), lessons=True)
    card = gpu.find().compute_capability
    asked = [one for one in loaded.claim.variant if one.role in ("repair", "lesson")]
    for one in asked:
        if one.compute_capability > card:
            numbers.lacks(one.name, f"it needs compute capability {one.compute_capability / 10}")
    asked = [one for one in asked if one.compute_capability <= card]
    try:
        fast_toolchain.prepare()
    except Exception as error:  # without a compiler there are the variants in Python and the baselines
        print(f"compiled variants: {error}", flush=True)
    pool = ThreadPoolExecutor(os.cpu_count())
    jobs = {one: pool.submit(_built, one, loaded.claim, card) for one in asked if one.file.endswith(".cu")}
    ways: dict[str, Way] = {}
    for one in asked:
        try:
            ways[one.name] = _way(one, jobs.get(one), loaded.claim.entry, max(0.0, numbers.left_s(FOR_BUILDS)))
        except Late:
            numbers.lacks(one.name, "its build was not done in time")
        except Exception as error:  # one variant that fails is no reason to lose the others
            numbers.lacks(one.name, error)
    pool.shutdown(wait=False, cancel_futures=True)
    command.end_all()  # compilers that are too late
    return ways


def _built(variant: Variant, claim: Claim, card: int) -> fast.FastBuild:
    return fast.build(CLAIM / variant.file, flags=flags_of(variant, claim), compute_capability=card)


def _way(variant: Variant, job: Future[fast.FastBuild] | None, entry: str, limit_s: float) -> Way:
    if job is not None:
        build = job.result(timeout=None if math.isinf(limit_s) else limit_s)
        return cast(Way, fast_load.load(build.library, binding=build.binding, digests=fast_digests(build))[entry])
    spec = importlib.util.spec_from_file_location(variant.name, CLAIM / variant.file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Way, getattr(module, entry))


def _measure(ways: dict[str, Way], numbers: Numbers, *, rounds: int, profiled: bool) -> None:
    """Errors and first times of each way, then rounds, then times by do_bench and of each kernel."""
    known, cases = _yardsticks(), [_case(side) for side in SIZES]
    for name in list(ways):
        try:
            if numbers.left_s() <= 0 and name != "eager":
                raise TimeoutError("not reached before the deadline")
            errors = _errors(name, ways[name], cases)
            shown = {"relative_error": errors, "precision": precision(errors[SIDE], known)}
            numbers.ways[name] = shown | _timed(name, _samples({name: ways[name]}, FIRST)[name])
        except Exception as error:  # as above
            numbers.lacks(name, error)
            del ways[name]
        numbers.keep()
    _rounds(ways, numbers, rounds)
    for name, way in ways.items():
        if numbers.left_s() <= 0:
            break
        try:
            numbers.ways[name]["do_bench_ms"] = _by_do_bench(name, way)
            if profiled:
                numbers.ways[name]["kernels_ms"] = _kernels(name, way)
        except Exception as error:  # as above
            numbers.lacks(name, error)
        numbers.keep()


def _rounds(ways: dict[str, Way], numbers: Numbers, rounds: int) -> None:
    """Batches of rounds until all are done or the time is up; one batch at least."""
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for batch in range(0, rounds, BATCH):
        if batch and numbers.left_s() <= 0:
            print(f"{batch} of {rounds} rounds before the deadline", flush=True)
            break
        try:
            taken = _samples(ways, min(BATCH, rounds - batch), seed=batch)
        except Exception as error:  # the rounds until then stand
            print(f"rounds after {batch}: {error}", flush=True)
            break
        for name, row in numbers.ways.items():
            samples[name] += taken[name]
            row.update(_timed(name, samples[name]))
        numbers.keep()


def _timed(name: str, samples_ms: list[float]) -> dict[str, Any]:
    median_ms = statistics.median(samples_ms)
    share = of_peak(name, torch.cuda.get_device_name(), median_ms, SIDE)
    return {"median_ms": median_ms, "of_peak": share, "samples_ms": samples_ms}


def _case(side: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    a, b = _inputs(side)
    return a, b, (a.double() @ b.double()).tril()


def _errors(name: str, way: Way, cases: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]) -> dict[int, float]:
    return {len(want): float((way(*_given(name, a, b)).double() - want).norm() / want.norm()) for a, b, want in cases}


def _inputs(side: int) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(side)
    return torch.randn(side, side, device="cuda").tril(), torch.randn(side, side, device="cuda").tril()


def _given(name: str, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return (a.to(GIVEN[name]), b.to(GIVEN[name])) if name in GIVEN else (a, b)


def _yardsticks() -> dict[str, float]:
    """Effective bits of the float64 product of inputs rounded to each lower format, and those of float32."""
    a, b = _inputs(SIDE)
    want = (a.double() @ b.double()).tril()
    known = {"fp32": FLOAT32_BITS}
    for name, rounded in formats.FORMATS.items():
        low = (rounded(a).double() @ rounded(b).double()).tril()
        known[name] = bits(float((low - want).norm() / want.norm()))
    return known


def bits(relative_error: float) -> float:
    """Effective bits of a result with that error in norm."""
    return FLOAT32_BITS if relative_error == 0.0 else -math.log2(relative_error)


def precision(relative_error: float, yardsticks: dict[str, float]) -> str:
    """The precision class that such a result shows, by those bits of lower formats."""
    return class_of(bits(relative_error), yardsticks) or "not told"


def _samples(ways: dict[str, Way], rounds: int, seed: int = 0) -> dict[str, list[float]]:
    """Milliseconds on the GPU by name, in the order they were taken."""
    given = {name: _given(name, *_inputs(SIDE)) for name in ways if name in GIVEN}
    usual, flush = _inputs(SIDE), torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
    for _ in range(WARM_UP):
        for name, way in ways.items():
            way(*given.get(name, usual))
    order = list(ways)
    shuffled = random.Random(seed)
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        shuffled.shuffle(order)
        events = {name: [torch.cuda.Event(enable_timing=True) for _ in range(2)] for name in order}  # type: ignore[no-untyped-call]
        for name in order:
            flush.zero_()
            events[name][0].record()
            ways[name](*given.get(name, usual))
            events[name][1].record()
        torch.cuda.synchronize()
        for name, (start, stop) in events.items():
            samples[name].append(round(start.elapsed_time(stop), 5))
    return samples


def _by_do_bench(name: str, way: Way) -> dict[str, float]:
    """Triton's own benchmark function with its defaults: median, 20th and 80th percentile in milliseconds."""
    from triton.testing import do_bench

    a, b = _given(name, *_inputs(SIDE))
    middle, low, high = do_bench(lambda: way(a, b), quantiles=[0.5, 0.2, 0.8])
    return {"median": middle, "p20": low, "p80": high}


def _kernels(name: str, way: Way) -> dict[str, float]:
    """Median milliseconds of each kernel of a call by its name, as the profiler sees it."""
    a, b = _given(name, *_inputs(SIDE))
    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(PROFILED):
            flush.fill_(1)
            way(a, b)
        torch.cuda.synchronize()
    times: dict[str, list[float]] = {}
    for event in seen.events():
        if event.device_type.name == "CUDA" and "FillFunctor<signed char>" not in event.name:
            times.setdefault(event.name[:100], []).append(event.device_time / 1000)
    return {name: round(statistics.median(each), 5) for name, each in times.items()}


def _machine() -> dict[str, Any]:
    card = torch.cuda.get_device_properties(0)
    try:
        triton = version("triton")
    except PackageNotFoundError:
        triton = "none"
    versions = {"torch": torch.__version__, "triton": triton}
    return {"gpu": card.name, "multiprocessors": card.multi_processor_count, **versions}


def _show(numbers: dict[str, Any]) -> None:
    where = numbers["machine"]
    print(f"{where['gpu']}, torch {where['torch']}, triton {where['triton']}, N = {numbers['side']}")
    eager = numbers["ways"]["eager"]["median_ms"]
    for name, row in numbers["ways"].items():
        worst, share = max(row["relative_error"].values()), row["of_peak"]
        times = f"{row['median_ms']:8.4f} ms   {eager / row['median_ms']:6.2f}x"
        peak = f"{share:.0%}" if share else "-"
        print(f"{name:22} {times}   {peak:>4} of the peak   error {worst:.1e}   {row['precision']}")
    print(do_bench_table([numbers]))


if __name__ == "__main__":
    main()
