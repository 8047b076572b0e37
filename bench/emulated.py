"""How long an audit on the emulated device takes: nothing compiled yet, one variant changed, unchanged, a new claim.

Run it with `make bench`. It prints a table and writes `bench/results/emulated.json` with the machine it came from.
Every run is a process of its own with its own cache folder; seconds are wall clock.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measured import keep

from audit import claims

LIMITS_S = {"nothing compiled yet": 75, "unchanged": 8, "one variant changed": 15, "new claim of one kernel": 12}


def audit(claim: Path, *, cache: Path, out: Path) -> float:
    """Seconds of one `audit run` on the emulated device."""
    command = [sys.executable, "-m", "audit", "run", str(claim), "--device", "emulated", "--out", str(out)]
    started = time.perf_counter()
    subprocess.run(command, check=True, env={**os.environ, "AUDIT_CACHE": str(cache)}, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def one_kernel(folder: Path) -> Path:
    """A claim folder with one kernel nobody compiled before."""
    new = Path(shutil.copytree(claims.KERNELS / "triangular_mm", folder / "one_kernel"))
    text = (new / "claim.toml").read_text(encoding="utf-8")
    head, *variants = text.split("[[variant]]")
    (new / "claim.toml").write_text(head + "[[variant]]" + variants[0], encoding="utf-8")
    touch(new / "claimed.cu", "a new claim")
    return new


def touch(source: Path, remark: str) -> None:
    """Changes a source file so that it must be compiled again."""
    source.write_text(source.read_text(encoding="utf-8") + f"// {remark}\n", encoding="utf-8")


def main() -> None:
    """Measures, prints and stores."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, cache = Path(scratch), Path(scratch) / "cache"
        claim = Path(shutil.copytree(claims.KERNELS / "triangular_mm", folder / "triangular_mm"))
        seconds = {}
        for name in LIMITS_S:
            if name == "one variant changed":
                touch(claim / "shared_tiled.cu", "changed")
            subject = one_kernel(folder) if name == "new claim of one kernel" else claim
            seconds[name] = round(audit(subject, cache=cache, out=folder / "out"), 1)
        cache_mb = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file()) / 1e6
    peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    result = {
        "seconds": seconds,
        "limits_s": LIMITS_S,
        "largest_process_mb": round(peak_mb),
        "cache_mb": round(cache_mb),
    }
    keep("emulated", result)
    for name, value in seconds.items():
        print(f"{name:<26} {value:6.1f} s   (aim: {LIMITS_S[name]} s)")
    print(f"largest process {peak_mb:.0f} MB, cache {cache_mb:.0f} MB")


if __name__ == "__main__":
    main()
