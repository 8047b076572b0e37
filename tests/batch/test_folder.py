"""What a batch keeps on disk: what need not run again, and nothing thrown away."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.apps.batch import collection
from audit.apps.batch.collection import Item
from audit.apps.batch.folder import BatchFolder, held
from audit.model import Record, Verdict, store
from audit.model.errors import BadInput
from tests.batch import tiny


def item(tmp_path: Path, **values: str) -> Item:
    (found,) = collection.items([str(tmp_path / "one")], known={}, common=dict(values))
    return found


@pytest.fixture
def folder(tmp_path: Path, record: Record) -> BatchFolder:
    """A batch whose one claim has finished."""
    tiny.claim(tmp_path, "one")
    folder = BatchFolder(tmp_path / "out", notebook=tiny.notebook(tmp_path / "n.ipynb"))
    one = item(tmp_path)
    final = record.claim.model_copy(update={"sources": one.sources})
    done = record.model_copy(update={"claim": final, "verdict": Verdict(name="wrong")})
    store.write(done, folder.of(one) / "record.json")
    folder.keep(folder.fresh(one, reason="").model_copy(update={"state": "finished", "verdict": "wrong"}))
    return folder


def test_finished_means_the_same_files_parameters_and_notebook(folder: BatchFolder, tmp_path: Path) -> None:
    one = item(tmp_path)
    assert folder.finished(one) == folder.entry(one) is not None
    assert folder.finished(item(tmp_path, device="cuda")) is None
    other = tiny.notebook(tmp_path / "other.ipynb")
    other.write_text(other.read_text().replace("0.5", "0.6"))
    assert BatchFolder(tmp_path / "out", notebook=other).finished(one) is None
    (tmp_path / "one" / "claimed.cu").write_text("// changed\n")
    assert folder.finished(item(tmp_path)) is None


def test_finished_needs_the_record(folder: BatchFolder, tmp_path: Path, record: Record) -> None:
    one = item(tmp_path)
    path = folder.of(one) / "record.json"
    final = store.read(path)
    for other in (final.model_copy(update={"verdict": record.verdict}), record):
        store.write(other, path)
        assert folder.finished(one) is None
    store.write(final, path)
    assert folder.finished(one) is not None
    path.unlink()
    assert folder.finished(one) is None


def test_an_attempt_begins_with_an_empty_folder_and_keeps_every_log(folder: BatchFolder, tmp_path: Path) -> None:
    one = item(tmp_path)
    place = folder.of(one)
    for attempt in range(3):
        (place / "log.txt").write_text(f"attempt {attempt}")
        (place / "figures").mkdir()
        kept, given = folder.clear(one)
        assert kept is not None
        assert given == {"claim": str(tmp_path / "one"), "out": str(place), "interactive": False}
    assert sorted(path.name for path in place.iterdir()) == ["1-log.txt", "2-log.txt", "3-log.txt", "batch.json"]
    assert (place / "2-log.txt").read_text() == "attempt 1"


def test_results_of_a_claim_that_changed_are_moved_and_kept(folder: BatchFolder, tmp_path: Path) -> None:
    before = folder.entry(item(tmp_path))
    (tmp_path / "one" / "claimed.cu").write_text("// changed\n")
    kept, _ = folder.clear(item(tmp_path))
    assert kept is None
    moved = tmp_path / "out" / ".earlier" / "one-1"
    assert store.read(moved / "record.json").verdict.name == "wrong"
    assert (moved / "batch.json").read_text() == (
        before.model_dump_json(by_alias=True, indent=1) + "\n" if before else ""
    )


def test_a_folder_that_holds_a_batch_is_not_begun_again(folder: BatchFolder, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--resume"), held(tmp_path / "out", resume=False):
        pass
    with held(tmp_path / "out", resume=True) as lock:
        assert lock > 2


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written"), held(Path("/proc/nowhere"), resume=False):
        pass
