"""The page of one claim on several GPUs: claimed, possible, measured or NOT MEASURED."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.apps import cli
from audit.model import Record, store
from audit.model.errors import BadInput
from audit.report import compare, markdown
from tests.report.test_compare import finished, timed


def rows(records: list[Record]) -> dict[str, tuple[str, ...]]:
    (table,) = compare.page(records, ()).sections[0].tables
    return {row[0]: row[1:] for row in table.rows}


def test_a_gpu_without_a_record_is_not_measured(record: Record) -> None:
    told = rows([timed(finished(record, "NVIDIA H100 80GB HBM3", "wrong"))])
    assert told["T4"][0] == "108.9x"
    assert told["T4"][4:] == ("not asked (wrong on NVIDIA H100 80GB HBM3)", *["NOT MEASURED"] * 3)
    assert told["H100"][4:] == ("wrong", "none: it is wrong", "shared_tiled", "1.5x")


def test_a_cleared_claimed_kernel_shows_its_own_ratio(record: Record) -> None:
    right = timed(finished(record, "NVIDIA H100", "overstated"))
    rungs = tuple(
        rung.model_copy(update={"variant": "claimed"}) for rung in right.ladder if rung.variant == "fixed_grid2d"
    )
    times = tuple(
        one.model_copy(update={"variant": "claimed"}) if one.variant == "fixed_grid2d" else one
        for one in right.measurements
    )
    told = rows([right.model_copy(update={"ladder": (*right.ladder, *rungs), "measurements": times})])
    assert told["H100"][4:6] == ("overstated", "0.5x")
    assert told["A100"][4:6] == ("not asked", "NOT MEASURED")


def test_the_page_says_what_carries_over_and_names_its_records(record: Record) -> None:
    both = [finished(record, "emulated device (CPU)", "wrong"), finished(record, "NVIDIA H100", "wrong")]
    text = markdown.render(compare.page(both, ()), figures="figures")
    assert "A verdict speaks for the shapes and the device it names" in text
    assert "2 records of one claim" in text
    assert "| NVIDIA H100 | wrong |" in text
    with pytest.raises(BadInput, match="incomplete"):
        compare.page([record], ())


def test_the_command_writes_page_and_figure(record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "record.json"
    store.write(timed(finished(record, "NVIDIA H100", "wrong")), path)
    assert cli.main(["compare", str(path), "--out", str(tmp_path / "out")]) == 0
    assert "wrote" in capsys.readouterr().out
    shown = (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")
    assert shown.count("<picture>") == 1
    assert (tmp_path / "out" / "figures" / "portability.png").read_bytes().startswith(b"\x89PNG")
    assert "NOT MEASURED" in (tmp_path / "out" / "compare.md").read_text(encoding="utf-8")
    (tmp_path / "file").write_text("")
    assert cli.main(["compare", str(path), "--out", str(tmp_path / "file")]) == 2
