"""`action.yml` and the workflow of the guide: every input is used, none stands in a shell, every command exists."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit.apps import cli
from audit.apps.commands import COMMANDS
from audit.apps.pr.command import COMMENT, SARIF
from tests.importers import published

pytestmark = pytest.mark.audits

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
GUIDE = (ROOT / "docs/pull_requests.md").read_text(encoding="utf-8")
INPUT = re.compile(r"\binputs\.([\w-]+)")


def test_every_input_is_used_and_no_other() -> None:
    assert set(INPUT.findall(str(STEPS))) == set(ACTION["inputs"])
    assert all(one["description"] for one in ACTION["inputs"].values())


def test_no_expression_stands_in_a_shell() -> None:
    scripts = [step["run"] for step in STEPS if "run" in step]
    assert len(scripts) == 2
    assert not [text for text in scripts if "${{" in text]
    given = {name for step in STEPS for name in step.get("env", {})}
    assert given <= set(re.findall(r'"[^"]*\$\{?(\w+)', "\n".join(scripts))) | {"SHAPE"}


def test_its_commands_and_files_exist() -> None:
    (script,) = [step["run"] for step in STEPS if step.get("id") == "audit"]
    assert re.findall(r'/bin/audit" (\w+)', script) == ["pr"]
    assert {COMMENT, SARIF} <= set(re.findall(r"\$out/([\w.]+)", script))
    constraints = re.findall(r'\$KIT/([\w.]+)"', STEPS[0]["run"])
    assert [(ROOT / name).is_file() for name in constraints] == [True]


def test_commands_of_the_guide_are_those_of_the_help_and_its_workflow_gives_known_inputs() -> None:
    assert tuple(re.findall(r"^    (audit pr .+)$", GUIDE, re.MULTILINE)) == COMMANDS["pr"].examples
    (text,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    workflow = yaml.safe_load(text)
    *_, last = workflow["jobs"]["audit"]["steps"]
    assert set(last["with"]) <= set(ACTION["inputs"])
    required = {name for name, one in ACTION["inputs"].items() if one.get("required")}
    assert required <= set(last["with"])
    assert "pull_request_target" not in workflow[True]


def environment(folder: Path, **inputs: str) -> dict[str, str]:
    """What a runner gives the step that audits, with the kit of this process in place of the installed one."""
    (bin_ := folder / "runner/audit-venv/bin").mkdir(parents=True)
    (bin_ / "audit").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m audit "$@"\n', encoding="utf-8")
    (bin_ / "audit").chmod(0o755)
    (step,) = [step for step in STEPS if step.get("id") == "audit"]
    names = {name: INPUT.findall(value)[0] for name, value in step["env"].items()}
    given = {name: inputs.get(one, str(ACTION["inputs"][one].get("default", ""))) for name, one in names.items()}
    files = {name: str(folder / name.lower()) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    return {**os.environ, **given, **files, "RUNNER_TEMP": str(folder / "runner")}


def stepped(folder: Path, tmp_path: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    (step,) = [step for step in STEPS if step.get("id") == "audit"]
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    env = environment(tmp_path, **inputs)
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    published.write(folder, task__py=published.REFERENCE)
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    for text in (published.CU, published.CU.replace("if (i < count)", "if (2 * i < count)")):
        published.write(folder, kernel__cu=text)
        subprocess.run(["git", "add", "."], cwd=folder, check=True)
        subprocess.run(["git", *who, "commit", "-q", "-m", "m"], cwd=folder, check=True)
    return folder


def test_the_step_fails_a_wrong_change_and_leaves_its_summary(repository: Path, tmp_path: Path) -> None:
    done = stepped(repository, tmp_path, kernel="kernel.cu", reference="task.py", base="HEAD~1", tolerance="1e-5",
                   device="emulated", shape="rows=64")  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "**HEAD against BASE**: NOT MEASURED" in (tmp_path / "github_step_summary").read_text(encoding="utf-8")
    output = dict(line.split("=", 1) for line in (tmp_path / "github_output").read_text(encoding="utf-8").splitlines())
    assert Path(output["sarif"]).is_file()
    assert Path(output["results"], "junit.xml").is_file()


def test_an_input_is_data_and_never_a_command(repository: Path, tmp_path: Path) -> None:
    done = stepped(
        repository, tmp_path, **dict.fromkeys(ACTION["inputs"], '$(touch there) `touch there`"; touch there; "')
    )
    assert done.returncode == 2, done.stdout
    assert not (repository / "there").exists()


def test_the_help_of_the_command_names_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["pr", "--help"])
    assert "verdicts and slower" in " ".join(capsys.readouterr().out.split())
