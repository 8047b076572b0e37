"""A notebook so small that a batch of them takes seconds, and endings of every kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from audit.apps.batch.jobs import python_path

ROOT = Path(__file__).resolve().parents[2]
PARAMETERS = 'claim = "x"\ndevice = "auto"\nout = ""\ninteractive = True\nversion = "1"\nseconds = 0.5\n'
MARK = "TINY_MARK"
"""Names the folder where an audit that waits says that it is at work, and waits for a file `go`."""
BODY = """
import json, os, sys, time
MARK = "TINY_MARK"
from pathlib import Path
from audit import claims, judge
from audit.build.cuda import gpu
from audit.model.errors import BadInput
from audit.model import Device, Environment, Record, store

folder = claims.load(claim)
environment = Environment(kit="0", started_utc="2026-11-21T00:00:00+00:00", machine="m", system="s", python="3",
                          packages={})
device_used = Device(kind="emulated", name="emulated device", compute_capability=75, note="no times")
record = Record(claim=folder.audited, device=device_used, environment=environment)
store.write(record, Path(out) / "record.json")
kind = folder.path.name.rstrip("0123456789")
if kind == "aborts": os.abort()
if kind == "killed": os.kill(os.getpid(), 9)
if kind == "exits": sys.exit(0)
if kind == "refuses": raise BadInput("claim.toml: key x: wrong")
if kind == "full" and not (Path(os.environ[MARK]) / "go").exists():
    with (Path(out) / "filler").open("wb") as file:
        while True: file.write(bytes(1 << 20))
if kind == "raises": raise ValueError("no such thing")
if kind == "hangs": time.sleep(60)
time.sleep(seconds)
mark = Path(os.environ.get(MARK, ""))
if kind == "turns":
    gpu.lock()
    seen = [os.environ["CUDA_VISIBLE_DEVICES"], time.monotonic()]
    time.sleep(0.3)
    (mark / folder.path.name).write_text(json.dumps([*seen, time.monotonic()]))
if kind == "waits":
    (mark / folder.path.name).touch()
    while not (mark / "go").exists(): time.sleep(0.05)
ladder = judge.ladder(folder.claim, ())
record = record.model_copy(update={"ladder": ladder})
store.write(record.model_copy(update={"verdict": judge.judge(record)}), Path(out) / "record.json")
"""


def notebook(path: Path) -> Path:
    """A notebook with the parameters of an audit's and one cell that ends as the claim's name says."""
    cells = [_cell(PARAMETERS, tags=["parameters"]), _cell(BODY)]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    path.write_text(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    return path


def batch(*arguments: object, **more: Any) -> subprocess.Popen[str]:
    """`audit batch` with those arguments, in a process of its own."""
    command = [sys.executable, "-m", "audit", "batch", *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": python_path()}, **more,
    )  # fmt: skip


def _cell(source: str, *, tags: list[str] | None = None) -> dict[str, Any]:
    own = {"metadata": {"tags": tags or []}, "outputs": [], "execution_count": None}
    return {"cell_type": "code", "id": "parameters" if tags else "body", "source": source, **own}
