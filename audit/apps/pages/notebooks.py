"""The table of notebooks in the README: one badge a notebook, with what its first line says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

COLAB = "https://colab.research.google.com"
PLACE = "kernel-claim-audit/kernel-claim-audit/blob/main/notebooks"


def table(notebooks: Iterable[Path]) -> str:
    """One row a notebook: its badge, its name, what its first line says that it does."""
    rows = [f"| {badge(path.stem)} | [{path.stem}](notebooks/{path.name}) | {purpose(path)} |" for path in notebooks]
    return "\n".join(["| Open | Notebook | What it does |", "| --- | --- | --- |", *rows]) + "\n"


def badge(name: str) -> str:
    """The badge that opens a notebook in Colab."""
    return f"[![Open {name} in Colab]({COLAB}/assets/colab-badge.svg)]({COLAB}/github/{PLACE}/{name}.ipynb)"


def purpose(path: Path) -> str:
    """What the first line of a notebook says that it does, without how to start it."""
    cell = json.loads(path.read_text(encoding="utf-8"))["cells"][1]
    line = "".join(cell["source"]).splitlines()[0]
    return re.sub(r"^\*\*Runtime → Run all\*\* \([^)]*\)\. ", "", line)
