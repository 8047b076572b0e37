"""A file is replaced whole or not at all, by whichever stage writes it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from audit.apps.batch import state
from audit.apps.batch.state import RunState
from audit.model import Record, atomic, store
from audit.model.errors import BadInput


def full(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_write_that_breaks_off_leaves_the_old_file_alone(
    tmp_path: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "new" / "record.json"
    store.write(record, place)
    before = place.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match=r"record\.json: cannot be written \(No space left on device\); make room"):
        store.write(record, place)
    with pytest.raises(OSError, match="No space left"):
        state.write(RunState(collection="c", items=1, seed=1), place)
    assert {path.name: path.read_bytes() for path in place.parent.iterdir()} == {"record.json": before}


def test_what_a_killed_writer_left_is_cleared_and_nothing_else(tmp_path: Path) -> None:
    for name in (".record.json.123", "record.json", ".other.json.123"):
        (tmp_path / name).touch()
    atomic.clear(tmp_path / "record.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.json.123", "record.json"]


def test_a_write_that_is_interrupted_leaves_nothing_beside_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        atomic.write(tmp_path / "entry.json", b"new")
    assert list(tmp_path.iterdir()) == []
