"""Every tool of compute-sanitizer around a process of its own; a script stands for the program, no GPU is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit.build.settings import CheckedSettings
from audit.model import Harness
from audit.run.devices import sanitizer
from audit.run.devices.sanitizer import Sanitized, SanitizedCall
from audit.run.messages.event_models import Report
from tests.run.test_sanitizer_log import RACE, UNWRITTEN

SCRIPT = """#!/bin/sh
if [ "$1" = --help ]; then echo "{help}"; exit 0; fi
for word; do
  case "$before" in --tool) tool=$word;; --log-file) log=$word;; esac
  before=$word
done
echo "$@" >> "{folder}/asked"
case "$tool" in
  racecheck) cp "{folder}/race" "$log"; exit 1;;
  initcheck) cp "{folder}/unwritten" "$log"; echo '{{"inputs": [[{start}, 64]]}}' > "${{log%.log}}.ranges"; exit 1;;
  synccheck) {synccheck};;
  *) echo "========= ERROR SUMMARY: 0 errors" > "$log";;
esac
"""
DIGESTS = {Path("m.so"): "0" * 64}
ADDRESS = 0x7F3C7EC000FC


def ask(
    folder: Path, *, start: int = 0, synccheck: str = "exit 7", text: str = "", binding: Path | None = None
) -> list[dict[str, Any]]:
    (folder / "race").write_text(RACE)
    (folder / "unwritten").write_text(UNWRITTEN)
    program = folder / "compute-sanitizer"
    program.write_text(SCRIPT.format(folder=folder, start=start, synccheck=synccheck, help=text))
    program.chmod(0o755)
    device = Sanitized(
        CheckedSettings(digests=DIGESTS, sanitizer=program, library=Path("m.so"), module="m", binding=binding)
    )
    device.load("forward", Harness())()
    reports: list[dict[str, Any]] = device.trace()["reports"]
    for report in reports:
        Report.model_validate(report)
    return reports


def test_all_tools_are_asked_and_name_themselves(tmp_path: Path) -> None:
    found = {(one["tool"], one["kind"]) for one in ask(tmp_path, synccheck='echo "ERROR SUMMARY: 0 errors" > "$log"')}
    assert found == {("racecheck", "race-shared"), ("initcheck", "uninitialised-read")}
    asked = (tmp_path / "asked").read_text()
    assert all(f"--tool {tool}" in asked for tool in ("memcheck", "initcheck", "racecheck", "synccheck"))


def test_a_fast_build_is_called_with_what_it_is_loaded_from(tmp_path: Path) -> None:
    ask(tmp_path, binding=Path("binding.so"))
    calls = [line.split("audit.run.devices.sanitizer ")[1] for line in (tmp_path / "asked").read_text().splitlines()]
    assert len(calls) == len(sanitizer.TOOLS)
    for call in calls:
        asked = SanitizedCall.model_validate_json(call)
        assert (asked.library, asked.binding, asked.digests) == (Path("m.so"), Path("binding.so"), DIGESTS)


def test_a_tool_without_an_answer_is_never_a_clean_one(tmp_path: Path) -> None:
    (silent,) = (one for one in ask(tmp_path) if one["kind"] == "no-answer")
    assert (silent["tool"], "exit code 7" in silent["message"]) == ("synccheck", True)


def test_a_tool_that_takes_too_long_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitizer, "TOOL_LIMIT_S", 0.5)
    (silent,) = (one for one in ask(tmp_path, synccheck="exec sleep 60") if one["kind"] == "no-answer")
    assert "stopped after 0.5 s" in silent["message"]


def test_a_read_of_an_input_is_told_apart(tmp_path: Path) -> None:
    kinds = [one["kind"] for one in ask(tmp_path, start=ADDRESS - 60) if one["tool"] == "initcheck"]
    assert kinds == ["uninitialised-read-of-input", "uninitialised-read"]


@pytest.mark.parametrize(("text", "asked"), [("  --initcheck-address-space arg", True), ("  --tool arg", False)])
def test_shared_memory_is_looked_at_where_the_tool_can(tmp_path: Path, text: str, asked: bool) -> None:
    ask(tmp_path, text=text)
    assert ("--initcheck-address-space all" in (tmp_path / "asked").read_text()) is asked
