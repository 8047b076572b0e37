"""The README shows what the commands print, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit.apps import cli
from audit.build.emulated.toolchain import LEAST_GXX

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_comparison_is_what_the_command_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    gallery = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    command = re.search(r"`audit (compare [^`]+)`", gallery)
    assert command is not None
    assert cli.main(command[1].split()) == 0
    assert capsys.readouterr().out in gallery


def test_every_command_is_shown_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    known = set(re.findall(r"^    ([\w-]+)(?: |$)", capsys.readouterr().out, re.MULTILINE))
    assert known == set(re.findall(r"^    audit ([\w-]+)", README, re.MULTILINE))


def test_the_compiler_it_asks_for_is_the_least_that_is_taken() -> None:
    assert re.findall(r"g\+\+ (\d+) or newer", README) == [str(LEAST_GXX)]


def test_files_and_commands_it_names_exist() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if not link.startswith("https:")]
    assert links
    assert all((ROOT / link).exists() for link in links)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^    make (\w+)", README, re.MULTILINE):
        assert f"\n{target}:" in makefile
