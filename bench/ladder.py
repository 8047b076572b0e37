"""How fast the variants of triangular_mm are: `python bench/ladder.py --out FILE`, on a machine with a GPU.

Times every repair, every baseline of `reference.py` and further ones in PyTorch in one process: rounds in which each is
called once, in an order drawn anew, behind a write that fills the L2 cache. Raw samples are kept, and each kernel's own
time by the profiler: what a variant's second launch takes is what it takes from inputs prepared before.
`triton.testing.do_bench` times each as well, its median with the 20th and 80th percentile. Errors are against float64,
relative, in norm; the precision class is what the result shows beside inputs rounded to lower formats.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import random
import re
import statistics
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile
from triton.testing import do_bench

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from audit import claims
from audit.build.cuda import fast, fast_load, fast_toolchain, gpu
from audit.build.cuda.device import fast_digests, flags_of
from audit.probes.precision import FLOAT32_BITS, class_of
from audit.run import formats
from audit.run.oracle import baselines_of, load_reference

CLAIM = Path(__file__).resolve().parents[1] / "kernels/triangular_mm"
GPUS = ("T4", "L4", "A100", "H100", "H200")
NOT_MEASURED = "NOT MEASURED"
GIVEN = {"diagonals_given_fp16": torch.float16, "diagonals_given_bf16": torch.bfloat16}
"""Ways whose inputs are prepared in that type before."""
SIZES = (1, 33, 255, 1000, 4095, 4096)
SIDE = 4096
FLUSH_BYTES = 256 << 20
WARM_UP = 5
PROFILED = 20

Way = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def main() -> None:
    """Builds, checks, times, prints a table and, with `--out`, writes the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="audit-ladder-") as folder:
        ways = _baselines() | _variants(Path(folder))
        numbers = {"machine": _machine(), "side": SIDE, "ways": _measured(ways, asked.rounds)}
    _show(numbers)
    if asked.out:
        asked.out.write_text(json.dumps(numbers) + "\n", encoding="utf-8")


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


def _variants(cache: Path) -> dict[str, Way]:
    loaded = claims.load(str(CLAIM))
    card = gpu.find()
    repairs = [each for each in loaded.claim.variant if each.role == "repair"]

    def built(variant: Any) -> fast.FastBuild:
        flags = flags_of(variant, loaded.claim)
        capability = card.compute_capability
        return fast.build(CLAIM / variant.file, flags=flags, compute_capability=capability)

    os.environ["AUDIT_CACHE"] = str(cache)
    fast_toolchain.prepare()
    with ThreadPoolExecutor() as pool:
        builds = list(pool.map(built, repairs))
    entry = loaded.claim.entry
    return {
        each.name: fast_load.load(build.library, binding=build.binding, digests=fast_digests(build))[entry]
        for each, build in zip(repairs, builds, strict=True)
    }


def _measured(ways: dict[str, Way], rounds: int) -> dict[str, dict[str, Any]]:
    errors: dict[str, dict[int, float]] = {name: {} for name in ways}
    for side in SIZES:
        a, b = _inputs(side)
        want = (a.double() @ b.double()).tril()
        for name, way in ways.items():
            errors[name][side] = float((way(*_given(name, a, b)).double() - want).norm() / want.norm())
    known = _yardsticks()
    samples = _samples(ways, rounds)
    return {
        name: {
            "relative_error": errors[name],
            "precision": precision(errors[name][SIDE], known),
            "median_ms": statistics.median(samples[name]),
            "do_bench_ms": _by_do_bench(name, ways[name]),
            "kernels_ms": _kernels(name, ways[name]),
            "samples_ms": samples[name],
        }
        for name in ways
    }


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


def _samples(ways: dict[str, Way], rounds: int) -> dict[str, list[float]]:
    """Milliseconds on the GPU by name, in the order they were taken."""
    given = {name: _given(name, *_inputs(SIDE)) for name in ways if name in GIVEN}
    usual, flush = _inputs(SIDE), torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
    for _ in range(WARM_UP):
        for name, way in ways.items():
            way(*given.get(name, usual))
    order = list(ways)
    shuffled = random.Random(0)
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
    versions = {"torch": torch.__version__, "triton": version("triton")}
    return {"gpu": card.name, "multiprocessors": card.multi_processor_count, **versions}


def _show(numbers: dict[str, Any]) -> None:
    where = numbers["machine"]
    print(f"{where['gpu']}, torch {where['torch']}, triton {where['triton']}, N = {numbers['side']}")
    eager = numbers["ways"]["eager"]["median_ms"]
    for name, row in numbers["ways"].items():
        worst = max(row["relative_error"].values())
        times = f"{row['median_ms']:8.4f} ms   {eager / row['median_ms']:6.2f}x"
        print(f"{name:22} {times}   error {worst:.1e}   {row['precision']}")
    print(*do_bench_table(numbers), sep="\n")


def do_bench_table(numbers: dict[str, Any]) -> list[str]:
    """The times by do_bench as Markdown, the fastest first, with a column for each of `GPUS`."""
    name = numbers["machine"]["gpu"]
    here = next((one for one in re.findall(r"\w+", name) if one in GPUS), name)
    columns = tuple(dict.fromkeys((*GPUS, here)))
    ways = sorted(numbers["ways"].items(), key=lambda way: way[1]["do_bench_ms"]["median"])
    lines = [f"| do_bench, ms | {' | '.join(columns)} |", "|---" * (1 + len(columns)) + "|"]
    for name, row in ways:
        ms = row["do_bench_ms"]
        time = f"{ms['median']:.4f} ({ms['p20']:.4f} to {ms['p80']:.4f})"
        cells = (time if gpu == here else NOT_MEASURED for gpu in columns)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main()
