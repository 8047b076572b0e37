"""Every script of `bench/` loads: one that names what the kit no longer has would fail only where somebody measures."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[1] / "bench"
SCRIPTS = sorted(BENCH.glob("*.py"))


def loaded(path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCH)
    spec = importlib.util.spec_from_file_location(f"bench_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", SCRIPTS, ids=[path.stem for path in SCRIPTS])
def test_a_script_loads(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert loaded(path, monkeypatch).__doc__


@pytest.mark.parametrize(
    ("gpu", "columns", "cell"),
    [
        ("NVIDIA H200", ["T4", "L4", "A100", "H100", "H200"], 5),
        ("NVIDIA L4", ["T4", "L4", "A100", "H100", "H200"], 2),
        ("NVIDIA L40S", ["T4", "L4", "A100", "H100", "H200", "NVIDIA L40S"], 6),
    ],
)
def test_the_ladders_do_bench_table_is_sorted_and_says_where_nobody_measured(
    gpu: str, columns: list[str], cell: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = loaded(BENCH / "ladder.py", monkeypatch)
    taken = {"eager": (2.72, 2.7, 2.75), "diagonals": (0.948, 0.94, 0.95), "register_blocked": (0.524, 0.52, 0.53)}
    ways = {name: {"do_bench_ms": dict(zip(("median", "p20", "p80"), ms, strict=True))} for name, ms in taken.items()}
    head, _, *rows = ladder.do_bench_table({"machine": {"gpu": gpu}, "ways": ways})
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in (head, *rows)]
    assert cells[0] == ["do_bench, ms", *columns]
    assert [row[0] for row in cells[1:]] == ["`register_blocked`", "`diagonals`", "`eager`"]
    assert cells[2][cell] == "0.9480 (0.9400 to 0.9500)"
    assert {one for row in cells[1:] for place, one in enumerate(row) if place not in (0, cell)} == {"NOT MEASURED"}


def test_the_ladder_has_every_baseline_of_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = loaded(BENCH / "ladder.py", monkeypatch)
    assert {"eager", "eager_tf32", "blocked", "diagonals", "diagonals_tf32", "diagonals_fp16"} <= {*ladder._baselines()}
