"""What a batch keeps on disk: what need not run again, and nothing thrown away."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from audit.apps.batch import notebooks, state
from audit.apps.batch.items import Item, Reader
from audit.apps.batch.run import Run, held
from audit.apps.batch.state import Attempt, ItemState
from audit.model import Record, Verdict, store
from audit.model.errors import BadInput
from audit.report.progress import Progress
from tests.batch import made, tiny


def run_of(tmp_path: Path, notebook: str = "n.ipynb", **values: str) -> Run:
    found = Reader(tmp_path / notebook, dict(values), tmp_path).read([str(tmp_path / "one")])
    return Run(found, tmp_path / "out", resume=True, progress=Progress(io.StringIO()))


def item(run: Run) -> Item:
    (one,) = run.collection.items
    return one


def finished(run: Run) -> bool:
    return notebooks.finished(item(run), run.items["one"], run._out)


@pytest.fixture
def out(tmp_path: Path, record: Record) -> Path:
    """A batch whose one claim has finished."""
    made.claim(tmp_path, "one")
    tiny.notebook(tmp_path / "n.ipynb")
    run = run_of(tmp_path)
    run.run([])
    final = record.claim.model_copy(update={"sources": item(run).sources})
    done = record.model_copy(update={"claim": final, "verdict": Verdict(name="wrong")})
    store.write(done, tmp_path / "out" / "one" / "record.json")
    attempt = Attempt(stage="notebook", outcome="finished", verdict="wrong")
    state.write(run.items["one"].after(attempt), tmp_path / "out" / "items" / "one.json")
    return tmp_path / "out"


@pytest.mark.usefixtures("out")
def test_finished_means_the_same_files_parameters_and_notebook(tmp_path: Path) -> None:
    assert finished(run_of(tmp_path))
    assert not finished(run_of(tmp_path, device="cuda"))
    other = tiny.notebook(tmp_path / "other.ipynb")
    other.write_text(other.read_text().replace("0.5", "0.6"))
    assert not finished(run_of(tmp_path, "other.ipynb"))
    (tmp_path / "one" / "claimed.cu").write_text("// changed\n")
    assert not finished(run_of(tmp_path))


def test_finished_needs_the_record(out: Path, tmp_path: Path, record: Record) -> None:
    run, path = run_of(tmp_path), out / "one" / "record.json"
    final = store.read(path)
    for other in (final.model_copy(update={"verdict": record.verdict}), record):
        store.write(other, path)
        assert not finished(run)
    store.write(final, path)
    assert finished(run)
    path.unlink()
    assert not finished(run)


def test_an_attempt_begins_with_an_empty_folder_and_keeps_every_log(out: Path, tmp_path: Path) -> None:
    one, place = item(run_of(tmp_path)), out / "one"
    for attempt in range(3):
        (place / "log.txt").write_text(f"attempt {attempt}")
        (place / "figures").mkdir()
        notebooks.clear(one, out)
    assert sorted(path.name for path in place.iterdir()) == ["1-log.txt", "2-log.txt", "3-log.txt"]
    assert (place / "2-log.txt").read_text() == "attempt 1"


def test_results_of_a_claim_that_changed_are_moved_and_kept(out: Path, tmp_path: Path) -> None:
    before = run_of(tmp_path).items["one"]
    (tmp_path / "one" / "claimed.cu").write_text("// changed\n")
    changed = run_of(tmp_path)
    assert changed.items["one"].attempts == ()
    notebooks.clear(item(changed), out)
    moved = out / ".earlier" / "one-1"
    assert store.read(moved / "record.json").verdict.name == "wrong"
    assert state.read(ItemState, moved / "state.json") == before
    assert before.attempts


def test_a_record_without_a_state_is_moved_and_kept(out: Path, tmp_path: Path) -> None:
    (out / "items" / "one.json").unlink()
    notebooks.clear(item(run_of(tmp_path)), out)
    assert store.read(out / ".earlier" / "one-1" / "record.json").verdict.name == "wrong"


def test_a_folder_that_cannot_be_written() -> None:
    with pytest.raises(BadInput, match="cannot be written"), held(Path("/proc/nowhere")):
        pass
