"""Real batches of tiny notebooks: every way an audit can end, and what is on disk then."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.apps import bundle, cli
from audit.apps.batch import state as states
from audit.apps.batch.jobs import python_path
from audit.apps.batch.state import ItemState
from audit.model import store
from tests.batch import made, tiny

pytestmark = pytest.mark.audits


def entries(folder: Path) -> dict[str, ItemState]:
    found = (states.read(ItemState, path) for path in folder.glob("items/*.json"))
    return {entry.item: entry for entry in found}


def running(word: str) -> list[str]:
    """Command lines of processes that have that word in them."""
    lines = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = place.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        lines += [line] if word in line else []
    return lines


ENDINGS = {
    "good": ("finished", ""),
    "aborts": ("crashed", "the notebook's kernel died of SIGABRT"),
    "killed": ("infrastructure", "the notebook's kernel died of SIGKILL"),
    "exits": ("failed", "record is incomplete"),
    "raises": ("failed", "ValueError: no such thing"),
    "refuses": ("bad input", "claim.toml: key x: wrong"),
    "hangs": ("timed out", "not over after 8 s"),
    "broken": ("bad input", "key dtype"),
    "absent": ("bad input", "absent: no claim of this name"),
    "on_a_gpu": ("bad input", "asks for the device cuda, and this batch runs on the emulated device"),
}
REFUSED = ("broken", "absent", "on_a_gpu")
"""Entries of which nothing is started."""


@pytest.fixture(scope="module")
def endings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, str]:
    """One batch with an audit for every ending: its folder, its exit code and what it printed."""
    folder = tmp_path_factory.mktemp("endings")
    for name in set(ENDINGS) - {"absent", "on_a_gpu"}:
        made.claim(folder / "claims", name)
    (folder / "l.yaml").write_text("- claims\n- absent\n- {claim: claims/good, name: on_a_gpu, device: cuda}\n")
    broken = folder / "claims" / "broken" / "claim.toml"
    broken.write_text(broken.read_text().replace('dtype = "float32"', "dtype = 32"))
    asked = tiny.batch(
        folder / "l.yaml", "--out", folder / "out", "--notebook", tiny.notebook(folder / "tiny.ipynb"),
        "--device", "emulated", "--timeout", 8, "--jobs", 4,
    )  # fmt: skip
    printed, errors = asked.communicate(timeout=120)
    return folder / "out", asked.returncode, printed + errors


def test_each_ending_is_told_for_what_it_is(endings: tuple[Path, int, str]) -> None:
    out, code, printed = endings
    found = entries(out)
    assert {name: entry.state for name, entry in found.items()} == {name: state for name, (state, _) in ENDINGS.items()}
    for name, (_, words) in ENDINGS.items():
        last = found[name].last
        assert last is not None and words in last.reason, name
    assert code == states.EXIT_CODES["infrastructure"]
    assert "10 of 10 items" in printed
    assert "100% done" in printed


def test_only_what_failed_outside_is_tried_again(endings: tuple[Path, int, str]) -> None:
    tried = {name: sum(one.end is not None for one in entry.attempts) for name, entry in entries(endings[0]).items()}
    assert tried == {**dict.fromkeys(ENDINGS, 1), "killed": 3, **dict.fromkeys(REFUSED, 0)}


def test_every_bad_entry_is_told_before_an_audit_ends(endings: tuple[Path, int, str]) -> None:
    printed = endings[2]
    assert max(printed.index(f"{name}: bad input: ") for name in REFUSED) < printed.index("good: finished")


def test_papermill_calls_the_dead_kernel_a_success(endings: tuple[Path, int, str]) -> None:
    """The reason why nothing here rests on its metadata; should it ever tell, this says so."""
    executed = json.loads((endings[0] / "aborts" / "executed.ipynb").read_bytes())
    assert executed["metadata"]["papermill"]["exception"] is None


def test_what_finished_has_its_evidence_and_the_page_names_all(endings: tuple[Path, int, str]) -> None:
    out = endings[0]
    verified = bundle.verify(out / "good.zip")
    assert verified.record == store.read(out / "good" / "record.json")
    assert "executed.ipynb" in {one.file for one in verified.manifest.files}
    data = json.loads((out / "summary.json").read_text())
    assert data["exit_code"] == 7
    assert {one["id"] for one in data["items"]} == set(ENDINGS)
    page = (out / "summary.html").read_text()
    assert 'href="good/report.html"' not in page, "the tiny notebook writes no report"
    assert 'href="good.zip"' in page
    assert 'href="aborts/log.txt"' in page


def test_nothing_is_left_running(endings: tuple[Path, int, str]) -> None:
    assert not running(str(endings[0]))


def test_a_full_disk_stops_the_batch_and_loses_nothing(
    tmp_path: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a_good", "full"):
        made.claim(tmp_path / "claims", name)
    arguments = (tmp_path / "claims", "--out", small_disk / "out", "--notebook", tiny.notebook(tmp_path / "tiny.ipynb"),
                 "--device", "emulated", "--jobs", 1)  # fmt: skip
    monkeypatch.setenv(tiny.MARK, str(tmp_path))
    asked = tiny.batch(*arguments)
    _, errors = asked.communicate(timeout=60)
    assert asked.returncode == 1
    assert "no space is left; what has finished is kept: mend that and go on with --resume" in errors
    assert errors.count("\n") == 1
    assert {name: entry.state for name, entry in entries(small_disk / "out").items()}["a_good"] == "finished"
    (tmp_path / "go").touch()
    (small_disk / "out" / "full" / "filler").unlink()
    asked = tiny.batch(*arguments, "--resume")
    printed, errors = asked.communicate(timeout=60)
    assert (asked.returncode, errors) == (0, "")
    assert "notebook 1 of 2 items" in printed
    assert {entry.state for entry in entries(small_disk / "out").values()} == {"finished"}


@pytest.fixture
def interruptible() -> Iterator[None]:
    """What is started here can be interrupted, also where a shell started these tests in the background, deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_batch_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("good1", "hangs3"):
        made.claim(tmp_path / "claims", name)
    arguments = (
        tmp_path / "claims", "--out", tmp_path / "out", "--notebook", tiny.notebook(tmp_path / "tiny.ipynb"),
        "--device", "emulated", "--jobs", 1,
    )  # fmt: skip
    asked = tiny.batch(*arguments)
    deadline = time.monotonic() + 60
    while not any(entry.state == "finished" for entry in entries(tmp_path / "out").values()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    asked.send_signal(signal.SIGINT)
    time.sleep(0.02)
    asked.send_signal(signal.SIGINT)  # as `timeout` does: to the process, and to its group
    _, errors = asked.communicate(timeout=60)
    assert asked.returncode == 130
    assert "1 of 2 finished; go on with --resume" in errors
    before = entries(tmp_path / "out")["good1"]

    assert cli.main(["batch", *map(str, arguments)]) == 2
    assert "holds a run already" in capsys.readouterr().err

    (tmp_path / "claims" / "hangs3" / "claimed.cu").write_text("// changed\n")
    resumed = tiny.batch(*arguments, "--resume", "--timeout", 6)
    printed, _ = resumed.communicate(timeout=60)
    after = entries(tmp_path / "out")
    assert resumed.returncode == states.EXIT_CODES["timed out"]
    assert "notebook 1 of 2 items" in printed
    assert after["good1"] == before
    assert {name: entry.state for name, entry in after.items()} == {
        "good1": "finished",
        "hangs3": "timed out",
    }


def test_children_find_this_package_first_and_then_what_this_process_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/one:/two")
    assert python_path() == f"{tiny.ROOT}:/one:/two"
    monkeypatch.delenv("PYTHONPATH")
    assert python_path() == str(tiny.ROOT)
