"""Tables of strangers: four formats, bounds, and bad rows that leave the good ones alone."""

from __future__ import annotations

import csv
import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

from audit.claims.importers import rows, tables
from audit.model import untrusted
from audit.model.errors import BadInput

ROWS: list[dict[str, Any]] = [
    {"name": "one", "ms": 1.5, "code": 'line\nnext, "quoted"'},
    {"name": "two", "ms": None, "code": "ünï"},
    {"name": "three", "ms": 0.25, "code": None},
]


def as_csv(path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(ROWS[0]))
        writer.writeheader()
        writer.writerows(ROWS)
    return path


def as_parquet(path: Path) -> Path:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(ROWS), path)
    return path


def as_text(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def as_lines(path: Path) -> Path:
    return as_text(path, "".join(json.dumps(row) + "\n" for row in ROWS))


def as_page(path: Path) -> Path:
    page = {"features": [{"name": "ms"}], "rows": [{"row_idx": k, "row": row} for k, row in enumerate(ROWS)]}
    return as_text(path, json.dumps({**page, "num_rows_total": 3}))


def packed(path: Path) -> Path:
    target = path.with_name(f"{path.name}.gz")
    target.write_bytes(gzip.compress(path.read_bytes()))
    return target


WRITERS = {
    "csv": lambda folder: as_csv(folder / "t.csv"),
    "csv.gz": lambda folder: packed(as_csv(folder / "t.csv")),
    "parquet": lambda folder: as_parquet(folder / "t.parquet"),
    "array": lambda folder: as_text(folder / "t.json", json.dumps(ROWS, indent=1)),
    "page": lambda folder: as_page(folder / "t.json"),
    "lines": lambda folder: as_lines(folder / "t.jsonl"),
    "lines without the suffix": lambda folder: as_lines(folder / "t.txt"),
    "lines.gz": lambda folder: packed(as_lines(folder / "t.jsonl")),
}


@pytest.mark.parametrize("format_", WRITERS)
def test_every_format_gives_the_same_rows(format_: str, tmp_path: Path) -> None:
    path = WRITERS[format_](tmp_path)
    table = tables.read(path, ["name", "code"], positive=["ms"])
    assert (list(table.frame.index), table.rejected, table.rejections()) == ([1, 2, 3], (), [])
    assert list(table.frame["name"]) == ["one", "two", "three"]
    assert list(table.frame["code"]) == [row["code"] for row in ROWS]
    assert table.frame["ms"].dtype == float
    assert [None if math.isnan(x) else x for x in table.frame["ms"]] == [1.5, None, 0.25]
    assert set(tables.names(path)) == {"name", "ms", "code"}


def test_lists_under_keys_carry_their_key(tmp_path: Path) -> None:
    path = as_text(tmp_path / "codes.json", json.dumps({"1": [{"task_id": 4}, {"task_id": 5}], "2": {"task_id": 6}}))
    frame = tables.read(path).frame
    assert list(zip(frame["key"], frame["task_id"], strict=True)) == [("1", 4), ("1", 5), ("2", 6)]
    assert tables.names(path) == ("key", "task_id")


def test_only_the_columns_asked_for_are_read(tmp_path: Path) -> None:
    assert list(tables.read(as_parquet(tmp_path / "t.parquet"), ["name"]).frame.columns) == ["name"]
    with pytest.raises(BadInput, match="no column absent; the file has: name, ms, code"):
        tables.read(as_csv(tmp_path / "t.csv"), ["name", "absent"])


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("NaN", "it must be finite and above zero"),
        ("-1.5", "it must be finite and above zero"),
        ("0", "it must be finite and above zero"),
        ("inf", "it must be finite and above zero"),
        ("3.2 ms", "is no number; write it without a unit"),
        ("1_0", "is no number"),
    ],
)
def test_a_bad_time_rejects_its_row_alone(cell: str, reason: str, tmp_path: Path) -> None:
    table = tables.read(as_text(tmp_path / "t.csv", f"a,ms\nx,1\ny,{cell}\nz,3\n"), ["a"], positive=["ms"])
    assert list(table.frame.index) == [1, 3]
    (rejected,) = table.rejected
    assert (rejected.row, rejected.column) == (2, "ms")
    assert reason in rejected.reason
    assert table.rejections()[-1].endswith("1 rejected, 2 good rows go on")


