"""What the fast build rests on: `python bench/fast_build.py [--sources FOLDER]`, on a machine with a GPU.

Prints kernels an hour, fast and published, for every `.cu` of this repository or of another folder, and for every
variant of the claim whether its output has the published build's bytes and how their times compare.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from audit import claims
from audit.build.cache import digests
from audit.build.cuda import extension, fast, fast_load, fast_toolchain, gpu
from audit.build.cuda import toolchain as cuda_toolchain
from audit.build.cuda.device import fast_digests, flags_of
from audit.build.settings import CudaLibrary
from audit.model import Harness
from audit.model.errors import AuditError
from audit.run.devices.cuda import entry_of

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
SIZES = (33, 255, 4096)
ROUNDS = 5


def main() -> None:
    """Builds, compares, prints a table and, with `--out`, writes the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claim", type=Path, default=KERNELS / "triangular_mm")
    parser.add_argument("--sources", type=Path, default=KERNELS, help="a folder of .cu files, the archive to build")
    parser.add_argument("--jobs", type=int, default=16, help="builds at once")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="audit-bench-") as folder:
        numbers = measured(asked, Path(folder))
    if asked.out:
        asked.out.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


def measured(asked: argparse.Namespace, cache: Path) -> dict[str, Any]:
    """All numbers; prints them as they come."""
    card = gpu.find()
    started = time.monotonic()
    os.environ["AUDIT_CACHE"] = str(cache)
    fast_toolchain.prepare()
    numbers: dict[str, Any] = {"gpu": card.name, "prepare_s": round(time.monotonic() - started, 2)}
    print(f"{card.name}; precompiled header and binding, once: {numbers['prepare_s']} s", flush=True)
    claim = claims.load(str(asked.claim)).claim
    jobs = {variant.file: (asked.claim / variant.file, flags_of(variant, claim)) for variant in claim.variant}
    options: dict[str, Any] = {"compute_capability": card.compute_capability}
    quick = {name: fast.build(path, flags=flags, **options) for name, (path, flags) in jobs.items()}
    numbers["sources"] = side_by_side(sorted(asked.sources.rglob("*.cu")), options, asked.jobs)
    started = time.monotonic()
    slow = published(jobs, card, asked.jobs)
    numbers["published_an_hour"] = round(3600 * len(slow) / (time.monotonic() - started))
    print(f"published builds: {numbers['published_an_hour']} an hour", flush=True)
    numbers["variants"] = {name: compared(quick[name], slow[name], claim.entry) for name in jobs if name in slow}
    return numbers


def side_by_side(sources: list[Path], options: dict[str, Any], jobs: int) -> dict[str, Any]:
    """Builds all sources at once; how many were taken, and kernels an hour, refused ones counted as built."""

    def one(path: Path) -> str | fast.FastBuild:
        try:
            return fast.build(path, flags=(), **options)
        except AuditError as error:
            return str(error)

    started = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        results = dict(zip(sources, pool.map(one, sources), strict=True))
    seconds = time.monotonic() - started
    built = [each for each in results.values() if isinstance(each, fast.FastBuild)]
    rate = round(3600 * len(sources) / seconds)
    print(f"{len(built)} of {len(sources)} taken in {seconds:.1f} s, {jobs} at once: {rate} an hour", flush=True)
    refused = {path.name: each for path, each in results.items() if isinstance(each, str)}
    for name, why in refused.items():
        print(f"  {name}: {why}")
    return {"taken": len(built), "of": len(sources), "seconds": seconds, "an_hour": rate, "refused": refused}


def published(jobs: dict[str, Any], card: gpu.Gpu, at_once: int) -> dict[str, Any]:
    """The published builds of all variants, side by side."""
    toolchain = cuda_toolchain.find(card)
    started = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        waiting = {
            name: pool.submit(extension.build, path, flags, gpu=card, toolchain=toolchain)
            for name, (path, flags) in jobs.items()
        }
    print(f"{len(jobs)} published builds, {at_once} at once: {time.monotonic() - started:.1f} s", flush=True)
    return {name: each.result() for name, each in waiting.items()}


def compared(quick: fast.FastBuild, slow: Any, entry: str) -> dict[str, Any]:
    """One variant both ways: seconds of the builds, equal bytes a size, medians in ms in alternating rounds."""
    import torch
    from triton.testing import do_bench

    quick_functions = fast_load.load(quick.library, binding=quick.binding, digests=fast_digests(quick))
    settings = CudaLibrary(library=slow.library, module=slow.module, digests=digests(slow.library))
    ways = [quick_functions[entry], entry_of(settings, entry, Harness())]
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
    same = {}
    for size in SIZES:
        torch.manual_seed(size)
        a, b = (torch.randn(size, size, device="cuda").tril() for _ in range(2))
        got = [way(a, b).cpu().view(torch.int32) for way in ways]
        same[size] = bool(torch.equal(*got))
    torch.use_deterministic_algorithms(False)
    rounds = [[do_bench(lambda way=way: way(a, b), return_mode="median") for way in ways] for _ in range(ROUNDS)]
    medians = [statistics.median(column) for column in zip(*rounds, strict=True)]
    row = {
        "published_s": round(slow.seconds, 1),
        "same_bytes": same,
        "fast_ms": medians[0],
        "published_ms": medians[1],
        "ratio": medians[0] / medians[1],
    }
    print(f"{quick.library.parent.name[:-25]:22} {json.dumps(row)}", flush=True)
    return row


if __name__ == "__main__":
    main()
