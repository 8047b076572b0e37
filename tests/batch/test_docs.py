"""docs/batch.md shows the options there are and no other."""

from __future__ import annotations

import re

import pytest

from audit.apps import cli
from tests.batch import tiny

TEXT = (tiny.ROOT / "docs" / "batch.md").read_text(encoding="utf-8")


def test_the_options_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["batch", "--help"])
    known = set(re.findall(r"--[a-z]+", capsys.readouterr().out)) - {"--help"}
    head = TEXT.partition("\n\nEach claim")[0]
    assert set(re.findall(r"--[a-z]+", head)) == known
