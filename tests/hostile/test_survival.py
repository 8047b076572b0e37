"""Machines that fail and audits that meet: full disks, folders that cannot be written, two at once, a judge killed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit.model import store
from tests.hostile.conftest import CLAIM, ROOT, VARIANT

pytestmark = pytest.mark.hostile
NAMESPACE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
KILLS = 8


def offered() -> bool:
    """Whether this machine lets a test mount a small disk of its own."""
    command = [*NAMESPACE, "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    return (
        shutil.which("unshare") is not None
        and subprocess.run(command, check=False, capture_output=True).returncode == 0
    )


def claim(folder: Path, remark: str = "") -> Path:
    """The known-good claim; its kernel is one nobody has compiled where there is a remark."""
    shutil.copytree(CLAIM, folder)
    with (folder / "twice.cu").open("a", encoding="utf-8") as source:
        source.write(f'static const char remark[] = "{remark}";\n' if remark else "")  # a build knows no comments
    with (folder / "claim.toml").open("a", encoding="utf-8") as file:
        file.write(VARIANT.format(file="twice.cu", role="claimed"))
    return folder


def command(folder: Path, out: Path) -> list[str]:
    run = [sys.executable, "-m", "audit", "run", str(folder), "--device", "emulated"]
    return [*run, "--out", str(out), "--formats", "md"]


@pytest.mark.skipif(not offered(), reason="this machine lets nobody mount a small disk")
@pytest.mark.parametrize(
    ("which", "options"),
    [("out", "size=16k"), ("out", "ro"), ("scratch", "nr_inodes=2"), ("cache", "nr_inodes=2"), ("cache", "ro")],
)
def test_a_place_without_room_is_one_sentence_and_no_record_is_lost(tmp_path: Path, which: str, options: str) -> None:
    places = {name: tmp_path / name for name in ("out", "scratch", "cache")}
    for place in places.values():
        place.mkdir()
    mount = f"mount -t tmpfs -o {options} none {places[which]} && exec "
    inside = mount + " ".join(command(claim(tmp_path / "claim", f"{which} {options}"), places["out"]))
    names = {"scratch": "TMPDIR", "cache": "AUDIT_CACHE"}
    own = {name: str(places[place]) for place, name in names.items() if place == which}
    done = subprocess.run(
        [*NAMESPACE, "sh", "-c", inside],
        env={**os.environ, **own},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    found = done.stderr.strip().splitlines()
    assert (done.returncode in (1, 2), len(found)) == (True, 1), done.stderr[-2000:]
    assert re.match("audit: .*(cannot be written|no temporary folder can be made|No space left|ld returned)", found[0])
    if which != "out" and (places["out"] / "record.json").exists():
        assert store.read(places["out"] / "record.json").verdict.name == "incomplete"


def test_two_audits_of_one_claim_at_once(tmp_path: Path) -> None:
    folder = claim(tmp_path / "claim", str(tmp_path))
    outs = [tmp_path / name for name in ("one", "two")]
    running = [subprocess.Popen(command(folder, out), cwd=ROOT, stdout=subprocess.DEVNULL) for out in outs]
    while not (outs[0] / "record.json").exists():
        time.sleep(0.05)
    third = subprocess.run(command(folder, outs[0]), cwd=ROOT, capture_output=True, text=True, check=False)
    assert third.returncode == 2
    assert third.stderr == f"audit: {outs[0]}: another audit is writing there; choose another folder or wait for it\n"
    assert [one.wait(timeout=100) for one in running] == [0, 0]
    records = [store.read(out / "record.json") for out in outs]
    assert [{rung.state for rung in record.ladder} for record in records] == [{"passed"}, {"passed"}]
    assert sorted(note.from_cache for record in records for note in record.environment.builds) == [False, True]


def test_a_judge_killed_at_any_moment_leaves_a_record_that_says_so(tmp_path: Path) -> None:
    results = tmp_path / "kills.json"
    subprocess.run(
        [sys.executable, "bench/kills.py", str(KILLS), str(results)], cwd=ROOT, check=True, capture_output=True
    )
    values = json.loads(results.read_text(encoding="utf-8"))
    assert values["summary"]["kills"] == KILLS
    assert values["summary"]["unreadable"] == 0
    assert values["summary"]["audits with a process left"] == 0
    assert values["summary"]["after the next audit"] == {"folders": 0, "unfinished entries": 0}
    known = {"no record yet", "incomplete", values["summary"]["verdict of a whole audit"]}
    assert set(values["summary"]["records"]) <= known
