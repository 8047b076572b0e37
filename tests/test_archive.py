"""The archive's pages say what its committed tables say, and a class of a cause follows from the words of a record."""

from __future__ import annotations

import csv
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "bench" / "archive"
FOLDER = ROOT / "reports" / "datasets" / "ai_cuda_engineer"
CAUSES = (
    ("no defect found", "a GPU must time it", ""),
    ("wrong", "claimed_launches: width=256, the claimed shape: launch of k refused: the GPU refuses this launch: grid "
     "(4286578689, 1, 1) is over (2147483647, 65535, 65535)", "an integer overflows at the claimed size"),
    ("wrong", "claimed_launches: launch of k refused: the GPU refuses this launch: grid (1, 460800, 1) is over "
     "(2147483647, 65535, 65535)", "a launch that the GPU refuses"),
    ("wrong", "claimed_launches: N=2048, the claimed shape, is refused: RuntimeError: too large; N=128 comes back "
     "with a result", "the host code refuses the claimed size"),
    ("wrong", "contract: expected a float32 tensor of shape [16] on cpu, got 2 tensors on cpu",
     "a result of another shape, type or number"),
    ("wrong", "memory_access: N=256: out-of-bounds-write in line 26 of k (4,096 times): writes 4 bytes outside every "
     "shared variable", "out of bounds of shared memory"),
    ("wrong", "claimed_blocks: the claimed shape: illegal-address in line 58 of k", "out of bounds of global memory"),
    ("wrong", "coverage: N=256: 2 of 128 rows written, 99.194 % of the output is never written",
     "output left unwritten"),
    ("wrong", "agreement: N=256: 9 of 9 elements wrong; at [0] expected 1, got nan; beside undefined behaviour "
     "(uninitialised-read: reads shared memory that no thread of the block has written)",
     "shared memory read before it is written"),
    ("wrong", "agreement: N=256: 9 of 9 elements wrong; at [0] expected 1, got 2",
     "wrong values at the task's own inputs"),
    ("wrong", "fresh_values: batch_size=128: one element changed at the same address: 1 of 1 elements wrong",
     "right at the task's own inputs, wrong at others"),
    ("undefined", "memory_access: N=256: race-shared in line 51 of k (9 times)", "a race on shared memory"),
    ("undefined", "memory_access: N=256: exited-lane-read in line 44 of k",
     "a lane that takes no part in a shuffle is read"),
    ("overstated", "kernels_ran: N=2: the source has no kernel of its own; a library did the work",
     "no kernel in the source"),
    ("cannot be built", "build: nvcc refuses it: claimed.cu(3): error: identifier \"N\" is undefined",
     "a name is not declared"),
    ("no answer", "agreement: N=2: 1 of 9 elements wrong; the claim does not speak of this shape",
     "wrong at a smaller size alone"),
    ("no answer", "agreement: the task as read fails its own reference in agreement: 1 of 9 elements wrong; correct "
     "tolerance.relative in claim.toml", "the task's own reference fails"),
    ("wrong", "words of no probe", "other"),
)  # fmt: skip


def rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The scripts of the archive by name; they leave no module behind."""
    monkeypatch.syspath_prepend(BENCH)
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(BENCH)):
            del sys.modules[name]


@pytest.mark.parametrize(("verdict", "words", "expected"), CAUSES)
def test_the_class_of_a_cause(archive: Any, verdict: str, words: str, expected: str) -> None:
    assert archive("causes").of(verdict, [words]) == expected


def test_pages_and_tables_follow_from_the_committed_rows(archive: Any) -> None:
    results, counted = archive("results"), archive("committed")
    every = rows("verdicts.csv")
    stale = [str(path.relative_to(ROOT)) for path, text in results.pages(every).items() if path.read_text() != text]
    assert stale == [], "python bench/archive/results.py writes them again"
    assert rows("by_task.csv") == counted.by_task(every)
    assert rows("by_cause.csv") == counted.by_cause(archive("committed").sample(every))


def test_counts_add_up(archive: Any) -> None:
    every, verdicts = rows("verdicts.csv"), archive("committed").VERDICTS
    by_task = rows("by_task.csv")
    assert sum(int(row["asked"]) for row in by_task) == len(every)
    assert all(int(row["asked"]) == sum(int(row[name]) for name in verdicts) for row in by_task)
    assert all(bool(row["cause"]) != (row["verdict"] == "no defect found") for row in every)


def test_every_kernel_of_the_archive_has_a_state(archive: Any) -> None:
    states, every = archive("states"), rows("states.csv")
    assert len({row["id"] for row in every}) == len(every) == archive("committed").ARCHIVE
    assert [row["id"] for row in every if row["state"] == "no code"] == ["3505", "7609"]
    assert every == states.of_today(every, rows("verdicts.csv"))
    known = {row["id"]: row["sha256"] for row in every}
    assert all(row["sha256"].startswith(known[row["id"]]) for row in rows("verdicts.csv"))
    assert len(set(known.values())) == len(every) - states.copies(every)[0]


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """A folder of two equal kernels, an empty one, and files that are none of the archive's."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    for name, text in {"0": "a", "2": "a", "3": "b", "7": " \n", "99999": "c", "abc": "d", "007": "e"}.items():
        (folder / f"{name}.cu").write_text(text, encoding="utf-8")
    return folder


def test_an_odd_file_is_named_and_the_others_are_asked(
    archive: Any, kernels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = archive("archive_cases")
    assert screen.asked([3, 7, 0, 98765], kernels) == [3, 0]
    assert capsys.readouterr().err.splitlines() == [
        "left out, no kernel of a task in ranges.csv: 007.cu, 99999.cu, abc.cu",
        "left out, no such file: 98765",
        "left out, no code in the file: 7.cu",
    ]
    for name in ("99999", "abc", "007"):
        (kernels / f"{name}.cu").unlink()
    assert screen.asked([3, 0], kernels) == [3, 0]
    assert capsys.readouterr().err == ""


def test_states_of_a_folder(archive: Any, kernels: Path) -> None:
    states = archive("states")
    every = states.of_today(states.of_files(kernels), [{"id": "0", "verdict": "wrong"}])
    found = {row["id"]: (row["copy_of"], row["state"]) for row in every}
    assert found == {
        "0": ("", "wrong"), "2": ("0", "not asked"), "3": ("", "not asked"), "7": ("", "no code"),
    }  # fmt: skip
    assert states.counted(every) == {"wrong": 1, "no code": 1, "not asked": 2}
    assert states.copies(every) == (1, 1)


def test_shares_are_of_all_kernels_where_all_were_asked(archive: Any) -> None:
    committed, counted, tables = archive("committed"), archive("committed"), archive("tables")
    drawn = [{"task": "1", "drawn": committed.AT_RANDOM}, {"task": "1", "drawn": committed.WITHIN_TASKS}]
    assert committed.sample(drawn) == drawn[:1]
    assert counted.kernels(1) == "1 kernels drawn at random from 11,245 public ones"
    every = drawn[1:] * committed.WITH_CODE
    assert committed.sample(every) == every
    assert counted.kernels(len(every)) == "all 11,243 kernels with code among 11,245 public ones"
    assert tables.drawn(every).startswith("All 11,243 kernels with code were asked")


def test_the_cost_of_the_whole_archive_follows_from_its_kernels(archive: Any) -> None:
    text = archive("tables").cost(rows("verdicts.csv"))
    assert "| a host of four GPUs, 64 cores | 1.5 h |" in text
    assert "344,000 process-seconds" in text


def test_instructive_failures_were_read_and_found_right() -> None:
    known = {row["id"]: row for row in rows("verdicts.csv")}
    told = rows("instructive.csv")
    assert len({row["id"] for row in told}) == len(told) == 20
    assert {known[row["id"]]["read"] for row in told} == {"right"}
    assert all(re.search(r"^lines? \d+", row["change"]) and row["edit"] for row in told)


def test_every_figure_of_the_page_is_there() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\((figures/[^)]+|\w+\.(?:csv|md|parquet))\)", page)
    assert named
    assert all((FOLDER / one).is_file() for one in named)
