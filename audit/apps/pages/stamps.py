"""When, where and how long each notebook was last run: its second line, from `bench/results/notebooks.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

BEGIN = "Last run, all of it from cold: "
RESULTS = Path("bench/results/notebooks.json")
AUDITS = ("audit_claim", "batch", "your_kernel")
"""Notebooks for which the GPU matters."""
LINE = re.compile(rf'("{re.escape(BEGIN)})[^"\\]*')


def read(root: Path) -> list[dict[str, Any]]:
    """Every run that was kept."""
    return list(json.loads((root / RESULTS).read_text(encoding="utf-8"))["runs"])


def filled(text: str, *, name: str, runs: Iterable[dict[str, Any]]) -> str:
    """The notebook's text with its line as the runs say it."""
    return LINE.sub(lambda found: found[1] + line(name, runs), text)


def line(name: str, runs: Iterable[dict[str, Any]]) -> str:
    """What was run, and what was not."""
    own = [one for one in runs if one["notebook"] == name]
    told = [f"{_seconds(one)} on {_place(one)} ({one['date']})" for one in own]
    lacking = [] if name not in AUDITS or any("T4" in one["where"] for one in own) else ["on a T4"]
    lacking += [] if any(one["runtime"] for one in own) else ["in Colab"]
    missing = [f"{' and '.join(lacking)}: NOT MEASURED"] if lacking else []
    return "; ".join([*told, *missing]) + "."


def _seconds(run: dict[str, Any]) -> str:
    return f"{run['seconds']:.0f} s"


def _place(run: dict[str, Any]) -> str:
    return f"{run['where']} in Colab, {run['runtime']}" if run["runtime"] else str(run["where"])
