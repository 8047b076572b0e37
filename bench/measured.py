"""What the scripts of this folder share: results with the machine they came from, and what a piece of work costs."""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from audit.run.processes import environment

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"


def keep(name: str, values: dict[str, Any], *, seeds: tuple[int, ...] = (), file: Path | None = None) -> None:
    """Writes `bench/results/NAME.json`, or another file: the machine, then the values."""
    where = environment.describe(seeds=seeds).model_dump(mode="json")
    text = json.dumps({"environment": where, **values}, indent=1)
    (file or RESULTS / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def timed(run: Callable[[], object]) -> dict[str, float]:
    """Wall-clock seconds, processor seconds of this process and its ended children, and cores busy with other work."""
    began, own, busy = time.perf_counter(), _own_s(), _busy_s()
    run()
    seconds, used, all_used = time.perf_counter() - began, _own_s() - own, _busy_s() - busy
    elsewhere = max(0.0, all_used - used) / seconds
    return {"seconds": round(seconds, 1), "processor_s": round(used, 1), "cores_busy_elsewhere": round(elsewhere, 2)}


def _own_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _busy_s() -> float:
    """Processor seconds of this machine that were not idle; proc_stat(5)."""
    fields = [int(word) for word in Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")
