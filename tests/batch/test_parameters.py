"""What the notebook is told is held to its own cell before anything runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from papermill.iorw import read_yaml_file

from audit.apps import cli
from audit.apps.batch import parameters
from audit.apps.batch.command import NOTEBOOK
from audit.model.errors import BadInput
from tests.batch import tiny

KNOWN: parameters.Values = {"version": "1", "runs": 3, "scale": 1.0, "deep": True, "any": None}


def test_the_notebook_of_this_kit_takes_what_a_batch_sets() -> None:
    assert set(parameters.OURS) <= set(parameters.defaults(NOTEBOOK))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version: 2.10", "version is 2.1, and must be text: quote it"),
        ("version: 1234567", "must be text: quote it"),
        ("runs: '3'", "must be a whole number"),
        ("runs: true", "must be a whole number"),
        ("deep: 1", "must be true or false"),
        ("deep: 'false'", "must be true or false"),
        ("scale: fast", "must be a number"),
        ("verson: '1'", "unknown parameter verson; the notebook knows version, runs"),
        ("out: elsewhere", "unknown parameter out"),
    ],
)
def test_wrong_values_are_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(BadInput, match=re.escape(words)):
        parameters.of_all(tmp_path / "p.yaml", KNOWN)


@pytest.mark.parametrize(("file", "text"), [("p.toml", "version = 12e4567"), ("p.json", '{"version": 12e4567}')])
def test_a_short_hash_that_looks_like_a_number_is_told(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text)
    table = parameters.table(tmp_path / file)
    if table["version"] != "12e4567":  # YAML 1.1 needs a sign and a point for a power of ten, and reads text
        with pytest.raises(BadInput, match="12e4567 as a number"):
            parameters.of_all(tmp_path / file, KNOWN)


@pytest.mark.parametrize(("file", "text"), [("p.yaml", "a: [1"), ("p.toml", "a = "), ("absent.yaml", None)])
def test_a_broken_file_is_one_sentence(tmp_path: Path, file: str, text: str | None) -> None:
    if text is not None:
        (tmp_path / file).write_text(text)
    with pytest.raises(BadInput) as error:
        parameters.table(tmp_path / file)
    assert "\n" not in str(error.value)


def test_papermill_reads_what_is_written_for_it(tmp_path: Path) -> None:
    texts = {"version": "2.10", "hash": "12e4567", "number": "1234567", "truth": "false", "text": 'a "b"\n: 語'}
    values: parameters.Values = {**texts, "deep": True, "runs": 3, "scale": 1e-07}
    parameters.write(values, tmp_path / "p.yaml")
    assert read_yaml_file(str(tmp_path / "p.yaml")) == values
    assert ': "12e4567"' in (tmp_path / "p.yaml").read_text()


def test_a_batch_told_wrong_parameters_runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.yaml").write_text("version: 2.10\n")
    arguments = ["--notebook", str(tiny.notebook(tmp_path / "tiny.ipynb")), "--parameters", str(tmp_path / "p.yaml")]
    assert cli.main(["batch", "triangular_mm", "--out", str(tmp_path / "out"), *arguments]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "quote it" in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("source", "words"), [("claim = 'x'\n", "no device, out, interactive"), ("claim = f()\n", "plain assignments")]
)
def test_a_notebook_that_cannot_take_them(tmp_path: Path, source: str, words: str) -> None:
    path = tiny.notebook(tmp_path / "n.ipynb")
    text = path.read_text().replace(
        tiny.PARAMETERS.replace('"', '\\"').replace("\n", "\\n"), source.replace("\n", "\\n")
    )
    path.write_text(text)
    with pytest.raises(BadInput, match=words):
        parameters.defaults(path)


def test_a_notebook_for_a_kernel_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tiny.notebook(tmp_path / "n.ipynb")
    path.write_text(path.read_text().replace('"python3"', '"julia-9"'))
    assert cli.main(["batch", "triangular_mm", "--out", str(tmp_path / "out"), "--notebook", str(path)]) == 2
    assert "asks for the kernel 'julia-9'" in capsys.readouterr().err
