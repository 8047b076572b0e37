"""Limits and durations come from clocks that nobody sets: a jump of the machine's time ends no session and no audit."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

import audit
from tests.conftest import some

ROOT = Path(audit.__file__).parent
SETTABLE = {"time": ("time", "time_ns", "localtime", "gmtime", "ctime"), "datetime": ("now", "utcnow", "today")}
STAMPS = {"apps/batch/notebooks.py": 1, "run/processes/environment.py": 1}
"""Where a record tells when something began, and how often; nothing is decided by it."""


@functools.cache
def nodes_of(text: str) -> list[ast.Attribute | ast.ImportFrom]:
    """The attributes and the imports by name of a module."""
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute | ast.ImportFrom)]


def reads(text: str) -> list[int]:
    """The lines that read a clock somebody may set."""
    nodes = [node for node in nodes_of(text) if isinstance(node, ast.Attribute)]
    named = [node for node in nodes if isinstance(node.value, ast.Name) and node.value.id in SETTABLE]
    return [node.lineno for node in named if node.attr in SETTABLE[node.value.id]]


def test_only_stamps_read_the_machines_time() -> None:
    found = {str(path.relative_to(ROOT)): len(reads(path.read_text(encoding="utf-8"))) for path in ROOT.rglob("*.py")}
    assert {name: count for name, count in found.items() if count} == STAMPS


@pytest.mark.parametrize(("text", "lines"), [("import time\nx = time.time()", [2]), ("time.monotonic()", [])])
def test_the_reading_finds_what_it_is_for(text: str, lines: list[int]) -> None:
    assert reads(text) == lines


def test_no_module_takes_a_clock_by_its_bare_name() -> None:
    for path in some(ROOT.rglob("*.py")):
        imports = [one for one in nodes_of(path.read_text("utf-8")) if isinstance(one, ast.ImportFrom)]
        taken = {alias.name for one in imports if one.module == "time" for alias in one.names}
        assert not taken & set(SETTABLE["time"]), path