def test_values_that_json_alone_can_hold(tmp_path: Path) -> None:
    lines = ['{"ms": NaN}', '{"ms": true}', '{"ms": [1]}', '{"ms": 1e999}', '{"ms": 2}', f'{{"ms": {"9" * 400}}}']
    table = tables.read(as_text(tmp_path / "t.jsonl", "\n".join(lines)), positive=["ms"])
    assert list(table.frame["ms"]) == [2.0]
    assert [one.row for one in table.rejected] == [1, 2, 3, 4, 6]


@pytest.mark.parametrize(
    ("file", "text", "good", "bad", "reason"),
    [
        ("t.csv", 'a,b\n1,2\n3\n4,5,6\n"7,8\n', [1], [2, 3, 4], "1 cells where the header names 2"),
        ("t.jsonl", '{"a": 1}\n{"a": \n[3]\n{"a": 4}\n', [1, 4], [2, 3], "no JSON (Expecting value"),
        ("t.json", '[{"a": 1},\n {"a": 2}, {"a" 3}]', [1, 2], [3], "broken JSON at line 2, character 17 of it"),
        ("t.json", '[{"a": 1}, {"a": 2}, {"a', [1, 2], [3], "it was cut short"),
        ("t.json", '[{"a": 1}, {"a": 2}', [1, 2], [3], "it was cut short"),
        ("t.json", '{"1": [{"a": 1}, {"a": 2}], "2": [{"a": 3}', [1, 2, 3], [4], "it was cut short"),
        ("t.json", '[{"a": 1}, 7, {"a": 3}]', [1, 3], [2], "no JSON object but int"),
        ("t.json", '[{"a": 1}, {"a": "\\ud800"}]', [1], [2], "not UTF-8 at character 0"),
        ("t.json", '[{"a": 1}, ' + "[" * 200_000, [1], [2], "nested too deeply"),
    ],
)  # fmt: skip
def test_bad_rows_leave_the_good_ones_alone(
    file: str, text: str, good: list[int], bad: list[int], reason: str, tmp_path: Path
) -> None:
    table = tables.read(as_text(tmp_path / file, text))
    assert list(table.frame.index) == good
    assert [one.row for one in table.rejected] == bad
    assert reason in table.rejected[0].reason


def test_cells_that_the_server_cut_short(tmp_path: Path) -> None:
    rows = [{"row_idx": k, "row": {"a": k, "code": "x"}, "truncated_cells": ["code"] * k} for k in range(2)]
    path = as_text(tmp_path / "t.json", json.dumps({"rows": rows}))
    assert "cut short by the server" in tables.read(path, ["a", "code"]).rejected[0].reason
    assert tables.read(path, ["a"]).rejected == ()


def test_names_of_lines_stand_inside_the_servers_envelope(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"row_idx": 0, "row": {"a": 1, "b": 2}, "truncated_cells": []}\n')
    assert tables.names(path) == ("a", "b")
    assert list(tables.read(path).frame.columns) == ["a", "b"]


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,\xff\n2,x\n")
    table = tables.read(tmp_path / "t.csv")
    assert list(table.frame["a"]) == ["2"]
    assert str(table.rejected[0]) == "row 1, column b: not UTF-8 at character 0"


