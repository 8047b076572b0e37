"""Folders of living processes are left alone, those of dead ones are cleared, whatever claimed code put there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from audit import claims
from audit.audit import Audit
from audit.build.emulated.device import EmulatedDevice
from audit.model import store
from audit.model.errors import BadInput
from audit.model.run_directory import Hold, Scratch, clear_abandoned, remove
from audit.report.progress import Progress

OWNER = """import sys, time
from audit.model.run_directory import Hold, Scratch
from pathlib import Path
scratch, hold = Scratch(), Hold(Path(sys.argv[1]))
(scratch.path / "inputs.bin").write_text("x")
print(scratch.path, flush=True)
time.sleep(60)
"""
TAKES = "import sys; from audit.model.run_directory import Hold; from pathlib import Path; Hold(Path(sys.argv[1]))"
DEPTH = 200


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_folder_stays_while_its_owner_lives_and_goes_with_the_next_audit(scratch: Path) -> None:
    (scratch / "out").mkdir()
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(scratch / "out")], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    theirs = Path(owner.stdout.readline().strip())
    clear_abandoned()
    assert (theirs / "inputs.bin").is_file()
    with pytest.raises(BadInput, match="another audit is writing there; choose another folder or wait"):
        Hold(scratch / "out")
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    Hold(scratch / "out").close()
    with Scratch() as mine:
        assert [path.name for path in scratch.iterdir() if path.name != "out"] == [mine.name]
    assert [path.name for path in scratch.iterdir()] == ["out"]


def test_a_folder_taken_for_abandoned_before_its_owner_has_it_open_is_made_again(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, mkdtemp = [], tempfile.mkdtemp

    def made_while_another_clears(prefix: str) -> str:
        made.append(mkdtemp(prefix=prefix))
        if len(made) == 1:
            clear_abandoned()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", made_while_another_clears)
    with Scratch() as mine:
        assert mine.is_dir()
        assert [str(mine)] == made[1:]


def test_the_same_process_may_take_its_folder_again(tmp_path: Path) -> None:
    first, second = Hold(tmp_path), Hold(tmp_path)
    first.close()
    other = [sys.executable, "-c", TAKES, str(tmp_path)]
    taken = subprocess.run(other, capture_output=True, text=True, check=False)
    assert "another audit is writing there" in taken.stderr
    second.close()
    assert subprocess.run(other, check=False).returncode == 0


def _too_deep(folder: Path) -> None:
    """What shutil.rmtree does where there are more levels than Python's stack has frames: a thousand take seconds."""
    raise RecursionError


def test_folders_of_any_depth_and_any_rights_are_removed_and_no_link_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "others").mkdir()
    (tmp_path / "others/kept").touch()
    top = tmp_path / "top"
    top.mkdir()
    place = os.open(top, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("deep", dir_fd=place)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=place))
        place, above = os.open("deep", os.O_RDONLY, dir_fd=place), place
        os.close(above)
    os.close(place)
    (top / "link").symlink_to(tmp_path / "others")
    (top / "closed").mkdir()
    (top / "closed/file").touch()
    (top / "closed").chmod(0)
    os.mkfifo(top / "fifo")
    monkeypatch.setattr(shutil, "rmtree", _too_deep)
    remove(top)
    assert [path.name for path in tmp_path.rglob("*")] == ["others", "kept"]


def test_an_audit_that_cannot_begin_gives_back_what_it_took(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise BadInput("record.json: cannot be written")

    monkeypatch.setattr(store, "write", full)
    with pytest.raises(BadInput):
        Audit(claims.load("triangular_mm"), EmulatedDevice(), scratch / "out", progress=Progress())
    assert [path.name for path in scratch.iterdir()] == ["out"]
    assert subprocess.run([sys.executable, "-c", TAKES, str(scratch / "out")], check=False).returncode == 0


def test_a_place_without_room_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc/self")
    with pytest.raises(BadInput, match=r"^no temporary folder can be made \(.+\); set TMPDIR to a folder with room$"):
        Scratch()
    folder = claims.load("triangular_mm")
    with pytest.raises(BadInput, match=r"^/proc/self/out: cannot be written \(.+\); choose another folder$"):
        Audit(folder, EmulatedDevice(), Path("/proc/self/out"), progress=Progress())
