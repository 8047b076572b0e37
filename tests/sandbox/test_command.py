"""Commands inside the sandbox: what they say, how they end, and that nothing of them is left."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit.sandbox import check, command, limits
from tests.sandbox.inside import LIMIT


def test_it_says_what_it_says_and_ends_as_it_ends(tmp_path: Path) -> None:
    done = command.run(["sh", "-c", "echo out; echo err >&2; exit 3"], folder=tmp_path, limit_s=20)
    assert (done.code, done.out, done.err, done.stopped) == (3, "out\n", "err\n", "")
    done = command.run(["sh", "-c", "kill -SEGV $$"], folder=tmp_path, limit_s=20)
    assert done.code == 128 + signal.SIGSEGV


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = command.run(["no-such-compiler"], folder=tmp_path, limit_s=20)
    assert done.code == 127 and "no-such-compiler cannot be started" in done.err


def test_one_that_does_not_end_is_ended_with_all_it_started(tmp_path: Path) -> None:
    script = "touch there; (setsid sleep 1000 &) ; sleep 1000"
    done = command.run(["sh", "-c", script], folder=tmp_path, limit_s=0.5)
    assert done.stopped == "it had not ended after 0.5 s"
    assert (tmp_path / "there").exists() and not _running_in(tmp_path)


def test_one_that_starts_processes_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "of_this_machine", lambda: LIMIT)
    script = "i=0; while [ $i -lt 200 ]; do sleep 1000 & i=$((i+1)); done; wait"
    done = command.run(["sh", "-c", script], folder=tmp_path, limit_s=20)
    assert "processes at once; 40 are allowed" in done.stopped
    assert not _running_in(tmp_path)


def test_one_that_takes_much_memory_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "of_this_machine", lambda: LIMIT._replace(memory=128 << 20))
    greedy = "import time; held = bytearray(b'1') * (400 << 20); time.sleep(1000)"
    done = command.run([sys.executable, "-S", "-c", greedy], folder=tmp_path, limit_s=20)
    assert "of memory" in done.stopped


def test_one_that_prints_or_writes_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "of_this_machine", lambda: LIMIT._replace(printed=1 << 20, disk=4 << 30))
    assert "printed more than 1 MiB" in command.run(["yes"], folder=tmp_path, limit_s=20).stopped
    monkeypatch.setattr(limits, "of_this_machine", lambda: LIMIT)
    writes = "for i in 1 2 3 4 5; do head -c 60000000 /dev/zero > $i; done; sleep 1000"
    assert "bytes on disk" in command.run(["sh", "-c", writes], folder=tmp_path, limit_s=20).stopped


def test_one_that_makes_folders_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "of_this_machine", lambda: LIMIT._replace(files=500))
    storm = "import itertools, os; [os.mkdir(str(number)) for number in itertools.count()]"
    done = command.run([sys.executable, "-S", "-c", storm], folder=tmp_path, limit_s=20)
    assert done.stopped == "it was ended: it made more than 500 files or 50 folders"


def test_folders_deeper_than_a_path_is_long_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "of_this_machine", lambda: LIMIT)
    climb = "import os, time\nfor _ in range(60): os.mkdir('d' * 90); os.chdir('d' * 90)\ntime.sleep(60)"
    done = command.run([sys.executable, "-S", "-c", climb], folder=tmp_path, limit_s=20)
    assert "made more than" in done.stopped


def test_memory_that_no_process_has_mapped_in_pages_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "of_this_machine", lambda: LIMIT._replace(disk=4 << 30, scratch=64 << 20))
    gives = (
        "import mmap; held = mmap.mmap(-1, 200 << 20); held.write(bytes(200 << 20)); held.madvise(mmap.MADV_DONTNEED)"
    )
    opens = "import os; held = os.memfd_create('held'); os.write(held, bytes(200 << 20))"
    for program in (gives, opens):
        waits = f"{program}; import time; time.sleep(60)"
        done = command.run([sys.executable, "-S", "-c", waits], folder=tmp_path, limit_s=20)
        assert "GiB of shared memory" in done.stopped


def test_killing_the_one_who_asked_ends_the_command(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path; from audit.sandbox import command; "
        f"command.run(['sh', '-c', 'touch there; sleep 1000'], folder=Path({str(tmp_path)!r}), limit_s=500)"
    )
    asking = subprocess.Popen([sys.executable, "-c", program])
    while not (tmp_path / "there").exists():
        assert asking.poll() is None
        time.sleep(0.02)
    asking.kill()
    asking.wait()
    for _ in range(200):
        if not _running_in(tmp_path):
            break
        time.sleep(0.02)
    assert not _running_in(tmp_path)


def test_the_trial_names_every_wall_and_why_one_is_missing() -> None:
    found = check.around_commands()
    assert [wall.name for wall in found] == list(check.LIMITS)
    assert all(wall.up != bool(wall.why) for wall in found)


def test_a_trial_that_fails_leaves_no_wall_standing() -> None:
    def ask(_: object) -> dict[str, str]:
        raise check.CheckFailed("it did not start")

    assert {(wall.up, wall.why) for wall in check.results(ask)} == {(False, "it did not start")}


def _running_in(folder: Path) -> list[str]:
    """Processes of this machine whose working directory that folder is."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (process / "cwd").readlink() == folder:
                found.append(process.name)
        except OSError:
            continue
    return found
