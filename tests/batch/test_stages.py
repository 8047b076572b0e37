"""Each stage is asked once about what is left; what is known survives a kill and a resume."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from audit.apps.batch import screening, state, summary
from audit.apps.batch.items import Collection, file_name
from audit.apps.batch.run import Run
from audit.apps.batch.screening import Asked
from audit.apps.batch.state import Attempt, ItemState, RunState, StageRun
from audit.model.errors import BadInput, WorkerFailed
from audit.report.progress import Progress
from audit.sandbox import limits
from tests.batch.made import Answering, claim, collection, items


def silent() -> Progress:
    return Progress(io.StringIO())


def test_a_settled_item_goes_no_further(tmp_path: Path) -> None:
    first, second = Answering("lint", {"a": "impossible time"}), Answering("emulated", {"b": "wrong"})
    run = Run(items("a", "b", "c"), tmp_path, resume=False, progress=silent())
    run.run([first.stage, second.stage])
    assert (first.asked, second.asked) == (["a", "b", "c"], ["b", "c"])
    states = list(run.items.values())
    assert summary.counts(states) == [
        ("emulated", "settled", "wrong", 1), ("lint", "settled", "impossible time", 1), ("emulated", "passed on", "", 1)
    ]  # fmt: skip
    came = {one.stage: (one.came, one.left) for one in summary.by_stage(run.state, states)}
    assert came == {"lint": (3, {"settled": 1, "passed on": 2}), "emulated": (2, {"settled": 1, "passed on": 1})}


def test_most_hints_go_first(tmp_path: Path) -> None:
    review, emulated = Answering("review", {}, hints={"b": 1, "c": 3}), Answering("emulated", {})
    Run(items("a", "b", "c"), tmp_path, resume=False, progress=silent()).run([review.stage, emulated.stage])
    assert emulated.asked == ["c", "b", "a"]


def test_a_resumed_runasks_only_what_is_left(tmp_path: Path) -> None:
    Run(items("a", "b"), tmp_path, resume=False, seed=5, progress=silent()).run([Answering("lint", {"a": "x"}).stage])
    lint, emulated = Answering("lint", {}), Answering("emulated", {})
    again = Run(items("a", "b"), tmp_path, resume=True, progress=silent())
    again.run([lint.stage, emulated.stage])
    assert (lint.asked, emulated.asked) == ([], ["b"])
    assert again.state.seed == 5
    assert [one.stage for one in again.state.runs] == ["lint", "emulated"]
    assert all(one.machine.endswith("cores") for one in again.state.runs)


def test_a_kill_loses_only_what_was_under_way(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    def ask(asked: Asked) -> Attempt:
        if asked.item.name == "b":
            raise Killed
        return Attempt(stage="lint", outcome="settled", verdict="x")

    stage = replace(Answering("lint", {}).stage, ask=ask)
    with pytest.raises(Killed):
        Run(items("a", "b", "c"), tmp_path, resume=False, progress=silent()).run([stage])
    assert state.read(ItemState, tmp_path / "items" / "a.json").state == "settled"
    assert not list(tmp_path.rglob(".*")), "no half file is left"
    lint = Answering("lint", {})
    Run(items("a", "b", "c"), tmp_path, resume=True, progress=silent()).run([lint.stage])
    assert "a" not in lint.asked
    assert "b" in lint.asked


def test_an_item_whose_files_changed_begins_anew(tmp_path: Path) -> None:
    Run(items("a"), tmp_path, resume=False, progress=silent()).run([Answering("lint", {"a": "x"}).stage])
    changed = Collection("made", (replace(items("a").items[0], sha256="other"),))
    lint = Answering("lint", {})
    Run(changed, tmp_path, resume=True, progress=silent()).run([lint.stage])
    assert lint.asked == ["a"]


def test_what_cannot_be_asked_says_why_and_goes_on(tmp_path: Path) -> None:
    def ask(_: Asked) -> Attempt:
        raise WorkerFailed("the parent died")

    emulated = Answering("emulated", {})
    run = Run(items("a"), tmp_path, resume=False, progress=silent())
    run.run([replace(Answering("lint", {}).stage, ask=ask), emulated.stage])
    assert run.items["a"].attempts[0].outcome == "no answer"
    assert run.items["a"].attempts[0].reasons == ("the parent died",)
    assert emulated.asked == ["a"]


def test_an_exception_ends_its_item_alone_which_is_asked_again_on_resuming(tmp_path: Path) -> None:
    def ask(asked: Asked) -> Attempt:
        if asked.item.name == "a":
            Path("a" * 300).stat()
        return Attempt(stage="lint", outcome="passed on")

    run = Run(items("a", "b"), tmp_path, resume=False, progress=silent())
    run.run([replace(Answering("lint", {}).stage, ask=ask)])
    assert {name: one.state for name, one in run.items.items()} == {"a": "error", "b": "passed on"}
    assert re.match(r"OSError: .*File name too long.* \(\w+\.py, line \d+\)$", run.items["a"].attempts[0].reason)
    lint = Answering("lint", {})
    Run(items("a", "b"), tmp_path, resume=True, progress=silent()).run([lint.stage])
    assert lint.asked == ["a"]


@pytest.mark.parametrize(("cores", "gib", "slots"), [(1, 64, 1), (6, 64, 6), (6, 8, 4), (6, 1, 1)])
def test_as_many_items_are_at_work_as_cores_and_memory_hold(
    monkeypatch: pytest.MonkeyPatch, cores: int, gib: int, slots: int
) -> None:
    monkeypatch.setattr(limits, "cores", lambda _: cores)
    monkeypatch.setattr(limits, "memory_bytes", lambda _: gib * limits.GIB)
    assert {stage.slots for stage in screening.STAGES} == {slots}
    assert {replace(stage, jobs=3).slots for stage in screening.STAGES} == {3}


def test_a_folder_that_holds_a_runis_not_overwritten(tmp_path: Path) -> None:
    Run(items("a"), tmp_path, resume=False, progress=silent()).run([])
    with pytest.raises(BadInput, match="--resume"):
        Run(items("a"), tmp_path, resume=False, progress=silent())
    with pytest.raises(BadInput, match="not of another"):
        Run(replace(items("a"), name="another"), tmp_path, resume=True, progress=silent())
    Run(items("a", "b"), tmp_path / "grows", resume=False, progress=silent()).run([Answering("lint", {}).stage])
    grown = Run(replace(items("b", "c"), name="another"), tmp_path / "grows", resume=True, progress=silent())
    assert grown.state.collection == "another"
    assert grown.items["b"].asked("lint")
    (tmp_path / "items").mkdir()
    (tmp_path / "items" / "a.json").write_text('{"item": 3}')
    with pytest.raises(BadInput, match=r"a\.json: not a state of a run: .*; delete it"):
        Run(items("a"), tmp_path, resume=True, progress=silent())


def test_states_are_small_and_read_back(tmp_path: Path) -> None:
    result = ItemState(item="a", sha256="s").after(Attempt(stage="review", outcome="passed on", hints=2, seconds=0.5))
    state.write(result, tmp_path / "a.json")
    assert state.read(ItemState, tmp_path / "a.json") == result
    assert (tmp_path / "a.json").stat().st_size < 400
    assert json.loads((tmp_path / "a.json").read_text())["item"] == "a"


def test_a_collection_is_its_claim_folders_and_their_content(tmp_path: Path) -> None:
    claim(tmp_path, "b")
    folder = claim(tmp_path, "a")
    before = collection(tmp_path).items
    assert [one.name for one in before] == ["a", "b"]
    for file in ("claimed.cu", "header.cuh"):
        (folder / file).write_text("other")
        after = collection(tmp_path).items
        assert after[0].sha256 != before[0].sha256
        assert after[1].sha256 == before[1].sha256
        before = after
    with (folder / "claimed.cu").open("wb") as large:
        large.truncate(100_000_000)
    result = collection(tmp_path).items[0].known
    assert result is not None
    assert "100,000,000 bytes" in result.reasons[0]
    assert file_name("../up") != file_name("___up")
    assert "/" not in file_name("../up")


def test_a_link_out_of_a_claim_folder_is_not_read(tmp_path: Path) -> None:
    claim(tmp_path / "collection", "a")
    claim(tmp_path / "collection", "b")
    (tmp_path / "collection" / "a" / "log.h").symlink_to("/proc/kmsg")  # a plain file that is never at its end
    result = collection(tmp_path / "collection").items[0].known
    assert result is not None
    assert result.reasons == ("a/log.h: leads out of the folder; put the file itself there",)


def test_the_page_says_what_was_settled_where_and_shows_names_only(tmp_path: Path) -> None:
    stages = [Answering("lint", {"a": "<b>impossible"}).stage, Answering("emulated", {"b": "wrong"}).stage]
    run = Run(items("a", "b", "c"), tmp_path, resume=False, progress=silent())
    run.run(stages)
    states = list(run.items.values())
    written = summary.write(run.state, states, tmp_path, about={})
    names = ["summary.html", "summary.md", "summary.csv", "summary.json"]
    assert [file.name for file in written] == names
    page, text = (tmp_path / "summary.html").read_text(), (tmp_path / "summary.md").read_text()
    assert "3 items: 2 settled, 1 passed on." in text
    assert "| Lint | 3 | 1 | 2 |" in text
    assert "every probe" in text
    assert "<b>" not in page
    assert "made: 3 items: 2 settled, 1 passed on." in summary.text(run.state, states)


def test_the_page_names_the_machine_of_each_stage() -> None:
    runs = [
        StageRun(stage="lint", items=2, seconds=1.0, machine="a processor, 2 cores"),
        StageRun(stage="emulated", items=2, seconds=1.0, machine="a processor, 2 cores"),
        StageRun(stage="notebook", items=1, seconds=1.0, machine="NVIDIA T4; a processor, 2 cores"),
    ]
    run = RunState(collection="made", items=2, seed=1, runs=tuple(runs))
    section = summary.build(run, [], [], {}).sections[1]
    parts = ("a processor, 2 cores: lint, emulated.", "NVIDIA T4; a processor, 2 cores: notebook.")
    assert section.bullets == tuple(f"Measured on {one}" for one in parts)
