from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from audit.apps import cli
from audit.model import untrusted
from tests.conftest import some

CLAIMED = Path(__file__).parents[2] / "kernels/triangular_mm/claimed.cu"


def test_prints_line_rule_sentence_and_probe(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["review", str(CLAIMED)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    place, result = first.split(": hint: launch_geometry: ")
    assert "<<<" in CLAIMED.read_text().splitlines()[int(place.rsplit(":", 1)[1]) - 1]
    assert "kernel triangular_mm_kernel" in result and result.endswith("(probe: coverage)")


def test_several_files_of_both_languages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python, quiet = tmp_path / "a.py", tmp_path / "b.cu"
    python.write_text("import gc\nfound = gc.get_objects()\n")
    quiet.write_text("int f() { return 1; }\n")
    assert cli.main(["review", str(python), str(quiet)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{python}:2: hint: heap_scan: ")
    assert lines[1] == f"{quiet}: no rule points at a line"


def test_json_holds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["review", "--json", str(CLAIMED)]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["schema"] == 1
    (file,) = values["files"]
    assert file["file"] == str(CLAIMED)
    assert {hint["rule"]: hint["confirm_with"] for hint in file["hints"]}["launch_geometry"] == "coverage"
    assert all(set(hint) == {"line", "rule", "standing", "message", "confirm_with"} for hint in file["hints"])


def bad_inputs(folder: Path) -> dict[str, str]:
    (folder / "latin.cu").write_bytes(b"// gr\xf6\xdfer\n")
    (folder / "notes.txt").write_text("text")
    (folder / "broken.py").write_text("x = 1\ndef forward(x:\n")
    (folder / "nul.py").write_bytes(b"x = 1\0\n")
    (folder / "deep.py").write_text("(" * 5000)
    (folder / "folder.cu").mkdir()
    with (folder / "large.cu").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    os.mkfifo(folder / "pipe.cu")
    (folder / "endless.py").symlink_to("/dev/zero")
    return {
        "missing.cu": "cannot be read",
        "folder.cu": "no plain file",
        ".": "no plain file",
        "latin.cu": "not UTF-8 at byte 5",
        "notes.txt": "known endings: .cu",
        "broken.py": "not valid Python (line 2)",
        "nul.py": "not valid Python",
        "deep.py": "not valid Python",
        "large.cu": f"104,857,600 bytes; at most {untrusted.SOURCE_BYTES:,} are read",
        "pipe.cu": "no plain file",
        "endless.py": "no plain file",
    }


def test_bad_input_is_one_sentence_and_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, words in some(bad_inputs(tmp_path).items()):
        assert cli.main(["review", str(tmp_path / name)]) == 2, name
        message = capsys.readouterr().err
        assert words in message, message
        assert message.count("\n") == 1


def test_reviewing_needs_no_torch_and_builds_nothing(tmp_path: Path) -> None:
    code = "import sys; from audit.apps import cli; cli.main(['review', sys.argv[1]]);assert 'torch' not in sys.modules"
    ended = subprocess.run(
        [sys.executable, "-c", code, str(CLAIMED)], env={"PATH": "", "AUDIT_CACHE": str(tmp_path / "c")}, check=False
    )
    assert ended.returncode == 0
    assert not (tmp_path / "c").exists()
