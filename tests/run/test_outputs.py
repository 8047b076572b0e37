"""Outputs are read as they were written or not at all; expected results have no name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from audit.run.messages import results
from audit.run.messages.event_writer import EventWriter
from audit.run.messages.results import Results, Writer, digest_of
from audit.run.messages.wire import ProtocolViolation

BYTES = b"twelve bytes"
DIGEST = digest_of(BYTES)


@pytest.fixture(scope="module")
def writer() -> EventWriter:
    return EventWriter()


@pytest.mark.parametrize("elements", [0, 1, 31, 32, 33, 1000, 20_000])
def test_an_output_comes_back_by_its_digest(writer: EventWriter, tmp_path: Path, elements: int) -> None:
    values = torch.arange(elements, dtype=torch.int32)
    digest = writer.keep(tmp_path / "0.bin", values)
    assert digest == digest_of(values.numpy().tobytes())
    read = results.read(tmp_path / "0.bin", digest=digest, most_bytes=4 * elements)
    assert read.tobytes() == values.numpy().tobytes()


def test_whatever_stood_there_before_is_replaced(writer: EventWriter, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    (tmp_path / "0.bin").symlink_to(tmp_path / "mine")
    digest = writer.keep(tmp_path / "0.bin", torch.ones(3))
    assert (tmp_path / "mine").read_text() == "kept"
    assert results.read(tmp_path / "0.bin", digest=digest, most_bytes=12).size == 12


def test_an_output_that_cannot_be_written_raises(writer: EventWriter, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        writer.keep(tmp_path / "no" / "0.bin", torch.ones(3))


def sparse(file: Path) -> None:
    file.touch()
    os.truncate(file, 1 << 40)


PLACED: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda _: None, "was taken away"),
    "a pipe": (os.mkfifo, "is no plain file"),
    "a folder": (Path.mkdir, "is no plain file"),
    "a link to a device": (lambda file: file.symlink_to("/dev/zero"), "was taken away"),
    "a terabyte": (sparse, "1099511627776 bytes long, more than any"),
    "other bytes": (lambda file: file.write_bytes(BYTES.upper()), "holds other bytes"),
}


@pytest.mark.parametrize("placed", PLACED)
def test_whatever_else_lies_there_nothing_is_believed(tmp_path: Path, placed: str) -> None:
    place, words = PLACED[placed]
    place(tmp_path / "0.bin")
    with pytest.raises(ProtocolViolation, match=words):
        results.read(tmp_path / "0.bin", digest=DIGEST, most_bytes=len(BYTES))


def test_a_sparse_file_of_right_results_is_not_read() -> None:
    found = Results()
    assert found.too_large is None
    os.truncate(found.fileno(), results.readable_bytes() + 1)
    assert "of right results" in (found.too_large or "")


def test_results_are_found_where_they_start() -> None:
    results = Results()
    with Writer(os.dup(results.fileno())) as writer:
        starts = [writer.put(torch.full((2, 3), float(place), dtype=torch.float64)) for place in range(3)]
    assert starts == [0, 48, 96]
    assert results.at(48, [2, 3]).tolist() == [[1.0] * 3] * 2
    assert [results.hold(96, [2, 3]), results.hold(97, [2, 3]), results.hold(0, [2**50])] == [True, False, False]
