"""How long source review takes for a file: every kernel of this repository, and made-up files up to thousands of lines.

    python bench/review.py

Prints a table and writes `bench/results/review.json` with the machine it came from. Milliseconds are wall clock of one
process that has its imports done, the best of several rounds a file; the last line is a whole `audit review` command.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from measured import keep

from audit import claims
from audit.review import hints
from audit.review.hints import Hint

ROUNDS = 7
LIMIT_MS = 20.0
CLAIMED = claims.KERNELS / "triangular_mm" / "claimed.cu"


def milliseconds(review: Callable[[str], list[Hint]], text: str) -> float:
    """The best of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        review(text)
        best = min(best, time.perf_counter() - started)
    return 1e3 * best


def repository_files() -> dict[str, float]:
    """Every CUDA and Python source under `kernels/` that is a variant."""
    found = {}
    for path in sorted(claims.KERNELS.rglob("*")):
        if path.suffix in (".cu", ".py") and path.name != "reference.py":
            review = hints.of_cuda if path.suffix == ".cu" else hints.of_python
            found[str(path.relative_to(claims.KERNELS))] = milliseconds(review, path.read_text(encoding="utf-8"))
    return found


def made_up_files() -> dict[str, float]:
    """The largest kernel of the repository repeated under new names, by its number of lines."""
    source = (claims.KERNELS / "triangular_mm" / "wmma_split.cu").read_text(encoding="utf-8")
    found = {}
    for copies in (1, 4, 16):
        text = "\n".join(source.replace("triangular_mm_kernel", f"kernel_{copy}") for copy in range(copies))
        found[f"{text.count(chr(10))} lines"] = milliseconds(hints.of_cuda, text)
    return found


def command_seconds() -> float:
    """A whole `audit review` of the claimed kernel, the interpreter's start included."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "audit", "review", str(CLAIMED)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    """Measures, prints and stores."""
    files, made_up = repository_files(), made_up_files()
    result = {
        "files": len(files),
        "median_ms": round(statistics.median(files.values()), 2),
        "largest_ms": round(max(files.values()), 2),
        "largest_file": max(files, key=files.__getitem__),
        "limit_ms": LIMIT_MS,
        "made_up_ms": {name: round(value, 1) for name, value in made_up.items()},
        "command_seconds": round(min(command_seconds() for _ in range(3)), 2),
    }
    keep("review", result)
    print(
        f"{len(files)} files: median {result['median_ms']} ms, largest {result['largest_ms']} ms (aim: {LIMIT_MS} ms)"
    )
    for name, value in made_up.items():
        print(f"made up, {name}: {value:.1f} ms")
    print(f"audit review {CLAIMED.name}: {result['command_seconds']} s")


if __name__ == "__main__":
    main()
