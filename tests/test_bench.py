"""Every script of `bench/` loads: one that names what the kit no longer has would fail only where somebody measures."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from audit.run.timing.ratios import Ratio

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
    tables = loaded(BENCH / "ladder_table.py", monkeypatch)
    taken = {"eager": (2.72, 2.7, 2.75), "diagonals": (0.948, 0.94, 0.95), "register_blocked": (0.524, 0.52, 0.53)}
    ways = {name: {"do_bench_ms": dict(zip(("median", "p20", "p80"), ms, strict=True))} for name, ms in taken.items()}
    head, _, *rows = tables.do_bench_table([{"machine": {"gpu": gpu}, "ways": ways}]).splitlines()
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in (head, *rows)]
    assert cells[0] == ["do_bench, ms", *columns]
    assert [row[0] for row in cells[1:]] == ["`register_blocked`", "`diagonals`", "`eager`"]
    assert cells[2][cell] == "0.9480 (0.9400 to 0.9500)"
    assert {one for row in cells[1:] for place, one in enumerate(row) if place not in (0, cell)} == {"NOT MEASURED"}


def test_the_ladder_has_every_baseline_of_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = loaded(BENCH / "ladder.py", monkeypatch)
    assert {"eager", "eager_tf32", "blocked", "diagonals", "diagonals_tf32", "diagonals_fp16"} <= {*ladder._baselines()}


@pytest.mark.parametrize(
    ("error", "shown"), [(6e-7, "fp32"), (2.9e-4, "tf32"), (2.4e-3, "bf16"), (0.0, "fp32"), (1.7e-7, "fp32")]
)
def test_the_precision_class_of_a_way_is_what_its_error_shows(
    error: float, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = loaded(BENCH / "ladder.py", monkeypatch)
    assert ladder.precision(error, {"fp32": 24.0, "tf32": 11.7, "fp16": 11.7, "bf16": 8.7}) == shown


def one(value: float, half: float = 0.01) -> Ratio:
    return Ratio(value, value - half, value + half, 12)


def test_false_alarms_and_intervals_that_hold_one_are_counted_by_callable(monkeypatch: pytest.MonkeyPatch) -> None:
    timing = loaded(BENCH / "timing.py", monkeypatch)
    sessions = [{"a": one(1.0), "b": one(1.005)}, {"a": one(1.015), "b": one(0.9)}, {"a": one(1.0), "b": one(1.05)}]
    counted = timing.of_sessions(sessions)
    assert (counted["sessions"], counted["sessions_with_an_alarm"]) == (3, 2)
    assert counted["words"] == {"a": {"same": 2, "inconclusive": 1}, "b": {"same": 1, "slower": 1, "faster": 1}}
    assert counted["holds_one"] == {"a": 66.7, "b": 33.3}
    assert counted["largest_difference"] == {"a": pytest.approx(0.015), "b": pytest.approx(0.1)}
    assert timing.of_sessions([])["sessions"] == 0


def test_intervals_are_held_against_the_processes_that_they_do_not_rest_on(monkeypatch: pytest.MonkeyPatch) -> None:
    timing = loaded(BENCH / "timing.py", monkeypatch)
    apart = [one(5.0 + 0.1 * place, half=0.05) for place in range(12)]
    found = timing.of_processes(apart)
    assert found["ratios"] == [5.0 + 0.1 * place for place in range(12)]
    assert found["spread"] == pytest.approx(6.1 / 5.0 - 1)
    assert found["one_session_holds"] == 0.0, "of twelve so far apart none holds the median of the others"
    assert 90.0 < found["six_hold"] <= 100.0
    alike = timing.of_processes([one(5.0 + 0.001 * place) for place in range(8)])
    assert alike["one_session_holds"] == 100.0
    few = timing.of_processes(apart[:7])
    assert (few["one_session_holds"], few["six_hold"]) == (None, None), "too few to be held against each other"


def test_a_disturbed_session_is_counted_by_what_it_says_beside_the_quiet_card(monkeypatch: pytest.MonkeyPatch) -> None:
    disturbed = loaded(BENCH / "disturbed.py", monkeypatch)
    again = {"again:": one(1.0)}
    quiet = [{"a": one(5.0), **again}, {"a": one(5.002), **again}, {"a": one(4.998), **again}]
    beside = [
        {"a": one(5.004), **again},
        {"a": one(5.4), **again},
        {"a": one(5.2, half=0.5), **again},
        {"a": one(0.9), **again},
        {"a": one(9.0), "again:": one(1.1)},
    ]
    counted = disturbed.counted(beside, quiet)
    assert (counted["sessions"], counted["controls_not_the_same"]) == (5, 1)
    assert counted["a"] == {
        "quiet_ratio": 5.0,
        "words": {"faster": 2, "inconclusive": 2, "slower": 1},
        "another_word": 1,
        "interval_off": 2,
        "farthest": pytest.approx(1 - 0.9 / 5.0),
    }
    assert disturbed.counted(quiet, quiet)["a"]["interval_off"] == 0


def test_ratios_of_repetitions_are_held_against_the_intervals_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    repeated = loaded(BENCH / "repeated.py", monkeypatch)
    record = repeated.read(BENCH.parent / "reports/triangular_mm/h100/record.json")
    pairs = 2 * len(record["ratios"])
    assert pairs > 40
    moved = {name: [1.015 * value for value in one] for name, one in record["ratios"].items()}
    moved["alone"] = [1.0, 1.0, 1.0]
    found = repeated.repeated([record, {**record, "ratios": moved}])
    assert len(found["ratios"]) == pairs / 2
    shares = found["intervals_that_hold_another"]
    held = {name: [int(word) for word in share.split(" of ")] for name, share in shares.items()}
    assert sum(count for _, count in held.values()) == 2 * pairs
    for whose in ("kernels", "baselines"):
        (alone, _), (allowed, every) = held[whose], held[f"{whose}, with that on either side"]
        assert alone < allowed == every
    assert {one["spread_percent"] for one in found["ratios"].values()} == {1.5}
    with pytest.raises(ValueError, match="one kind of GPU"):
        repeated.repeated([record, {**record, "gpu": "another"}])
