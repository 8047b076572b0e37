"""How many published kernels the emulated device builds and runs, and which of them the audit fails.

    python bench/real_kernels.py FOLDER

FOLDER holds published `.cu` files, which stay outside this repository, and a `tasks.json`:
`{file: {"inputs": [expression, ...], "args": [number, ...], "reference": expression in x0, x1, ...,
"rtol": number, "atol": number, "expect": what reading the source led to expect}}`. Prints a line a kernel and writes
the counts to `bench/results/real_kernels.json`.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from measured import keep

from audit import claims
from audit.audit import Audit
from audit.build.emulated.device import EmulatedDevice
from audit.model import Record
from audit.model.errors import AuditError
from audit.report.progress import Progress

REFERENCE = """import torch
def inputs(shape, generator):
    torch.manual_seed(generator.initial_seed() % 2**31)
    return [{arguments}]
def reference({names}):
    return {expression}
def oracle(*given):
    wide = [x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in given]
    return reference(*wide)
def cost(shape):
    return {{"flops": 1.0, "bytes": 1.0}}
"""
CLAIM = """name = "{name}"
title = "a published kernel"
task = "see reference.py"
dtype = "float32"
baseline = "see reference.py"
source = {{ title = "t", authors = "a", published = "2025", url = "u", fidelity = "verbatim", note = "n" }}
protocol = {{ steps = ["none"] }}
tolerance = {{ relative = {relative}, reason = "five times the tolerance of the task" }}
shapes = {{ claimed = {{ N = 1 }}, others = [], emulated = [{{ N = 1 }}] }}
variant = [{{ file = "claimed.cu", role = "claimed", technique = "as published" }}]
"""


def claim_folder(source: Path, task: dict[str, Any], root: Path) -> Path:
    """A claim folder for one kernel and its task."""
    folder = root / source.stem.lower()
    folder.mkdir()
    (folder / "claimed.cu").write_bytes(source.read_bytes())
    arguments = [*task["inputs"], *map(repr, task["args"])]
    names = ", ".join(f"x{index}" for index in range(len(arguments)))
    text = REFERENCE.format(arguments=", ".join(arguments), names=names, expression=task["reference"])
    (folder / "reference.py").write_text(text, encoding="utf-8")
    relative = 5 * max(task["rtol"], task["atol"], 1e-4)
    (folder / "claim.toml").write_text(CLAIM.format(name=folder.name, relative=relative), encoding="utf-8")
    return folder


def audit(folder: Path) -> Record:
    """The record of one kernel, without a report."""
    device = EmulatedDevice(session_limit_s=30, kernel_limit_s=10)
    with Audit(claims.load(str(folder)), device, folder / "out", progress=Progress(io.StringIO())) as running:
        for stage in (running.prepare, running.review, running.build, running.verify, running.judge):
            stage()
        return running.record


def outcome(record: Record) -> tuple[str, list[str]]:
    """In one word how it ended, and the findings that are no pass."""
    build = next(finding for finding in record.findings if finding.probe == "build")
    found = [
        f"{f.probe} {f.outcome} {f.grade or ''}: {f.summary}" for f in record.findings if f.outcome not in ("pass",)
    ]
    if build.outcome != "pass":
        return f"build {build.outcome}", found
    undefined = any(finding.grade == "undefined" for finding in record.findings)
    return record.verdict.name if record.verdict.name == "wrong" else "undefined" if undefined else "clean", found


def main() -> None:
    """Audits every kernel of the folder."""
    root = Path(sys.argv[1])
    tasks = json.loads((root / "tasks.json").read_text(encoding="utf-8"))
    counts: Counter[str] = Counter()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        for file, task in tasks.items():
            try:
                word, found = outcome(audit(claim_folder(root / file, task, Path(scratch))))
            except AuditError as error:
                word, found = "audit failed", [str(error)]
            counts[f"expected {task['expect']}: {word}"] += 1
            print(f"{file:<34} expected {task['expect']:<14} {word}", *found, sep="\n      ", flush=True)
    seconds = time.monotonic() - started
    result = {
        "kernels": len(tasks),
        "seconds": round(seconds, 1),
        "kernels_per_hour": round(3600 * len(tasks) / seconds),
        "counts": dict(sorted(counts.items())),
    }
    keep("real_kernels", result)
    print(json.dumps(result["counts"], indent=1), f"{result['kernels_per_hour']} kernels an hour", sep="\n")


if __name__ == "__main__":
    main()
