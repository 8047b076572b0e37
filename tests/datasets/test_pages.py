"""What others wrote is shown and never takes effect: on a terminal, in Markdown, HTML or a spreadsheet."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from audit.apps import cli
from audit.lint import datasets
from audit.lint.datasets import page
from audit.report import html, markdown, safe_csv
from tests.datasets.made import archive, archived, lines, scores

HOSTILE = "=cmd|'/c calc'!A1 <script>alert(1)</script> \x1b[31m | [x](javascript:1) \u202e"


def test_names_in_rows_take_no_effect(tmp_path: Path) -> None:
    rows = [archived(ms, 9.0, Kernel_Name=f"{HOSTILE}{ms}", Correct=ms < 3) for ms in (1.0, 2.0, 3.0)]
    data = archive(tmp_path, [*rows, archived(-1.0, Kernel_Name=HOSTILE)], gpu="<b>mine</b>")
    answers = datasets.lint(data)
    report = page.build(data, answers, {})
    shown = html.render(report)
    assert "<script>" not in shown
    assert "<b>mine" not in shown
    assert "&lt;script&gt;" in shown
    written = markdown.render(report, figures="figures")
    assert "[x](" not in written
    text = written + page.text(data, answers)
    assert "\x1b" not in text
    assert "\u202e" not in text
    cells = [cell for row in csv.reader(io.StringIO(page.rows(answers))) for cell in row]
    assert not [cell for cell in cells if cell.startswith(safe_csv.FORMULA)]


def test_the_command_writes_what_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = lines(tmp_path / "h100.jsonl", [scores(2.0), scores(3.0, task_id=2), scores(-1.0, task_id=3)])
    out, alone = tmp_path / "out", tmp_path / "alone.md"
    assert cli.main(["lint", str(path), "--out", str(out), "--markdown", str(alone)]) == 0
    printed = capsys.readouterr().out
    assert "1 of 3 rows were left out" in printed
    assert "h100.jsonl, row 3, column score_default: -1.0" in printed
    assert sorted(file.name for file in out.iterdir()) == ["figures", "lint.csv", "lint.html", "lint.md"]
    assert alone.read_text() == (out / "lint.md").read_text()
    assert (tmp_path / "figures" / "ratios.png").is_file()
    shown = (out / "lint.html").read_text()
    assert shown.count("<picture>") == 2
    assert "http" not in shown.replace("http-equiv", "")


def test_a_file_that_cannot_be_written_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = lines(tmp_path / "h100.jsonl", [scores(2.0)])
    assert cli.main(["lint", str(path), "--csv", str(path / "x.csv")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_headings_wrap_and_long_tables_say_how_much_is_left(tmp_path: Path) -> None:
    rows = [archived(1.0 + place, PyTorch_Compile_Runtime=1.0, Task_ID=place, Level_ID=place) for place in range(40)]
    text = page.text(data := archive(tmp_path, rows, gpu="H100"), datasets.lint(data))
    assert "and 16 more rows" in text
    assert max(map(len, text.splitlines())) < 140


def test_a_dataset_without_a_single_score_still_has_a_page(tmp_path: Path) -> None:
    data = datasets.read(lines(tmp_path / "h100.jsonl", [scores(None, custom_code=None)]))
    answers = datasets.lint(data)
    assert page.counted(data).startswith("1 row, 0 of them with a ratio")
    assert html.render(page.build(data, answers, {}))
