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

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench/results"
WAYS, H200, H200_MMA, H200_F16 = (
    json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["ways"]
    for name in ("h100_ladder", "h200_ladder", "h200_mma_tf32", "h200_wgmma_f16")
)
H200_WGMMA = {
    name: {"samples_ms": samples}
    for part in json.loads((RESULTS / "h200_wgmma_tf32.json").read_text(encoding="utf-8"))
    for name, samples in part.get("samples", {}).items()
}
OF_HEADERS = {"mma_tf32": H200_MMA, "wgmma_tf32": H200_WGMMA, "wgmma_f16": H200_F16}
"""The runs behind the headers of these; a header changed after a later run makes another source than was audited."""
OF_ROWS = {"wgmma_f16": H200_F16}
"""The runs on an H200 behind the rows of these, which joined after the run of the others."""
NOT_MEASURED = "NOT MEASURED"
CLAIM = load("triangular_mm")
README = (CLAIM.path / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"\| `(\w+)` \| (\S+|NOT MEASURED) \| (\S+|NOT MEASURED) \| (\S+) \| (\S+) \| ([\d.e-]+) \|")


def _median(name: str, ways: dict[str, Any] = WAYS) -> float:
    return statistics.median(ways[name]["samples_ms"])


def test_the_table_tells_every_way_that_was_measured() -> None:
    assert {name for name, *_ in ROW.findall(README)} == set(H200) | set(OF_ROWS) >= set(WAYS)


@pytest.mark.parametrize("row", ROW.findall(README), ids=lambda row: row[0])
def test_the_table_is_what_the_samples_say(row: tuple[str, ...]) -> None:
    name, *numbers, error = row
    own = OF_ROWS.get(name, H200)
    for ways, told in ((WAYS, numbers[:2]), (own, numbers[2:])):
        found = (
            (f"{_median(name, ways):.4f}", f"{_median('eager', ways) / _median(name, ways):.2f}x")
            if name in ways
            else ()
        )
        assert told == (list(found) or [NOT_MEASURED] * 2)
    assert error == f"{own[name]['relative_error']['4096']:.1e}"


def test_every_repair_was_measured() -> None:
    assert {variant.name for variant in CLAIM.claim.variant if variant.role == "repair"} <= set(H200) | set(OF_ROWS)


@pytest.mark.parametrize("variant", CLAIM.claim.variant, ids=lambda variant: variant.name)
def test_a_header_that_tells_a_gain_tells_the_measured_one(variant: object) -> None:
    name = variant.name  # type: ignore[attr-defined]
    text = (CLAIM.path / variant.file).read_text(encoding="utf-8")  # type: ignore[attr-defined]
    ways = OF_HEADERS.get(name, WAYS)
    for before_ms, before, after_ms in re.findall(r"gained .*: ([\d.]+) ms \((\w+)\) -> ([\d.]+) ms", text):
        assert (before_ms, after_ms) == (f"{_median(before, ways):.3f}", f"{_median(name, ways):.3f}")


@pytest.mark.parametrize("name", WAYS)
def test_errors_of_float32_ways_are_float32s(name: str) -> None:
    tensor_cores = {"wmma_f16", "wmma_tf32", "mma_tf32", "wgmma_tf32", "wgmma_f16"}
    rounds_inputs = name in tensor_cores | {"eager_tf32", "float16"}
    for side, error in some(WAYS[name]["relative_error"].items()):
        assert error <= (1e-3 if rounds_inputs else 2e-6), side


def test_the_notebook_runs_and_shows_every_way(tmp_path: Path) -> None:
    executed = tmp_path / "executed.ipynb"
    command = ["papermill", "--no-progress-bar", "--cwd", str(ROOT / "notebooks")]
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
    assert all(name in shown for name in (*WAYS, "register_blocked"))
    assert "image/png" in shown
