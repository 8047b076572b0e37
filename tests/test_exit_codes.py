"""What `audit run` returns to a script: exit code 3 where the verdict is one that was named, and one line of JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit import claims
from audit.apps import cli
from audit.apps.commands.records import form, verdicts
from audit.apps.commands.run import ended
from audit.model import store
from tests.small_claim import CLAIM
from tests.test_own_reference import SOUND

RIGHT = "import torch\n\n\ndef forward(a, b):\n    return a @ b\n"
WRONG = "import torch\n\n\ndef forward(a, b):\n    return a @ b.T\n"


def claim(folder: Path, claimed: str) -> Path:
    """A product of two matrices as a claim folder."""
    folder.mkdir()
    for name, text in {"claim.toml": CLAIM.format(harness=""), "reference.py": SOUND, "claimed.py": claimed}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def ran(folder: Path, out: Path, *more: str) -> int:
    return cli.main(["run", "--device", "emulated", "--out", str(out), "--formats", "md", *more, str(folder)])


def test_a_verdict_that_is_named_ends_with_3(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert ran(claim(tmp_path / "claim", WRONG), out, "--fail-on", "undefined, wrong") == 3
    record, wanted, folder = store.read(out / store.RECORD), form("en", "md"), claims.load(str(tmp_path / "claim"))
    assert record.verdict.name == "wrong"
    assert record.generated == () and not (out / "generated").exists(), "nothing says what to change"
    for named, code in (("wrong", 3), ("undefined, wrong", 3), ("undefined,cannot be built", 0), ("", 0)):
        assert ended(record, out, wanted, folder=folder, failing=verdicts(named), json=False) == code


def test_json_is_the_only_line_on_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = claim(tmp_path / "claim", RIGHT)
    assert ran(folder, tmp_path / "out", "--json", "--fail-on", "wrong") == 0
    printed = capsys.readouterr()
    (line,) = printed.out.splitlines()
    said = json.loads(line)
    record = store.read(Path(said["record"]))
    assert (said["claim"], said["verdict"]["name"]) == ("claim", record.verdict.name)
    assert said["verdict"]["result"]["state"] == "right"
    assert said["reports"] == [str(tmp_path / "out" / "report.md")]
    assert f"verdict: {record.verdict.name}" in printed.err


def test_a_misspelt_verdict_is_refused_before_anything_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(claim(tmp_path / "claim", RIGHT), tmp_path / "out", "--fail-on", "wrong,undefind") == 2
    assert "--fail-on undefind: no verdict; did you mean undefined?" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
