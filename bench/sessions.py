"""Where the sessions of an audit spend their time: `python bench/sessions.py [CLAIM] [--device cuda] [--out FILE]`.

Every request to a supervisor is timed in the judge: by its kind, and by whether its process is fresh or kept for more.
The seconds until the first event hold the start of the process, its sandbox, a GPU's context and the inputs. Seconds
are wall-clock, added up over sessions that run side by side; the share is that of all sessions.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from audit import claims  # noqa: E402
from audit.audit import Audit  # noqa: E402
from audit.build.devices import choose  # noqa: E402
from audit.model.run_directory import Scratch  # noqa: E402
from audit.report.progress import Progress  # noqa: E402
from audit.run import environment, requests, wire  # noqa: E402
from audit.run.supervisors import Supervisor  # noqa: E402


class Timed:
    """Every session of this process, with its kind, its process, its calls and its seconds."""

    def __init__(self) -> None:
        self.seen: dict[str, list[dict[str, float]]] = defaultdict(list)
        self._ask, self._lock = Supervisor.ask, threading.Lock()

    def __enter__(self) -> Timed:
        timed = self

        def ask(one: Supervisor, request: requests.Request, descriptors: Sequence[int] = ()) -> wire.Ended:
            started = time.monotonic()
            ended = timed._ask(one, request, descriptors)
            seconds = time.monotonic() - started
            kind = f"{request.kind}, {'kept' if request.keep else 'fresh'} process"
            first = ended.arrived_s[0] if ended.arrived_s else seconds
            with timed._lock:
                timed.seen[kind].append({"seconds": seconds, "first": first, "calls": len(ended.lines)})
            return ended

        Supervisor.ask = ask  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        Supervisor.ask = self._ask  # type: ignore[method-assign]

    def table(self) -> list[dict[str, Any]]:
        """One row a kind, the longest first."""
        whole = sum(one["seconds"] for sessions in self.seen.values() for one in sessions)
        rows = [
            {
                "kind": kind,
                "sessions": len(sessions),
                "events": int(sum(one["calls"] for one in sessions)),
                "share": round(sum(one["seconds"] for one in sessions) / whole, 3),
                "median_s": round(statistics.median(one["seconds"] for one in sessions), 3),
                "median_to_first_event_s": round(statistics.median(one["first"] for one in sessions), 3),
            }
            for kind, sessions in self.seen.items()
        ]
        return sorted(rows, key=lambda row: -row["share"])


def main() -> None:
    """Audit the claim without times, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("claim", nargs="?", default="triangular_mm")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    folder = claims.load(asked.claim)
    device = choose(asked.device, folder.claim)
    started = time.monotonic()
    with Timed() as timed, Scratch() as out, Audit(
        folder, device, out / "record", entropy=1, timed=False, progress=Progress(io.StringIO())
    ) as audit:  # fmt: skip
        for stage in (audit.prepare, audit.review, audit.build, audit.verify):
            stage()
    rows, seconds = timed.table(), round(time.monotonic() - started, 1)
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    print(f"{device.describe().name}: {seconds} s in all")
    if asked.out:
        machine = environment.describe(seeds=()).machine
        text = {"claim": asked.claim, "device": device.describe().name, "machine": machine, "seconds": seconds}
        asked.out.write_text(json.dumps({**text, "kinds": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