def test_gzip_that_breaks_off_gives_what_came_before(tmp_path: Path) -> None:
    text = "a\n" + "".join(f"{k * k * 7919 % 10007}\n" for k in range(20_000))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode())[:-9])
    table = tables.read(tmp_path / "t.csv.gz")
    assert len(table.frame) > 1000
    assert "breaks off" in table.rejected[0].reason


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz"])
def test_damage_in_a_small_file_leaves_the_rows_before_it(name: str, tmp_path: Path) -> None:
    values = [k * k * 7919 % 10007 for k in range(400)]
    lines = ["a", *map(str, values)] if name == "t.csv.gz" else [json.dumps({"a": value}) for value in values]
    packed = bytearray(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    packed[-12:] = bytes(255 - byte for byte in packed[-12:])
    (tmp_path / name).write_bytes(packed)
    table = tables.read(tmp_path / name)
    assert [float(one) for one in table.frame["a"]][:100] == [float(value) for value in values[:100]]
    assert table.rejected


@pytest.mark.parametrize("name", ["t.json.gz", "t.jsonl.gz"])
def test_damage_behind_the_last_row_is_told(name: str, tmp_path: Path) -> None:
    rows = [{"a": float(k)} for k in range(100_000)]
    text = json.dumps(rows) if name == "t.json.gz" else "".join(f"{json.dumps(row)}\n" for row in rows)
    packed = bytearray(gzip.compress(text.encode()))
    packed[-8] ^= 1  # of the checksum
    (tmp_path / name).write_bytes(packed)
    table = tables.read(tmp_path / name)
    assert len(table.frame) == len(rows)
    assert [one.row for one in table.rejected] == [len(rows) + 1]
    assert "damaged" in table.rejected[0].reason


def test_a_gzip_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "RATIO_FROM_BYTES", 1 << 20)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a\n" + b"0\n" * (2 << 20)))
    with pytest.raises(BadInput, match=r"grows past 1,\d+,\d+ bytes when unpacked"):
        tables.read(path)


def test_a_parquet_bomb_is_refused_by_its_footer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "TABLE_BYTES", 1_000_000)
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    texts = pa.array([f"{k}" + "0" * 100_000 for k in range(20)])
    parquet.write_table(pa.table({"a": texts, "b": list(range(20))}), path, compression="gzip", use_dictionary=False)
    assert path.stat().st_size < 50_000
    with pytest.raises(BadInput, match="bytes when unpacked; at most 1,000,000 are read"):
        tables.read(path)
    assert len(tables.read(path, ["b"]).frame) == 20


def test_a_text_that_stands_in_many_rows_of_parquet_is_kept_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(untrusted, "TABLE_BYTES", 1_000_000)
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": ["x" * 10_000] * 3000}), tmp_path / "t.parquet")
    frame = tables.read(tmp_path / "t.parquet").frame
    assert len({id(text) for text in frame["a"]}) <= 1 + 3000 // rows.ROWS_AT_ONCE


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"PK\x03\x04rest", "a zip file; unpack it first"),
        (b"PAR1 and no more", "damaged Parquet"),
        (b"\x00\x01\x02", "neither Parquet, CSV, JSON nor JSONL"),
        (b"\x1f\x8bnothing", "breaks off or is damaged"),
        (b"[", "cut short"),
        (b"a,a\n1,2\n", "names column a twice"),
        (b'"open', "the header, cannot be read"),
        (b"[]", "no rows"),
    ],
)
def test_what_is_no_table_is_one_sentence(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(data)
    with pytest.raises(BadInput, match=message) as error:
        tables.read(tmp_path / "t")
    assert "\n" not in str(error.value)


def test_missing_folder_and_too_large(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file"):
        tables.read(tmp_path / "absent.csv")
    with pytest.raises(BadInput, match="no plain file"):
        tables.read(tmp_path)
    with (tmp_path / "sparse.csv").open("wb") as file:
        file.truncate(3 << 30)
    with pytest.raises(BadInput, match="3,221,225,472 bytes; at most 2,147,483,648"):
        tables.read(tmp_path / "sparse.csv")
