"""Each stage is asked once about what is left; what is known survives a kill and a resume."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from audit.apps.funnel import counts, page, state
from audit.apps.funnel.collection import Collection, Item, key_of, of_folder
from audit.apps.funnel.run import Funnel
from audit.apps.funnel.stage import Setting
from audit.apps.funnel.state import FunnelState, ItemState, Passage, StageRun
from audit.model.errors import BadInput, WorkerFailed
from audit.report import html, markdown
from audit.report.progress import Progress
from tests.funnel.made import Answering, claim, items


def silent() -> Progress:
    return Progress(io.StringIO())


def test_a_settled_item_goes_no_further(tmp_path: Path) -> None:
    first, second = Answering("lint", {"a": "impossible time"}), Answering("emulated", {"b": "wrong"})
    funnel = Funnel(items("a", "b", "c"), tmp_path, resume=False)
    funnel.run([first.stage, second.stage], progress=silent())
    assert (first.asked, second.asked) == (["a", "b", "c"], ["b", "c"])
    states = list(funnel.items.values())
    assert counts.by_verdict(states) == [("lint", "impossible time", 1), ("emulated", "wrong", 1)]
    assert [one.item for one in counts.left(states)] == ["c"]
    came = {one.stage: (one.came, one.settled, one.passed_on) for one in counts.by_stage(funnel.state, states)}
    assert came == {"lint": (3, 1, 2), "review": (0, 0, 0), "emulated": (2, 1, 1), "gpu": (0, 0, 0)}


def test_most_hints_go_first(tmp_path: Path) -> None:
    review, emulated = Answering("review", {}, hints={"b": 1, "c": 3}), Answering("emulated", {})
    Funnel(items("a", "b", "c"), tmp_path, resume=False).run([review.stage, emulated.stage], progress=silent())
    assert emulated.asked == ["c", "b", "a"]


def test_a_resumed_funnel_asks_only_what_is_left(tmp_path: Path) -> None:
    Funnel(items("a", "b"), tmp_path, resume=False, seed=5).run(
        [Answering("lint", {"a": "x"}).stage], progress=silent()
    )
    lint, gpu = Answering("lint", {}), Answering("gpu", {})
    again = Funnel(items("a", "b"), tmp_path, resume=True)
    again.run([lint.stage, gpu.stage], progress=silent())
    assert (lint.asked, gpu.asked) == ([], ["b"])
    assert again.state.seed == 5
    assert [run.stage for run in again.state.runs] == ["lint", "gpu"]
    assert all(run.machine.endswith("cores") for run in again.state.runs)


def test_a_kill_loses_only_what_was_under_way(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    def ask(item: Item, _: Setting) -> Passage:
        if item.key == "b":
            raise Killed
        return Passage(stage="lint", outcome="settled", verdict="x")

    stage = replace(Answering("lint", {}).stage, ask=ask)
    with pytest.raises(Killed):
        Funnel(items("a", "b", "c"), tmp_path, resume=False).run([stage], progress=silent())
    assert state.read_item(tmp_path / "items" / "a.json").settled is not None
    assert not list(tmp_path.rglob(".*")), "no half file is left"
    lint = Answering("lint", {})
    Funnel(items("a", "b", "c"), tmp_path, resume=True).run([lint.stage], progress=silent())
    assert "a" not in lint.asked
    assert "b" in lint.asked


def test_an_item_whose_files_changed_begins_anew(tmp_path: Path) -> None:
    Funnel(items("a"), tmp_path, resume=False).run([Answering("lint", {"a": "x"}).stage], progress=silent())
    changed = Collection("made", (replace(items("a").items[0], sha256="other"),))
    lint = Answering("lint", {})
    Funnel(changed, tmp_path, resume=True).run([lint.stage], progress=silent())
    assert lint.asked == ["a"]


def test_what_cannot_be_asked_says_why_and_goes_on(tmp_path: Path) -> None:
    def ask(_: Item, __: Setting) -> Passage:
        raise WorkerFailed("the parent died")

    gpu = Answering("gpu", {})
    funnel = Funnel(items("a"), tmp_path, resume=False)
    funnel.run([replace(Answering("lint", {}).stage, ask=ask), gpu.stage], progress=silent())
    assert funnel.items["a"].passages[0].outcome == "no answer"
    assert funnel.items["a"].passages[0].reasons == ("the parent died",)
    assert gpu.asked == ["a"]


def test_a_folder_that_holds_a_funnel_is_not_overwritten(tmp_path: Path) -> None:
    Funnel(items("a"), tmp_path, resume=False)
    with pytest.raises(BadInput, match="--resume"):
        Funnel(items("a"), tmp_path, resume=False)
    with pytest.raises(BadInput, match="not of another"):
        Funnel(replace(items("a"), name="another"), tmp_path, resume=True)
    (tmp_path / "items" / "a.json").write_text('{"item": 3}')
    with pytest.raises(BadInput, match=r"a\.json: no state of a funnel: .*; delete it"):
        Funnel(items("a"), tmp_path, resume=True)
    with pytest.raises(BadInput, match="two items are called a"):
        Funnel(items("a", "a"), tmp_path / "twice", resume=False)


def test_states_are_small_and_read_back(tmp_path: Path) -> None:
    told = ItemState(item="a", sha256="s").after(Passage(stage="review", outcome="passed on", hints=2, seconds=0.5))
    state.write(told, tmp_path / "a.json")
    assert state.read_item(tmp_path / "a.json") == told
    assert (tmp_path / "a.json").stat().st_size < 400
    assert json.loads((tmp_path / "a.json").read_text())["item"] == "a"


def test_a_collection_is_its_claim_folders_and_their_content(tmp_path: Path) -> None:
    claim(tmp_path, "b")
    folder = claim(tmp_path, "a")
    before = of_folder(tmp_path).items
    assert [one.key for one in before] == ["a", "b"]
    (folder / "claimed.cu").write_text("other")
    after = of_folder(tmp_path).items
    assert after[0].sha256 != before[0].sha256
    assert after[1].sha256 == before[1].sha256
    with (folder / "claimed.cu").open("wb") as large:
        large.truncate(100_000_000)
    told = of_folder(tmp_path).items[0].told
    assert told is not None
    assert "64,000,000 bytes" in told.reasons[0]
    with pytest.raises(BadInput, match="audit import"):
        of_folder(folder)
    assert key_of("../up") != key_of("___up")
    assert "/" not in key_of("../up")


def test_a_link_out_of_a_claim_folder_is_not_read(tmp_path: Path) -> None:
    claim(tmp_path / "collection", "a")
    (tmp_path / "collection" / "a" / "log").symlink_to("/proc/kmsg")  # a plain file that is never at its end
    told = of_folder(tmp_path / "collection").items[0].told
    assert told is not None
    assert told.reasons == ("a/log: leads out of the folder; put the file itself there",)


def test_the_page_says_what_was_settled_where_and_shows_names_only(tmp_path: Path) -> None:
    stages = [Answering("lint", {"a": "<b>impossible"}).stage, Answering("emulated", {"b": "wrong"}).stage]
    funnel = Funnel(items("a", "b", "c"), tmp_path, resume=False)
    funnel.run(stages, progress=silent())
    states = list(funnel.items.values())
    written = page.write(funnel.state, states, tmp_path)
    assert [file.name for file in written] == ["funnel.md", "funnel.html", "funnel.png"]
    report = page.build(funnel.state, states, ())
    assert report.lead == "3 items: 2 settled, 0 left out, 1 not settled."
    text = markdown.render(report, figures="figures")
    assert "| Lint | 3 | 1 | 0 | 2 | 0 |" in text
    assert "every probe" in text
    assert "<b>" not in html.render(report)
    assert "3 items, 1 of them not settled" in page.text(funnel.state, states)


def test_the_page_names_the_machine_of_each_stage() -> None:
    runs = [
        StageRun(stage="lint", items=2, seconds=1.0, machine="a processor, 2 cores"),
        StageRun(stage="emulated", items=2, seconds=1.0, machine="a processor, 2 cores"),
        StageRun(stage="gpu", items=1, seconds=1.0, machine="NVIDIA T4; a processor, 2 cores"),
    ]
    funnel = FunnelState(collection="made", items=2, seed=1, runs=tuple(runs))
    section = page.build(funnel, [], ()).sections[0]
    told = ("a processor, 2 cores: lint, emulated.", "NVIDIA T4; a processor, 2 cores: gpu.")
    assert section.bullets == tuple(f"Measured on {one}" for one in told)
