from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from audit.claims import load
from tests.conftest import some

pytestmark = pytest.mark.audits

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench/results"
WAYS, H200 = (
    json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["ways"]
    for name in ("h100_ladder", "h200_ladder")
)
NOT_MEASURED = "NOT MEASURED"
CLAIM = load("triangular_mm")
README = (CLAIM.path / "README.md").read_text(encoding="utf-8")
CELL = r"\| (NOT MEASURED|[\d.x%e-]+) "
ROW = re.compile(rf"^\| `(\w+)` {CELL * 7}\|$", re.MULTILINE)
STEPS = [one.name for one in load("triangular_mm", lessons=True).claim.variant if one.role in ("repair", "lesson")]
sys.path.insert(0, str(ROOT / "bench"))
import ladder_table  # noqa: E402  # a script of bench/


def _median(name: str, ways: dict[str, Any] = WAYS) -> float:
    return statistics.median(ways[name]["samples_ms"])


def test_the_table_tells_every_way_that_was_measured_and_every_step() -> None:
    assert {name for name, *_ in ROW.findall(README)} == set(H200) | set(WAYS) | set(STEPS)


def test_every_step_has_a_row_that_names_where_it_starts() -> None:
    rows = dict(re.findall(r"^\| `(\w+)`[^|]* \|[^|]*\|([^|]*)\|[^|]*\|$", README, re.MULTILINE))
    assert set(rows) == set(STEPS)
    started = {name: re.findall(r"\(`(\w+)`\)", cell) for name, cell in rows.items()}
    assert started.pop("naive") == []
    assert started == {name: [start] for name, start in ladder_table.BEFORE.items()}
    assert set(ladder_table.BEFORE.values()) <= set(STEPS)


def test_the_table_is_the_one_that_the_command_writes() -> None:
    assert ladder_table.written(README) == README
    assert ladder_table.written(README.replace("| `eager` | 2", "| `eager` | 3")) == README
    assert ladder_table.written(README.replace("ms, no gain | 1.8", "ms, no gain | 2.8")) == README


@pytest.mark.parametrize("row", ROW.findall(README), ids=lambda row: row[0])
def test_the_table_is_what_the_samples_say(row: tuple[str, ...]) -> None:
    name, *numbers, error = row
    flops = 4096 * 4097 * 4098 / 3 * (3 if "split" in name else 1)
    rate = 989.4 if re.search("16|split", name) else 494.7 if "tf32" in name else 67.0
    for ways, told in ((WAYS, numbers[:3]), (H200, numbers[3:])):
        if name not in ways:
            assert told == [NOT_MEASURED] * 3
            continue
        median = _median(name, ways)
        share = flops / rate / 1e9 / median
        assert told == [f"{median:.4f}", f"{_median('eager', ways) / median:.2f}x", f"{share:.0%}"]
    found = H200.get(name) or WAYS.get(name)
    assert error == (f"{found['relative_error']['4096']:.1e}" if found else NOT_MEASURED)


def test_a_step_says_what_it_predicts_and_what_it_teaches() -> None:
    rows = {row["step"]: row for row in ladder_table.ladder({"ways": WAYS, "machine": {"gpu": "H100"}, "side": 4096})}
    assert list(rows) == STEPS
    said = {name: ladder_table.header(CLAIM.path / f"{name}.cu") for name in ("naive", "mma_tf32", "register_async")}
    assert [ladder_table.predicted_ms(one) for one in said.values()] == [51.0, pytest.approx(0.13), None]
    assert "count rows instead of columns" in said["naive"]["changed"]
    assert ladder_table.header(CLAIM.path / "triton_fp16.py")["predicted"].startswith("0.25 ms on an H100: the reads")
    assert rows["register_blocked"]["measured_ms"] == WAYS["register_blocked"]["median_ms"]
    assert rows["register_blocked"]["of_peak"] == pytest.approx(0.66, abs=0.01)
    assert rows["naive"]["lesson"].startswith("neighbouring threads")
    for row in some(rows.values()):
        assert "predicted" in ladder_table.steps()[row["step"]], row["step"]


@pytest.mark.parametrize("name", WAYS)
def test_errors_of_float32_ways_are_float32s(name: str) -> None:
    most = 5e-3 if "bf16" in name else 1e-3 if re.search("tf32|f16|fp16|float16", name) else 2e-6
    for side, error in some(WAYS[name]["relative_error"].items()):
        assert error <= most, side


def test_the_notebook_runs_and_shows_every_way(tmp_path: Path) -> None:
    executed = tmp_path / "executed.ipynb"
    command = ["papermill", "--no-progress-bar", "--cwd", str(ROOT / "notebooks"), "-p", "measure", "False"]
    notebook = str(ROOT / "notebooks/ladder.ipynb")
    outside = {key: value for key, value in os.environ.items() if not key.startswith("COLAB_")}
    done = subprocess.run(
        [sys.executable, "-m", *command, notebook, str(executed)],
        capture_output=True,
        text=True,
        check=False,
        env=outside,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    shown = executed.read_text(encoding="utf-8")
    assert all(name in shown for name in (*WAYS, *STEPS))
    assert "image/png" in shown
