"""The commands: typed functions whose parameters are the arguments (`declare.py`), imported when asked for."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple


class Command(NamedTuple):
    """One command: the module and function under `audit.apps`, its help, and lines to type."""

    place: str
    help: str
    examples: tuple[str, ...]


_TABLE = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
COMMANDS = {
    name: Command(one["place"], one["help"], tuple(one["examples"])) for name, one in _TABLE["commands"].items()
}
FIRST: tuple[str, ...] = tuple(_TABLE["first"])
"""The examples of `audit --help` itself."""
