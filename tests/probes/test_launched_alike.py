"""An importer's smaller shape counts where its launches are those of a shape of the claim, kernels and blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from audit.model import Claim, Shape
from audit.model.errors import Unsupported
from audit.model.finding import Finding
from audit.probes.concluding import answer
from audit.probes.concluding.answer import Observed, failed
from audit.probes.observing import claimed_shape, launched_alike, runner
from audit.probes.observing.cases import Case
from audit.probes.observing.claimed_shape import Launched
from audit.probes.observing.references import References
from audit.probes.observing.target import Target
from audit.run.messages import requests

CLAIMED, KEPT, COARSE = {"D": 16384}, {"D": 1024}, {"D": 16}
SOURCE = "int threads = D / 4 < 1024 ? D / 4 : 1024; k<<<16, threads>>>(x);"
Made = tuple[str, tuple[int, ...]]
HERE: Made = ("k", (256, 1, 1))
THERE: Made = ("k", (1024, 1, 1))


def target(folder: Path, *scopes: str, source: str = SOURCE, by: str = "importer", role: str = "claimed") -> Target:
    (folder / "claimed.cu").write_text(source, encoding="utf-8")
    variant = SimpleNamespace(name="claimed", file="claimed.cu", role=role)
    shapes = SimpleNamespace(claimed=CLAIMED, others=(), emulated=(KEPT, COARSE), emulated_by=by, module=())
    cases = tuple(
        Case(KEPT if scope == "kept" else COARSE, Path(scope), np.ones(2), "float32", scope=cast(Any, scope))
        for scope in scopes
    )
    claim = cast(Claim, SimpleNamespace(shapes=shapes, variant=[variant]))
    built = SimpleNamespace(tensor_device="cpu", note=SimpleNamespace(optimisation="O2"))
    return Target(claim, cast(Any, variant), cast(Any, built), cases, cast(Any, None), folder / "reference.py", folder)


def launching(
    monkeypatch: pytest.MonkeyPatch, *, here: Sequence[Made], claimed: Sequence[Made], raised: str = ""
) -> None:
    def launched(_: Target, shapes: Sequence[Shape]) -> list[Launched]:
        every = [claimed if shape == CLAIMED else here for shape in shapes]
        return [
            Launched(shape, raised or None, [{"kernel": name, "block": list(block)} for name, block in one], [])
            for shape, one in zip(shapes, every, strict=True)
        ]

    monkeypatch.setattr(claimed_shape, "launched", launched)


@pytest.mark.parametrize(
    ("here", "claimed", "scope"),
    [
        ([HERE], [THERE], "other"),
        ([HERE], [HERE], "kept"),
        ([HERE, HERE], [HERE], "kept"),
        ([HERE], [("k2", HERE[1])], "other"),
        ([HERE], [HERE, THERE], "other"),
        ([], [HERE], "other"),
        ([HERE], [], "kept"),
    ],
    ids=["other block", "same", "same, twice", "other kernel", "one more", "none here", "none at the claimed shape"],
)
def test_a_smaller_shape_counts_where_it_launches_the_kernels_and_blocks_of_the_claimed_one(
    here: list[Made], claimed: list[Made], scope: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launching(monkeypatch, here=here, claimed=claimed)
    made = target(tmp_path, "kept", "other")
    found = launched_alike.scoped(made)
    assert [case.scope for case in found.cases] == [scope, "other"]
    assert (found is made) == (scope == "kept"), "its calls are kept"


@pytest.mark.parametrize(
    "changed", [{"by": "claim"}, {"role": "repair"}, {"source": "x.item<int>(); " + SOURCE}], ids=str
)
def test_shapes_that_a_claim_states_and_launches_that_follow_values_count_as_before(
    changed: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launching(monkeypatch, here=[HERE], claimed=[THERE])
    made = target(tmp_path, "kept", **changed)
    assert launched_alike.scoped(made) is made


def test_unknown_launches_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: Any) -> Any:
        raise Unsupported("a call of that size within 60 s")

    made = target(tmp_path, "kept")
    launching(monkeypatch, here=[HERE], claimed=[THERE], raised="RuntimeError: no")
    assert launched_alike.scoped(made) is made
    monkeypatch.setattr(claimed_shape, "launched", late)
    assert launched_alike.scoped(made) is made


def test_another_shape_of_the_claim_speaks_for_a_smaller_one_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launching(monkeypatch, here=[HERE], claimed=[THERE])
    made = target(tmp_path, "kept")
    made.claim.shapes.others = ({"D": 2048},)  # type: ignore[misc]
    assert launched_alike.scoped(made) is made, "2,048 columns take 256 threads here"


def test_the_first_candidate_is_not_run_whole_where_it_launches_other_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = target(tmp_path, "other")
    monkeypatch.setattr(claimed_shape, "made_once", lambda *_, **__: {"own": made.cases[0]})
    launching(monkeypatch, here=[HERE], claimed=[THERE])
    assert launched_alike.smaller_cases(made) == {}
    launching(monkeypatch, here=[HERE], claimed=[HERE])
    assert launched_alike.smaller_cases(made)


@pytest.mark.parametrize(
    ("work", "chosen"),
    [
        ({4096: None, 256: 20_000_000, 128: 2_500_000}, 256),
        ({4096: None, 256: 40_000_000, 128: 2_500_000}, 128),
        ({4096: None, 256: None, 128: None}, None),
    ],
)
def test_the_largest_stated_shape_that_fits_is_run_whole_where_the_claimed_one_gives_no_answer(
    work: dict[int, int | None], chosen: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = target(tmp_path, "stated", by="claim")
    made.claim.shapes.others = tuple({"D": size} for size in (128, 4096, 8, 256))  # type: ignore[misc]

    class Weighing:
        def call(self, request: requests.Work, **_: float) -> Any:
            assert [one["D"] for one in request.shapes] == [4096, 256, 128], "8 is less than the 16 that was asked"
            events = [{"work": work[one["D"]]} for one in reversed(request.shapes)]
            return SimpleNamespace(finished=True, events=events)

    made = replace(made, workers=cast(Any, Weighing()))
    monkeypatch.setattr(claimed_shape, "made_once", lambda _, shape, *__, scope, **___: {scope: shape})
    assert launched_alike.smaller_cases(made) == ({} if chosen is None else {"stated": {"D": chosen}})


class Wrong:
    """A probe that finds every result wrong at the first case."""

    NAME = "agreement"

    def observe(self, asked: Target, /) -> Observed:
        return {"shape": dict(asked.cases[0].shape)}

    def conclude(self, _: Observed, /) -> answer.Answer:
        return failed("D=1024: wrong")


def test_a_failure_with_other_blocks_is_outside_the_claim_and_names_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launching(monkeypatch, here=[HERE], claimed=[THERE])
    found = answer.ask(Wrong(), launched_alike.scoped(target(tmp_path, "kept")))
    assert (found.claimed, found.fails_kernel, found.shape) == (False, False, KEPT)
    assert found.summary == (
        "D=1024: wrong; launched here: k with blocks of 256 x 1 x 1 threads; at the claimed shape: k with blocks of "
        "1024 x 1 x 1 threads; the kit chose this size, and this probe asked at none of the claim's"
    )
    assert answer.finding("agreement", "claimed", found.evidence, Wrong().conclude) == found
    launching(monkeypatch, here=[HERE], claimed=[HERE])
    assert answer.ask(Wrong(), launched_alike.scoped(target(tmp_path, "kept"))).fails_kernel


def test_every_probe_and_the_second_build_are_asked_with_that_scope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scope is settled before the first probe, so no finding of the record disagrees with another."""
    launching(monkeypatch, here=[HERE], claimed=[THERE])
    made, asked = target(tmp_path, "kept"), list[str]()

    def ask(probe: str, one: Target, *, second: Any) -> Finding:
        asked.extend([one.cases[0].scope, second().cases[0].scope])
        return Finding(probe=probe, target="claimed", outcome="pass", summary="")

    monkeypatch.setattr(runner, "ask", ask)
    monkeypatch.setattr(runner, "_ask_ahead", lambda *_: None)
    monkeypatch.setattr(runner, "battery", SimpleNamespace(ask_together=lambda _: None))
    list(runner.ask_all(made, second=lambda: target(tmp_path, "kept"), only=["agreement"]))
    assert asked == ["other"] * 4


def test_launches_at_a_shape_are_asked_once_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, asked = target(tmp_path), list[int]()
    event = {"raised": None, "launches": [{"kernel": "k", "block": [256, 1, 1]}], "reports": [], "returned": "Tensor"}

    def called(_: Target, files: Sequence[Path], *__: Any, **___: Any) -> Any:
        asked.append(len(files))
        return [(event, tmp_path)] * len(files)

    monkeypatch.setattr(
        claimed_shape, "_described", lambda _, shapes: [claimed_shape.Described(tmp_path, 4, True)] * len(shapes)
    )
    monkeypatch.setattr(claimed_shape, "_asked", called)
    assert isinstance(made.references, References)
    for shapes in ([CLAIMED, KEPT], [CLAIMED], [KEPT, CLAIMED], [CLAIMED, COARSE]):
        assert [one.shape for one in claimed_shape.launched(made, shapes)] == shapes
    made.built.note.optimisation = "O0"  # type: ignore[misc]
    claimed_shape.launched(made, [CLAIMED])
    assert asked == [2, 1, 1]
