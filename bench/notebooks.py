"""Runs every notebook from its first cell to its last, with nothing compiled yet, and keeps when, where and how long.

    python bench/notebooks.py [NAME...] [--device auto|cuda|emulated]

Writes `bench/results/notebooks.json`, one entry for each notebook and machine, the last run of each; `python -m
audit.apps.pages` puts them into the notebooks' first lines. In a Colab session it keeps the runtime's tag too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit import __version__
from audit.apps.batch.jobs import python_path
from audit.apps.notebook import preflight
from audit.sandbox import machine

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_name("results") / "notebooks.json"
AUDITS = ("audit_claim", "batch", "your_kernel")
WRITTEN = ("your_kernel.cu", "your_reference.py")
"""What `your_kernel.ipynb` writes beside itself."""


def run(name: str, device: str, scratch: Path) -> dict[str, Any]:
    """One notebook through papermill; raises CalledProcessError where a cell raises."""
    source = ROOT / "notebooks" / f"{name}.ipynb"
    values = {"interactive": "False", "out": str(scratch / "out")} if name not in ("explore", "ladder") else {}
    values |= {"device": device} if name in AUDITS else {}
    options = [word for key, value in values.items() for word in ("-p", key, value)]
    command = [
        sys.executable,
        "-m",
        "papermill",
        "--no-progress-bar",
        *options,
        str(source),
        str(scratch / "done.ipynb"),
    ]
    environment = {**os.environ, "AUDIT_CACHE": str(scratch / "cache"), "PYTHONPATH": python_path()}
    began, own, busy = time.perf_counter(), _own_s(), _busy_s()
    subprocess.run(command, check=True, cwd=source.parent, env=environment)
    seconds, used, all_used = time.perf_counter() - began, _own_s() - own, _busy_s() - busy
    return {
        "notebook": name,
        "where": where(device if name in AUDITS else "emulated"),
        "runtime": os.environ.get("COLAB_RELEASE_TAG", ""),
        "date": datetime.now(UTC).date().isoformat(),
        "seconds": round(seconds, 1),
        "processor_s": round(used, 1),
        "cores_busy_elsewhere": round(max(0.0, all_used - used) / seconds, 2),
        "kit": __version__,
    }


def where(device: str) -> str:
    """The GPU, or how many cores were there without one."""
    gpu = None if device == "emulated" else preflight.look().gpu
    return f"{machine.cores()} cores without a GPU" if gpu is None else gpu.name


def kept(values: dict[str, Any]) -> None:
    """Puts an entry into the results, in place of an earlier one of the same notebook and machine."""
    known = json.loads(RESULTS.read_text(encoding="utf-8"))["runs"] if RESULTS.exists() else []
    place = ("notebook", "where", "runtime")
    others = [one for one in known if any(one[key] != values[key] for key in place)]
    runs = sorted([*others, values], key=lambda one: [one[key] for key in place])
    RESULTS.write_text(json.dumps({"runs": runs}, indent=1) + "\n", encoding="utf-8")


def _own_s() -> float:
    """Processor seconds of the processes started here that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _busy_s() -> float:
    """Processor seconds of this machine that were not idle; proc_stat(5)."""
    fields = Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:]
    return (sum(map(int, fields[:8])) - int(fields[3]) - int(fields[4])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Runs those asked for, or all."""
    known = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    parser = argparse.ArgumentParser(description="runs notebooks from cold and keeps when, where and how long")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; none means all")
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "emulated"))
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(known)):
        parser.error(f"{', '.join(unknown)}: unknown; known: {', '.join(known)}")
    for name in options.names or known:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                result = run(name, options.device, Path(scratch))
            finally:
                for file in WRITTEN:
                    (ROOT / "notebooks" / file).unlink(missing_ok=True)
        kept(result)
        print(f"{name}: {result['seconds']} s on {result['where']}")


if __name__ == "__main__":
    main()
