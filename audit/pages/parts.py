"""The part of the README that is made: one badge a notebook, with what its first line says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from audit.errors import BadInput

BEGIN, END = "<!-- notebooks: printed by audit.pages -->\n", "<!-- end of notebooks -->\n"
COLAB = "https://colab.research.google.com"
PLACE = "kernel-claim-audit/kernel-claim-audit/blob/main/notebooks"


def readme(text: str, *, notebooks: Iterable[Path]) -> str:
    """The README with its table of notebooks as it must be now.

    Raises:
        BadInput: the two comments the table stands between are not there.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise BadInput(f"README.md: {BEGIN.strip()} and {END.strip()} must stand there once each")
    before, rest = text.split(BEGIN)
    rows = [f"| {badge(path.stem)} | [{path.stem}](notebooks/{path.name}) | {purpose(path)} |" for path in notebooks]
    head = ["| Open | Notebook | What it does |", "| --- | --- | --- |"]
    return before + BEGIN + "\n".join([*head, *rows]) + "\n" + END + rest.split(END)[1]


def badge(name: str) -> str:
    """The badge that opens a notebook in Colab."""
    return f"[![Open {name} in Colab]({COLAB}/assets/colab-badge.svg)]({COLAB}/github/{PLACE}/{name}.ipynb)"


def purpose(path: Path) -> str:
    """What the first line of a notebook says that it does, without how to start it."""
    cell = json.loads(path.read_text(encoding="utf-8"))["cells"][1]
    line = "".join(cell["source"]).splitlines()[0]
    return re.sub(r"^\*\*Runtime → Run all\*\* \([^)]*\)\. ", "", line)
