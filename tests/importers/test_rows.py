"""Which row of a table is meant, and what is said of the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit.claims import importers
from audit.claims.importers.facts import Given, Imported
from audit.model.errors import BadInput
from tests.importers import published
from tests.importers.published import ARCHIVE_ROW, CUDA_L1_ROW, lines


def archive(folder: Path, *rows: dict[str, Any], **given: Any) -> Imported:
    (folder / "level_1.jsonl").write_text(lines(*rows), encoding="utf-8")
    return importers.read([folder / "level_1.jsonl"], given=Given(**given))


def row(**changed: Any) -> dict[str, Any]:
    return ARCHIVE_ROW | changed


def test_by_number_and_by_value(tmp_path: Path) -> None:
    rows = [row(Task_ID=7), row(Task_ID=8, Op_Name="other"), row(Task_ID=9)]
    assert archive(tmp_path, *rows, row=2).name == "other"
    assert archive(tmp_path, *rows, select=("Task_ID", "8")).provenance == "level_1.jsonl row 2"


def test_several_rows_are_not_chosen_between(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=r"2 rows \(rows 1, 2\); choose one with --row N, or audit import --select COLUMN=VALUE"
    ):
        archive(tmp_path, row(), row(Task_ID=8))
    with pytest.raises(BadInput, match="2 rows with Task_ID = 7"):
        archive(tmp_path, row(), row(Op_Name="other"), select=("Task_ID", "7"))
    with pytest.raises(BadInput, match="no row 9; rows go from 1 to 2"):
        archive(tmp_path, row(), row(), row=9)
    with pytest.raises(BadInput, match="--select Colour: no such column; the file has: Op_Name"):
        archive(tmp_path, row(), select=("Colour", "red"))


def test_duplicate_rows_count_once_and_are_told(tmp_path: Path) -> None:
    found = archive(tmp_path, row(), row(), row(Task_ID=8), select=("Task_ID", "7"))
    assert found.provenance == "level_1.jsonl row 1"
    assert "rows 2 say the same as row 1 and are left out" in found.rejected[0]


@pytest.mark.parametrize("value", ["NaN", "-0.5", "0", '"3 ms"'])
def test_a_row_with_a_bad_time_is_refused_and_the_others_go_on(value: str, tmp_path: Path) -> None:
    bad = json.dumps(row(CUDA_Runtime="here")).replace('"here"', value)
    path = tmp_path / "level_1.jsonl"
    path.write_text(f"{bad}\n{lines(row(Task_ID=8))}", encoding="utf-8")
    with pytest.raises(BadInput, match="row 1, column CUDA_Runtime: "):
        importers.read([path], given=Given(row=1))
    found = importers.read([path], given=Given(row=2))
    assert found.auditable
    assert found.rejected[-1].endswith("1 rejected, 1 good rows go on")


def test_a_truncated_file_gives_the_rows_before_the_break(tmp_path: Path) -> None:
    path = tmp_path / "level_1.json"
    path.write_text(json.dumps([row(), row(Task_ID=8)])[:-20], encoding="utf-8")
    found = importers.read([path], given=Given(row=1))
    assert found.auditable
    assert "row 2: the JSON text ends" in found.rejected[0]


@pytest.mark.parametrize(("column", "key"), [("CUDA_Code", "variant"), ("PyTorch_Code_Functional", "reference.py")])
def test_an_archive_row_without_code_or_task_says_so(column: str, key: str, tmp_path: Path) -> None:
    found = archive(tmp_path, row(**{column: None}))
    assert key in [one.key for one in found.missing if one.essential]


def test_parquet_and_csv_rows_say_the_same(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame([ARCHIVE_ROW])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    expected = archive(tmp_path, ARCHIVE_ROW)
    for name in ("rows.csv", "rows.parquet"):
        found = importers.read([tmp_path / name])
        assert found.claimed == expected.claimed
        assert [figure.value for figure in found.figures] == [figure.value for figure in expected.figures]


def test_the_codes_of_cuda_l1_stand_under_their_level(tmp_path: Path) -> None:
    path = tmp_path / "a100.json"
    coded = {key: CUDA_L1_ROW[key] for key in ("task_id", "ref_code", "custom_code", "score_default")}
    path.write_text(json.dumps({"1": [coded, coded | {"task_id": 8}]}), encoding="utf-8")
    found = importers.read([path], given=Given(select=("task_id", "8")))
    assert (found.name, found.title) == ("cuda_l1_1_8", "CUDA-L1, level 1, task 8")
    assert [(one.about, one.value, one.gpu) for one in found.figures] == [("eager", 2.5, "A100")]


def test_a_row_of_cuda_l1_without_code_claims_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a100.jsonl"
    path.write_text(lines(CUDA_L1_ROW | {"custom_code": None}), encoding="utf-8")
    with pytest.raises(
        BadInput, match="row 1, column custom_code: MISSING, empty or the text None, so the row claims nothing"
    ):
        importers.read([path])


def test_a_format_that_is_named_counts(tmp_path: Path) -> None:
    folder = published.write(tmp_path, **published.FORMATS["bare_cu"])
    with pytest.raises(BadInput, match="no table with a column CUDA_Code"):
        importers.read([folder], format_="archive")
    with pytest.raises(BadInput, match="--format tarot: unknown; known: archive, cuda_l1"):
        importers.read([folder], format_="tarot")
