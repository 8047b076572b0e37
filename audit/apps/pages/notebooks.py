"""Made parts about notebooks: badges of the README, the table of `docs/notebooks.md`, their forms, their last runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from audit import claims
from audit.apps.notebook import maps
from audit.apps.pages.site import EXECUTED
from audit.report.markdown import made

COLAB = "https://colab.research.google.com"
PLACE = "kernel-claim-audit/kernel-claim-audit/blob/main/notebooks"
BEGIN = "Last run, all of it from cold: "
RESULTS = Path("bench/results/notebooks.json")
AUDITS = {
    "audit_claim": "a published claim",
    "your_kernel": "a kernel and a reference of yours, from two cells or two files",
    "batch": "a collection of claims",
}
"""Notebooks for which the GPU matters, and what each audits."""
LINE = re.compile(rf'("{re.escape(BEGIN)})[^"\\]*')


def badges() -> str:
    """The notebooks that audit something, one line each."""
    return "".join(f"- {badge(name)} [{name}](notebooks/{name}.ipynb): {what}; [as it ran]({EXECUTED}/{name}.ipynb)\n"
                   for name, what in AUDITS.items())  # fmt: skip


def table(notebooks: Iterable[Path]) -> str:
    """One row a notebook: its badge, its name, what its first line says that it does."""
    rows = ((badge(one.stem), f"[{one.stem}](../notebooks/{one.name})", purpose(one),
             f"[{one.stem}, as it ran](../{EXECUTED}/{one.name})") for one in notebooks)  # fmt: skip
    return made(("Open", "Notebook", "What it does", "Its outputs"), rows)


def badge(name: str) -> str:
    """The badge that opens a notebook in Colab."""
    return f"[![Open {name} in Colab]({COLAB}/assets/colab-badge.svg)]({COLAB}/github/{PLACE}/{name}.ipynb)"


def purpose(path: Path) -> str:
    """The purpose of a notebook in its first line, without how to start it."""
    cell = json.loads(path.read_text(encoding="utf-8"))["cells"][1]
    line = "".join(cell["source"]).splitlines()[0]
    return re.sub(r"^\*\*Runtime → Run all\*\* \([^)]*\)\. ", "", line)


def with_choices(text: str) -> str:
    """A notebook's text with every claim that has a claimed kernel, and every published record, in its form."""
    text = _with(text, "claim", [name for name in claims.names() if claims.load(name).claim.claimed is not None])
    return _with(text, "audit", list(maps.records(claims.ROOT / "reports")))


def _with(text: str, parameter: str, names: list[str]) -> str:
    listed = json.dumps(names)[1:-1].replace('"', '\\"')
    return re.sub(rf'("{parameter} = \S.*?  # @param )\[.*?\]', lambda found: f"{found[1]}[{listed}]", text)


def runs(root: Path) -> list[dict[str, Any]]:
    """Every run in `bench/results/notebooks.json`."""
    return list(json.loads((root / RESULTS).read_text(encoding="utf-8"))["runs"])


def with_runs(text: str, *, name: str, runs: Iterable[dict[str, Any]]) -> str:
    """The notebook's text with its line as the runs say it."""
    return LINE.sub(lambda found: found[1] + line(name, runs), text)


def line(name: str, runs: Iterable[dict[str, Any]]) -> str:
    """The runs of a notebook, and the machines without one."""
    own = [one for one in runs if one["notebook"] == name]
    done = []
    for one in own:
        place = f"{one['where']} in Colab, {one['runtime']}" if one["runtime"] else one["where"]
        done.append(f"{one['seconds']:.0f} s on {place} ({one['date']})")
    lacking = [] if name not in AUDITS or any("T4" in one["where"] for one in own) else ["on a T4"]
    lacking += [] if any(one["runtime"] for one in own) else ["in Colab"]
    missing = [f"{' and '.join(lacking)}: NOT MEASURED"] if lacking else []
    return "; ".join([*done, *missing]) + "."
