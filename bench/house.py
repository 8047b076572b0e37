"""What living in `audit/` costs: its size, the way from the command to a kernel, and the sessions of one audit.

    python bench/house.py [CLAIM]        prints one line a figure; needs no GPU

Frames are those between the command line's `main` and the pipe to the process that runs the kernel, threads included.
"""

from __future__ import annotations

import collections
import contextlib
import io
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
from audit.run.pool import SharedProcess, Workers

ROOT = Path(audit.__file__).parent
AUDITS = ROOT.parent


class Sessions:
    """Counts the sessions of an audit by variant, and keeps the longest way to one."""

    def __init__(self) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.kinds: collections.Counter[str] = collections.Counter()
        self.frames = 0
        self.asked: dict[str, list[str]] = collections.defaultdict(list)
        self._lock = threading.Lock()

    def watch(self, of: type[Workers] | type[SharedProcess]) -> None:
        """Count every call of that class's `call`."""
        original: Any = of.call

        def call(pool: Any, kind: str, request: Any, *, limit_s: float) -> Any:
            own = [frame for frame in traceback.extract_stack() if str(ROOT) in frame.filename]
            with self._lock:
                self.kinds[kind] += 1
                self.frames = max(self.frames, len(own))
                if kind == "session":
                    name = Path(request["folder"]).name.rpartition("-")[0]
                    self.counts[name] += 1
                    stack = [Path(frame.filename).stem for frame in own if "/probes/" in frame.filename]
                    self.asked[name].append(stack[0] if stack[:1] != ["runner"] else " ".join(dict.fromkeys(stack[1:])))
            return original(pool, kind, request, limit_s=limit_s)

        of.call = call  # type: ignore[method-assign]


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


def main(name: str) -> None:
    """Print every figure."""
    lines, files = size()
    print(f"Python under audit/: {lines:,} lines in {files} files")
    print(f"audit --version: {seconds_of_version():.2f} s")
    sessions = Sessions()
    sessions.watch(Workers)
    sessions.watch(SharedProcess)
    roles = {variant.name: variant.role for variant in claims.load(name).claim.variant}
    with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(io.StringIO()):
        cli.main(["run", name, "--device", "emulated", "--seed", "20261122", "--out", out])
    print(f"modules of audit/ imported by one audit: {sum(one.startswith('audit') for one in sys.modules)}")
    print(f"frames of audit/ from a thread's start to a session: {sessions.frames} at most")
    for role in dict.fromkeys(roles.values()):
        counts = [sessions.counts[variant] for variant, own in roles.items() if own == role]
        print(f"sessions of a variant, {role}: {min(counts)} to {max(counts)} ({len(counts)} variants)")
    for variant in list(roles)[:1] if "-v" in sys.argv else []:
        for question, count in collections.Counter(sessions.asked[variant]).items():
            print(f"    {variant}: {count} x {question}")
    print(
        f"other sessions: {', '.join(f'{count} {kind}' for kind, count in sessions.kinds.items() if kind != 'session')}"
    )


if __name__ == "__main__":
    main(next((one for one in sys.argv[1:] if not one.startswith("-")), "triangular_mm"))
