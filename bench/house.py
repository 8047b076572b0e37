"""What living in `audit/` costs: its size, the way from the command to a kernel, and the sessions of one audit.

    python bench/house.py [CLAIM [DEVICE]]    without a GPU if none is named; adds an entry to bench/results/house.json

Frames are those between the command line's `main` and the pipe to the process that runs the kernel, threads included.
"""

from __future__ import annotations

import collections
import contextlib
import io
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import audit
from audit import claims
from audit.apps import cli
from audit.run.processes.pool import SharedProcess, Workers
from audit.sandbox import limits

ROOT = Path(audit.__file__).parent
AUDITS = ROOT.parent
RESULTS = Path(__file__).with_name("results") / "house.json"


class Sessions:
    """Counts the sessions of an audit by variant, and keeps the longest way to one."""

    def __init__(self) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.seconds: dict[str, list[tuple[float, float]]] = collections.defaultdict(list)
        self.frames = 0
        self._lock = threading.Lock()

    def watch(self, of: type[Workers] | type[SharedProcess]) -> None:
        """Count every call of that class's `call`."""
        original: Any = of.call

        def call(pool: Any, request: Any, *, limit_s: float) -> Any:
            own = [frame for frame in traceback.extract_stack() if str(ROOT) in frame.filename]
            with self._lock:
                self.frames = max(self.frames, len(own))
                if request.kind == "session":
                    about = "reference" if request.entry is None else request.folder.name.rpartition("-")[0]
                    self.counts[about] += 1
            started = time.monotonic()
            reply = original(pool, request, limit_s=limit_s)
            seconds = time.monotonic() - started
            with self._lock:
                kind = f"{request.kind}, {'fresh' if of is Workers else 'kept'} process"
                self.seconds[kind].append((seconds, next(iter(reply.arrived_s), seconds)))
            return reply

        of.call = call  # type: ignore[method-assign, assignment]

    def by_kind(self) -> dict[str, dict[str, float]]:
        """By kind of request and of process: sessions, their wall-clock seconds added up, and medians of the seconds to
        the end and to the first event, which hold the process's start, its sandbox, a GPU's context and the inputs."""
        return {
            kind: {
                "sessions": len(seen),
                "seconds": round(sum(whole for whole, _ in seen), 2),
                "median_seconds": round(statistics.median(whole for whole, _ in seen), 3),
                "median_seconds_to_first_event": round(statistics.median(first for _, first in seen), 3),
            }
            for kind, seen in sorted(self.seconds.items())
        }


def size() -> tuple[int, int]:
    """Lines and files of Python under `audit/`."""
    files = [path for path in ROOT.rglob("*.py") if "__pycache__" not in path.parts]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files), len(files)


def seconds_of_version() -> float:
    """Wall-clock seconds of `audit --version`, the least of five."""
    spent = []
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "audit", "--version"], check=True, capture_output=True, cwd=AUDITS)
        spent.append(time.perf_counter() - started)
    return min(spent)


def figures(name: str, device: str) -> dict[str, object]:
    """Every figure of an audit on that device, by its name."""
    lines, files = size()
    sessions = Sessions()
    sessions.watch(Workers)
    sessions.watch(SharedProcess)
    roles = {variant.name: variant.role for variant in claims.load(name).claim.variant}
    with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(io.StringIO()):
        cli.main(["run", name, "--device", device, "--seed", "20261122", "--out", out])
    most = {
        role: max(sessions.counts[one] for one in roles if roles[one] == role) for role in dict.fromkeys(roles.values())
    }
    return {
        "measured": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
        "claim": name,
        "lines": lines,
        "files": files,
        "version_seconds": round(seconds_of_version(), 2),
        "modules_of_one_audit": sum(one.startswith("audit") for one in sys.modules),
        "frames_to_a_session": sessions.frames,
        "sessions_of_a_variant": most,
        "sessions_of_the_reference": sessions.counts["reference"],
        "device": device,
        "sessions": sessions.by_kind(),
        "processor": f"{limits.cores()} cores, {platform.machine()}",
    }


def main(name: str = "triangular_mm", device: str = "emulated") -> None:
    """Print the figures of one claim, and add them to those kept."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    kept.append(figures(name, device))
    print(json.dumps(kept[-1], indent=1))
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
