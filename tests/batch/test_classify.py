"""State and reason from return code, signal, record and notebook."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.apps.batch import state as states
from audit.apps.batch.items import Item
from audit.apps.batch.notebooks import classify
from audit.apps.batch.state import Attempt, End
from audit.model import Record, Verdict, store


def left(folder: Path, *, error: tuple[str, str] | None = None, log: str = "") -> None:
    """What papermill leaves: the executed notebook and the log."""
    outputs = (
        [] if error is None else [{"output_type": "error", "ename": error[0], "evalue": error[1], "traceback": []}]
    )
    cells = [{"cell_type": "markdown"}, {"cell_type": "code", "outputs": outputs}]
    (folder / "executed.ipynb").write_text(json.dumps({"cells": cells}))
    (folder / "log.txt").write_text(log)


def outcome(end: End, folder: Path, record: Record) -> Attempt:
    item = Item("one", folder, sources=record.claim.sources)
    return classify(end, item, folder)


@pytest.mark.parametrize(
    ("end", "state", "words"),
    [
        (End(trouble="Ray lost the node"), "infrastructure", "Ray lost the node"),
        (End(trouble="[Errno 28] No space left on device: 'log.txt'"), "infrastructure", "No space left"),
        (End(timed_out=True, seconds=9.04), "timed out", "not over after 9 s"),
        (End(signal=6), "crashed", "papermill died of SIGABRT"),
        (End(signal=9), "infrastructure", "papermill died of SIGKILL"),
        (End(returncode=138), "crashed", "kernel died"),
        (End(returncode=138, kernel_signal=11), "crashed", "SIGSEGV"),
        (End(returncode=138, kernel_signal=9), "infrastructure", "memory may have run out"),
        (End(returncode=0), "failed", "left no record.json"),
        (End(returncode=2), "failed", "papermill ended with 2: it printed nothing"),
    ],
)
def test_by_return_code_and_signal(end: End, state: str, words: str, tmp_path: Path, record: Record) -> None:
    found = outcome(end, tmp_path, record)
    assert found.outcome == state
    assert words in found.reason


@pytest.mark.parametrize(
    ("error", "log", "state", "full"),
    [
        (("BadInput", "claim.toml: key x"), "", "bad input", False),
        (("ValueError", "no"), "", "failed", False),
        (("WorkerFailed", "the workers' parent process died"), "", "infrastructure", False),
        (("MemoryError", ""), "", "infrastructure", False),
        (("OSError", "[Errno 28] No space left on device"), "", "infrastructure", True),
        (None, "RuntimeError: Kernel died before replying to kernel_info", "infrastructure", False),
        (None, "ZMQError: Address already in use", "infrastructure", False),
        (None, "OSError: [Errno 28] No space left on device", "infrastructure", True),
    ],
)
def test_by_what_a_cell_raised(
    error: tuple[str, str] | None, log: str, state: str, full: bool, tmp_path: Path, record: Record
) -> None:
    left(tmp_path, error=error, log=log)
    found = outcome(End(returncode=1), tmp_path, record)
    assert (found.outcome, found.disk_full) == (state, full)


def test_finished_needs_the_final_record_of_the_same_sources(tmp_path: Path, record: Record) -> None:
    good = End(returncode=0)
    store.write(record, tmp_path / "record.json")
    assert "incomplete" in outcome(good, tmp_path, record).reason
    final = record.model_copy(update={"verdict": Verdict(name="wrong")})
    store.write(final, tmp_path / "record.json")
    found = outcome(good, tmp_path, record)
    assert (found.outcome, found.reason, found.verdict) == ("finished", "", "wrong")
    assert outcome(End(returncode=1), tmp_path, record).outcome == "failed"
    known, *others = record.claim.sources
    fewer = record.claim.model_copy(update={"sources": tuple(others)})
    found = outcome(good, tmp_path, record.model_copy(update={"claim": fewer}))
    assert found.outcome == "finished", "a record has the headers too that a compiler read"
    other = record.claim.model_copy(update={"sources": (known.model_copy(update={"sha256": "0" * 64}), *others)})
    found = outcome(good, tmp_path, record.model_copy(update={"claim": other}))
    assert found.outcome == "failed"
    assert "other files" in found.reason


def test_the_exit_code_is_that_of_the_worst_state() -> None:
    assert states.exit_code([]) == 0
    assert states.exit_code(["finished", "finished"]) == 0
    assert states.exit_code(["finished", "bad input", "crashed", "failed"]) == 5
    assert states.exit_code(["settled", "passed on", "no answer", "left out"]) == 0
    assert states.exit_code(["settled", "error"]) == 8
    assert states.exit_code([*states.SEVERITY]) == 130
    good = [one for one, code in states.EXIT_CODES.items() if code == 0]
    assert good == ["finished", "settled", "left out", "passed on", "no answer"]
    assert len({*states.EXIT_CODES.values(), 1, 2}) == len(states.EXIT_CODES) - len(good) + 3
    assert set(states.SEVERITY) == set(states.EXIT_CODES) == set(states.MEANINGS)
