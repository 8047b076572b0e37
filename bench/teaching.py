"""How many kernels of public teaching repositories the emulated device audits without an edit, and why not the others.

    python bench/teaching.py FOLDER [PART]

FOLDER holds a checkout of each repository of `teaching.toml` at its commit, as `owner+name`; it stays outside this
repository. Every function that a file binds for Python is a kernel, and is audited as a claim of its own against the
task of `teaching.toml`: sources as they are, several joined as `audit check` joins them, for compute capability 8.0.
PART, as 1/3, audits a third of them. Prints a line a kernel and writes the counts to `bench/results/teaching.json`.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measured import keep

from audit import claims
from audit.audit import Audit
from audit.build.emulated.device import EmulatedDevice
from audit.claims.importers import joined
from audit.model import Record
from audit.model.errors import AuditError
from audit.report.progress import Progress

TASKS = Path(__file__).with_suffix(".toml")
BOUND = re.compile(r'(?:TORCH_BINDING_COMMON_EXTENSION\(|m\s*\.\s*(?:def|impl)\(\s*")(\w+)')
"""A function bound for Python, also by the macro of one of the repositories."""
NEWER = re.compile(
    r"tcgen05|wgmma|cp\.async\.bulk|CUtensorMap|cluster_dims|setmaxnreg|\.e[45]m[23]\.|ld\.global[\w.:]*\.v8|hip_|\bamd"
)
"""What a file that needs more than compute capability 8.0, or another maker's GPU, has in its text."""
REFERENCE = """import torch
D = torch.{dtype}
def inputs(shape, generator):
    global G
    G = generator
    return [{inputs}]
def draw(*size):
    return torch.randn(size, generator=G).to(D)
def empty(*size):
    return torch.empty(size, dtype=D)
def whole(below, *size):
    return torch.randint(0, below, size, generator=G, dtype=torch.int32)
def reference({names}):
    return {right}
def oracle(*given):
    return reference(*(x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in given))
def cost(shape):
    return {{"flops": 1.0, "bytes": 1.0}}
BASELINES = {{"eager": reference}}
"""
CLAIM = """name = "{name}"
title = "a kernel of a teaching repository"
task = "see reference.py"
dtype = "{dtype}"
entry = "{entry}"
baseline = "see reference.py"
source = {{ title = "t", authors = "a", published = "2025", url = "u", fidelity = "verbatim", note = "n" }}
protocol = {{ steps = ["none"] }}
harness = {{ {destination} }}
tolerance = {{ relative = {relative}, reason = "sums in the precision of the inputs, in any order" }}
shapes = {{ claimed = {{ N = 1 }}, others = [], emulated = [{{ N = 1 }}] }}
variant = [{{ file = "claimed.cu", role = "claimed", technique = "as published", compute_capability = 80 }}]
"""
OPEN = "open"
"""The answer about a result where nothing is concluded."""
LOW = re.compile(r"(?:^|_)(?:hgem[mv]\w*|b?f16(?:x\d+)?(?:_\w+)?)(?:_|$)")
RELATIVE = {"float32": 1e-4, "float16": 2e-2, "bfloat16": 5e-2}


@dataclass(frozen=True)
class Kernel:
    """One bound function of joined files, with its task of the table."""

    task: dict[str, Any]
    text: str
    name: str

    @property
    def dtype(self) -> str:
        """The type of its real inputs, by its name unless the table says another one."""
        given: str | None = self.task.get("dtype")
        return given or ("bfloat16" if "bf16" in self.name else "float16" if LOW.search(self.name) else "float32")

    @property
    def shown(self) -> str:
        """Repository, first file and function."""
        return f"{self.task['repository']} {self.task['files'][0]} {self.name}"


def kernels(root: Path) -> Iterator[Kernel]:
    """Yield every bound function that a task is stated for, in the order of the table."""
    for task in tomllib.loads(TASKS.read_text(encoding="utf-8"))["task"]:
        folder = root / task["repository"].replace("/", "+")
        beside = {folder / file for file in task["files"]}
        around = Path(os.path.commonpath([file.parent for file in beside]))
        headers = {one for end in joined.HEADERS for one in around.rglob(f"*{end}")}
        texts = {str(one.relative_to(folder)): one.read_text(encoding="utf-8") for one in sorted(beside | headers)}
        text = joined.joined(texts) if len(texts) > 1 else next(iter(texts.values()))
        names = dict.fromkeys(name for file in sorted(beside) for name in BOUND.findall(file.read_text("utf-8-sig")))
        names |= dict.fromkeys(task.get("unbound", ()))
        yield from (Kernel(task, text, name) for name in names if re.fullmatch(task["names"], name))


