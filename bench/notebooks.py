"""Runs every notebook from its first cell to its last, with nothing compiled yet, and keeps when, where and how long.

    python bench/notebooks.py [NAME...] [--device auto|cuda|emulated] [--publish]

Writes `bench/results/notebooks.json`, one entry for each notebook and machine, the last run of each; `python -m
audit.apps.pages` puts them into the notebooks' first lines. In a Colab session it keeps the runtime's tag too.
`--publish` keeps each notebook as it was executed in `reports/notebooks/`, from which the site makes its pages.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from measured import RESULTS, ROOT, timed

from audit import __version__
from audit.apps.batch.jobs import python_path
from audit.apps.notebook.preflight import gpu_here
from audit.apps.pages import tables
from audit.apps.pages.site import EXECUTED
from audit.sandbox import limits

AUDITS = ("audit_claim", "batch", "your_kernel")
WRITTEN = ("your_kernel.cu", "your_reference.py")
"""What `your_kernel.ipynb` writes beside itself."""


OF_THE_MACHINE = ("papermill", "execution", "widgets")
"""Metadata of a run: its times, its paths, the state of widgets whose kernel is gone."""


def run(name: str, device: str, scratch: Path) -> dict[str, Any]:
    """One notebook through papermill; raises CalledProcessError where a cell raises."""
    source = ROOT / "notebooks" / f"{name}.ipynb"
    values = {"interactive": "False", "out": str(scratch / "out")} if name in ("compare_gpus", *AUDITS) else {}
    values |= {"device": device} if name in AUDITS else {}
    options = [word for key, value in values.items() for word in ("-p", key, value)]
    papermill = [sys.executable, "-m", "papermill", "--no-progress-bar"]
    command = [*papermill, *options, str(source), str(scratch / "done.ipynb")]
    environment = {**os.environ, "AUDIT_CACHE": str(scratch / "cache"), "PYTHONPATH": python_path()}
    cost = timed(lambda: subprocess.run(command, check=True, cwd=source.parent, env=environment))
    return {
        "notebook": name,
        "where": where(device if name in AUDITS else "emulated"),
        "runtime": os.environ.get("COLAB_RELEASE_TAG", ""),
        "date": datetime.now(UTC).date().isoformat(),
        **cost,
        "kit": __version__,
    }


def where(device: str) -> str:
    """The GPU, or how many cores were there without one."""
    gpu = None if device == "emulated" else gpu_here()
    return f"{limits.cores()} cores without a GPU" if gpu is None else gpu.name


def kept(values: dict[str, Any]) -> None:
    """Puts an entry into the results, in place of an earlier one of the same notebook and machine."""
    file = RESULTS / "notebooks.json"
    known = json.loads(file.read_text(encoding="utf-8"))["runs"] if file.exists() else []
    place = ("notebook", "where", "runtime")
    others = [one for one in known if any(one[key] != values[key] for key in place)]
    runs = sorted([*others, values], key=lambda one: [one[key] for key in place])
    file.write_text(json.dumps({"runs": runs}, indent=1) + "\n", encoding="utf-8")


def publish(name: str, scratch: Path) -> None:
    """Keeps the executed notebook, with its outputs and without what only the machine that ran it could use."""
    text = (scratch / "done.ipynb").read_text(encoding="utf-8").replace(f"{scratch}/", "")
    executed = json.loads(tables.with_runs(text, name=name, runs=tables.runs(ROOT)))
    for part in (executed, *executed["cells"]):
        part["metadata"] = {key: value for key, value in part["metadata"].items() if key not in OF_THE_MACHINE}
    for output in (one for cell in executed["cells"] for one in cell.get("outputs", [])):
        if "text/markdown" in output.get("data", {}):
            output["data"].pop("text/plain")  # the same, escaped
    folder = ROOT / EXECUTED
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(executed, indent=1, ensure_ascii=False)
    (folder / f"{name}.ipynb").write_text(f"{text}\n", encoding="utf-8")


def main() -> None:
    """Runs those asked for, or all."""
    known = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    parser = argparse.ArgumentParser(description="runs notebooks from cold and keeps when, where and how long")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; none means all")
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "emulated"))
    parser.add_argument("--publish", action="store_true", help="keep the executed notebooks in reports/notebooks/")
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
            if options.publish:
                publish(name, Path(scratch))
        print(f"{name}: {result['seconds']} s on {result['where']}")


if __name__ == "__main__":
    main()
