"""One attempt and everything it starts: nothing of it lives on, whatever sessions and parents it gave itself."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from audit.build.cuda import gpu

CODE = """
import os, subprocess, sys, tempfile, time
from audit.apps.batch.keeper import Keeper
from audit.apps.batch.state import Job

def body(job, tells):
    quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.Popen(["sleep", sys.argv[2]], start_new_session=True, **quiet)
    subprocess.Popen(["sh", "-c", f"setsid sleep {sys.argv[2]} & disown; exit 0"], **quiet).wait()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(100)
        os._exit(0)
    print("TMPDIR", tempfile.gettempdir(), flush=True)
    os.write(tells, b"6")
    time.sleep(float(sys.argv[3]))
    sys.exit(138)

job = Job(notebook="", folder="", out=sys.argv[1], limit_s=float(sys.argv[4]))
told, tells = os.pipe()
if os.fork() == 0:
    os.write(tells, Keeper(job, body).keep().model_dump_json().encode())
    os._exit(0)
os.wait()
print(os.read(told, 1 << 16).decode())
"""


def alive(seconds: str) -> int:
    """Processes called `sleep` with that argument."""
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()
    return found.count(f"sleep {seconds}")


@pytest.mark.parametrize(
    ("lasts", "limit", "expected"), [("0.1", "30", (138, False, 6)), ("60", "0.6", (None, True, 6))]
)
def test_everything_it_started_ends_with_it(
    tmp_path: Path, lasts: str, limit: str, expected: tuple[int | None, bool, int]
) -> None:
    unusual = f"7{os.getpid()}.{limit.replace('.', '')}"
    command = [sys.executable, "-c", CODE, str(tmp_path), unusual, lasts, limit]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    end = json.loads(done.stdout)
    assert (end["returncode"], end["timed_out"], end["kernel_signal"]) == expected
    assert alive(unusual) == 0
    (scratch,) = [
        line.split()[1] for line in (tmp_path / "log.txt").read_text().splitlines() if line.startswith("TMPDIR")
    ]
    assert scratch.startswith(f"{tempfile.gettempdir()}/audit-run-")
    assert not Path(scratch).exists()


def test_one_audit_at_a_time_has_its_turn_on_a_gpu(tmp_path: Path) -> None:
    code = "from audit.build.cuda import gpu; gpu.lock(); gpu.lock(); print('mine', flush=True); input(); "
    code += "gpu.unlock(); input(); gpu.lock(); print('mine', flush=True); input()"
    env = {**os.environ, gpu.LOCK_FILE: str(tmp_path / "gpu.lock")}
    started = []
    try:
        for _ in range(2):
            started.append(
                subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
            )
            if len(started) == 1:
                assert told(started[0], within=10)
        first, second = started
        assert not told(second, within=0.5)
        go_on(first)  # to a wait for builds
        assert told(second, within=10)
        go_on(first)
        assert not told(first, within=0.5)
        second.kill()  # the turn ends with the process, however it ends
        assert told(first, within=10)
    finally:
        for process in started:
            process.kill()
            process.communicate()


def go_on(process: subprocess.Popen[bytes]) -> None:
    """Has it pass its next `input()`."""
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()


def told(process: subprocess.Popen[bytes], *, within: float) -> bool:
    """Whether it has its turn, after at most that many seconds."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], within)
    return bool(ready) and process.stdout.readline() == b"mine\n"
