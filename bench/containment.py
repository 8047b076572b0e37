"""The cost of the sandbox: a warm audit of triangular_mm on the emulated device, with it and without in turn.

Run it on an idle machine: `python bench/containment.py [PAIRS]`. Each pair is an audit inside the sandbox and one
without, in changing order, each with workers of its own; seconds are wall clock, from asking for the workers to the
verdict. The ratio is the median over the pairs. Writes `bench/results/containment.json` with the machine it came from.
"""

from __future__ import annotations

import io
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from measured import keep

from audit import claims
from audit.audit import Audit
from audit.build.device import choose
from audit.report.progress import Progress
from audit.run.processes import environment
from audit.run.processes.pool import Workers
from audit.sandbox import native
from audit.scheduler import places

CLAIM = "triangular_mm"
SEED = 1
PAIRS = 8
AIM = 1.10


def seconds_of(scratch: Path, *, sandboxed: bool) -> float:
    """Seconds of one audit, up to its verdict."""
    folder = claims.load(CLAIM)
    os.environ[native.WITHOUT] = "" if sandboxed else "everything"
    started = time.perf_counter()
    out = Path(tempfile.mkdtemp(dir=scratch))
    device, silent = choose("emulated", folder.claim), Progress(io.StringIO())
    with (
        Workers(places(1)) as workers,
        Audit(folder, device, out, entropy=SEED, workers=workers, progress=silent) as audit,
    ):
        for stage in ("prepare", "lint", "review", "build", "verify", "confirm", "judge"):
            getattr(audit, stage)()
        return time.perf_counter() - started


def main() -> None:
    """Measures, prints and stores."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        seconds_of(Path(scratch), sandboxed=True)  # whatever is not compiled yet
        for pair in range(pairs):
            order = (True, False) if pair % 2 else (False, True)
            seconds = {sandboxed: seconds_of(Path(scratch), sandboxed=sandboxed) for sandboxed in order}
            rows.append({"walled_s": round(seconds[True], 3), "open_s": round(seconds[False], 3)})
            print(f"{seconds[True]:7.2f} s inside the sandbox, {seconds[False]:7.2f} s without", flush=True)
    os.environ[native.WITHOUT] = ""
    with Workers(1) as workers:
        limits = [limit.model_dump() for limit in environment.sandbox(workers)]
    ratio = statistics.median([row["walled_s"] / row["open_s"] for row in rows])
    print(f"ratio {ratio:.3f}, aim below {AIM}")
    values = {
        "ratio": round(ratio, 3),
        "aim": AIM,
        "pairs": rows,
        "load": os.getloadavg(),
        "limits": limits,
    }
    keep("containment", values, seeds=(SEED,))


if __name__ == "__main__":
    main()
