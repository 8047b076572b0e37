"""What is printed holds no character that moves a cursor, and a text of others is one line, whoever prints it."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import pytest

import audit
from audit.apps import cli
from audit.apps.batch import summary
from audit.model import sanitizer
from audit.model.errors import BadInput
from audit.report import terminal
from audit.report.progress import Progress
from tests.strangers.hostile import BROKEN, HOSTILE, NAMES, batch, unseen

ROOT = Path(audit.__file__).parent
PRINTS = {
    "apps/commands/run.py", "apps/selftest/command.py", "apps/pages/__main__.py",
    "apps/commands/published.py", "apps/pr/command.py",
    "build/cuda/compile.py", "build/cuda/fast_nvrtc.py",
    "review/hints.py", "sandbox/launch.py", "sandbox/attempts.py",
}  # fmt: skip
"""Who prints without `terminal`: JSON, which is ASCII, pages of our own texts, and children whose parent reads them."""


def test_nothing_else_prints() -> None:
    found = set()
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "print(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                found.add(path.relative_to(ROOT).as_posix())
    assert {one for one in found if not one.startswith("run/")} == PRINTS


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: ascii(text)[:20])
def test_a_text_is_one_line(text: str) -> None:
    stream = io.StringIO()
    terminal.say(f"  {text}", "after", file=stream)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2 and lines[1] == "after"
    assert not unseen(stream.getvalue())
    assert len(lines[0]) <= terminal.MOST_CHARACTERS


def test_columns_set_by_us_stay() -> None:
    stream = io.StringIO()
    terminal.say("  a    b", file=stream)
    assert stream.getvalue() == "  a    b\n"


def test_a_terminal_without_the_letter_gets_another() -> None:
    data = io.BytesIO()
    stream = io.TextIOWrapper(data, encoding="ascii", write_through=True)
    terminal.say("2 µs ≥ 1", file=stream)
    assert data.getvalue() == b"2 ?s ? 1\n"


def test_progress_is_a_line_a_thing() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    with progress.stage("build"):
        progress.say(HOSTILE)
    assert not unseen(stream.getvalue())
    assert len(stream.getvalue().splitlines()) == 1


def test_a_batch_is_told_a_line_a_count() -> None:
    hostile, harmless = (summary.text(*batch(text)) for text in (HOSTILE, "x"))
    assert not unseen(hostile)
    assert len(hostile.splitlines()) == len(harmless.splitlines())


@pytest.mark.parametrize("name", [*NAMES, HOSTILE[:150]], ids=ascii)
@pytest.mark.parametrize(
    "command",
    ["run", "report", "compare", "bundle", "verify", "review", "lint", "import", "batch", "batch --screen", "--no"],
)
def test_a_name_nobody_has_is_one_line(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = cli.main([*command.split(), name])
    except SystemExit as ending:
        code = int(ending.code or 0)
    out, err = capsys.readouterr()
    assert code == 2
    assert not unseen(out + err)
    assert len([line for line in err.splitlines() if not line.startswith(("usage:", " "))]) == 1


def test_a_hostile_source_is_reviewed_a_line_a_hint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a\x1b[2J\u202e\nb.cu"
    file.write_text(f"// {HOSTILE}\n__global__ void k\u202e(float* x) {{ x[blockIdx.x] = 1; }}\n", encoding="utf-8")
    assert cli.main(["review", str(file)]) == 0
    result = capsys.readouterr().out
    assert result and not unseen(result)
    assert all(":" in line for line in result.splitlines())


def test_a_notebook_shows_a_sentence() -> None:
    (line,) = BadInput(HOSTILE)._render_traceback_()
    assert not unseen(line, allowed="")


def test_a_long_text_is_read_at_its_beginning_alone() -> None:
    assert sanitizer.line("\u202e" * (sanitizer.READ * sanitizer.LINE_CHARACTERS) + "never") == "…"
    assert sanitizer.block("\u202e" * (sanitizer.READ * sanitizer.BLOCK_CHARACTERS) + "never") == "…"
    assert sanitizer.line("a" + "\u0301" * 500) == "a" + "\u0301" * sanitizer.MOST_MARKS