def claim_folder(kernel: Kernel, root: Path) -> Path:
    """Write the claim of one kernel."""
    folder = root / re.sub(r"\W", "_", f"{Path(kernel.task['files'][0]).stem}_{kernel.name}").lower()
    folder.mkdir()
    (folder / "claimed.cu").write_text(kernel.text, encoding="utf-8")
    task = kernel.task
    names = ", ".join(f"x{index}" for index in range(len(task["inputs"])))
    text = REFERENCE.format(dtype=kernel.dtype, inputs=", ".join(task["inputs"]), names=names, right=task["right"])
    (folder / "reference.py").write_text(text, encoding="utf-8")
    stated = CLAIM.format(
        name=folder.name,
        dtype=kernel.dtype,
        entry=kernel.name,
        destination=f"destination = {task['into']}" if "into" in task else "",
        relative=RELATIVE[kernel.dtype],
    )
    (folder / "claim.toml").write_text(stated, encoding="utf-8")
    return folder


def audited(folder: Path) -> Record:
    """Return the record of one kernel, without a report."""
    device = EmulatedDevice(session_limit_s=60, kernel_limit_s=20, compute_capability=80)
    with Audit(claims.load(str(folder)), device, folder / "out", progress=Progress(io.StringIO())) as running:
        for stage in (running.prepare, running.review, running.build, running.verify, running.judge):
            stage()
        return running.record


def outcome(kernel: Kernel, folder: Path) -> tuple[str, str, str]:
    """Return the verdict of a kernel, the answer whether its result is right, and the first reason."""
    try:
        record = audited(claim_folder(kernel, folder))
    except AuditError as error:
        return "undecided", OPEN, str(error)
    verdict = record.verdict
    assert verdict is not None
    assert verdict.result is not None
    bad = [f"{one.probe}: {one.summary}" for one in record.findings if one.outcome == "fail" and one.grade != "hint"]
    skipped = [f"{one.probe}: {one.summary}" for one in record.findings if one.outcome in ("error", "skip")]
    state = verdict.result.state
    why = ((bad or [*verdict.missing, *skipped]) if state == OPEN else bad) or [""]
    refused = next((one for one in skipped if one.startswith("build: ")), "")
    newer = refused and "CUTLASS" not in refused and NEWER.search(refused + kernel.text)
    return "newer" if newer else verdict.name, state, refused or why[0]


def main() -> int:
    """Audit the kernels of a folder and write the counts."""
    root = Path(sys.argv[1])
    part, _, parts = (sys.argv[2] if len(sys.argv) > 2 else "1/1").partition("/")
    every = list(kernels(root))
    rows: list[dict[str, Any]] = []
    known: dict[str, tuple[str, str, str]] = {}
    for kernel in every[int(part) - 1 :: int(parts)]:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="teaching-") as folder:
            verdict, result, why = known.get(kernel.text) or outcome(kernel, Path(folder))
        if why.startswith("build: "):
            known[kernel.text] = verdict, result, why
        seconds = time.monotonic() - started
        print(f"{verdict:16} {result:10} {seconds:5.1f} s  {kernel.shown}  {why[:150]}", flush=True)
        rows.append({"kernel": kernel.shown, "verdict": verdict, "result": result, "why": why[:200]})
        write(rows, every=len(every), part=f"{part}/{parts}")
    return 0


def write(rows: list[dict[str, Any]], *, every: int, part: str) -> None:
    """Write the counts of the kernels that were audited so far, of a part of all."""
    asked = [row for row in rows if row["verdict"] != "newer"]
    answered = [row for row in asked if row["result"] != OPEN]
    keep(
        "teaching",
        {
            "repositories": tomllib.loads(TASKS.read_text(encoding="utf-8"))["repositories"],
            "part": part,
            "kernels": every,
            "asked": len(rows),
            "newer than compute capability 8.0": len(rows) - len(asked),
            "answered": len(answered),
            "share": round(len(answered) / max(1, len(asked)), 3),
            "verdicts": dict(Counter(row["verdict"] for row in rows).most_common()),
            "refused": dict(Counter(row["why"] for row in asked if row["result"] == OPEN).most_common()),
            "failed": [row for row in answered if row["result"] != "right"],
        },
    )


if __name__ == "__main__":
    raise SystemExit(main())
