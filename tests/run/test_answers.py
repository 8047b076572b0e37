"""Every timed call against what is right for its contents: caches of any key are caught, whoever computes is right."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest
import torch

from audit import claims
from audit.model import Harness
from audit.run.calls.harness import placed
from audit.run.calls.outputs import KeptOutputs
from audit.run.sessions.oracle import load_reference
from audit.run.timing.answers import Answers, compared, needed_by
from audit.run.timing.blocks import COLD, SEEN, Blocks, Plan
from audit.run.timing.callables import over
from audit.run.timing.contents import Contents
from audit.run.timing.stopwatch import Stopwatch, TimedCall

FOLDER = claims.load("controls_caches")
SHAPE = {"rows": 6, "cols": 9}
CACHES = [variant.name for variant in FOLDER.claim.variant if variant.role == "known_bad"]
LEFT_BEHIND = "in_the_callers_dict_bad"
"""Finds nothing here: each call gets a dict of its own, so that packing belongs to its time."""
KNOWN_GOOD = [variant.name for variant in FOLDER.claim.variant if variant.role == "known_good"]


class Watch:
    """Stands for the GPU: does what a stopwatch does around a call, without its clocks."""

    def cold(self, calls: Sequence[TimedCall]) -> list[float]:
        for timed in calls:
            timed.before()
            timed.after(timed.call())
        return [1.0] * len(calls)

    def hot(self, calls: Sequence[TimedCall]) -> list[float]:
        return self.cold(calls)[1:]

    def host(self, timed: TimedCall) -> float:
        return self.cold([timed])[0]


def session(
    functions: dict[str, Callable[..., Any]], reference: ModuleType, shape: dict[str, int]
) -> list[dict[str, Any]]:
    """What a session of twelve blocks tells of those functions, called on the host."""
    draws = [reference.inputs(shape, torch.Generator().manual_seed(seed)) for seed in range(2)]
    choice = random.Random(7)
    contents = Contents(
        draws, lambda values: placed(values, torch.clone, Harness().host), reference.reference,
        choice=choice, free_bytes=1 << 30,
    )  # fmt: skip
    answers = Answers(contents, lambda _: 1e-3, need=needed_by(reference, contents))
    contents.renew(contents.most)
    kept = KeptOutputs(Path(), each=0, choice=choice, write=lambda *_: "")
    stopwatch = cast(Stopwatch, Watch())
    calls = {name: over(function, contents.buffer_sets) for name, function in functions.items()}
    blocks = Blocks(calls, contents=contents, answers=answers, stopwatch=stopwatch, kept=kept, choice=choice)
    for name in calls:
        blocks.warm(name)
    blocks.repeat(next(iter(calls)), "control:again")
    blocks.run(Plan(budget_s=600.0, half_width=1e9), between=lambda _: None)
    assert all({COLD, SEEN} <= set(taken) for name, taken in blocks.taken.items() if not name.startswith("control"))
    return answers.events()


def control(name: str) -> Callable[..., Any]:
    """The function of a control, in a module of its own."""
    spec = importlib.util.spec_from_file_location(f"control_{name}", FOLDER.path / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Callable[..., Any], module.forward)


@pytest.fixture(scope="module")
def told() -> dict[str, dict[str, Any]]:
    """What one session tells of all controls side by side, as they would be timed."""
    flush = torch.zeros(64 << 20, dtype=torch.uint8)  # what `by_timer` looks for
    functions = {"baseline:eager": load_reference(str(FOLDER.reference)).reference}
    functions |= {name: control(name) for name in [*CACHES, *KNOWN_GOOD]}
    rows = session(functions, load_reference(str(FOLDER.reference)), SHAPE)
    assert flush.numel()
    return {row.get("answered", "contents"): row for row in rows}


@pytest.mark.parametrize("name", [name for name in CACHES if name != LEFT_BEHIND])
def test_a_kept_result_is_wrong_while_it_is_timed(told: dict[str, dict[str, Any]], name: str) -> None:
    if name in ("by_sample_bad", "by_ends_bad", "by_sum_bad", "by_pattern_bad", "by_rounded_sum_bad"):
        alike = 0.1 if name == "by_rounded_sum_bad" else 0.0  # a few contents round alike
        assert told[name]["wrong"] <= alike * told[name]["calls"], (
            "its key is new for new numbers, so that it computes and is timed for it"
        )
        return
    assert told[name]["wrong"] > 0.3 * told[name]["calls"]
    assert told[name]["drawn_wrong"] > 0
    assert told[name]["first"]["elements_wrong"] > 0


@pytest.mark.parametrize("name", ["baseline:eager", LEFT_BEHIND, *KNOWN_GOOD])
def test_what_computes_is_right_in_every_call(told: dict[str, dict[str, Any]], name: str) -> None:
    assert (told[name]["wrong"], told[name]["first"]) == (0, None)
    assert told[name]["calls"] > 40
    assert 0 < told[name]["drawn"] < told[name]["calls"]


def test_the_contents_tell_results_apart(told: dict[str, dict[str, Any]]) -> None:
    about = told["contents"]["contents"]
    assert about["mixed"]
    assert about["told_apart"] > 0.9
    assert 0 <= about["need"] < 1e-5


def plain(function: Callable[..., torch.Tensor], **more: Any) -> ModuleType:
    inputs = more.pop("inputs", lambda shape, generator: [torch.randn(shape["N"], generator=generator)])
    oracle = more.pop("oracle", lambda x: function(x.double()))
    return cast(ModuleType, SimpleNamespace(inputs=inputs, reference=function, oracle=oracle))


def of(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(row for row in rows if row.get("answered") == name)


def test_a_result_that_no_content_changes_tells_nothing() -> None:
    rows = session({"claim": torch.zeros_like}, plain(torch.zeros_like), {"N": 50})
    assert rows[0]["contents"]["told_apart"] == 0.0


def test_a_reference_that_disagrees_with_its_oracle_is_compared_with_nobody() -> None:
    rows = session({"claim": torch.sin}, plain(torch.sin, oracle=lambda _: torch.ones(3)), {"N": 50})
    assert [row["contents"]["need"] for row in rows] == [None]


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (lambda _: None, "returned no tensor but NoneType"),
        (lambda x: x[1:], "returned a tensor of shape [49]"),
    ],
)
def test_what_is_no_such_tensor_is_wrong(result: Callable[..., Any], why: str) -> None:
    row = of(session({"claim": result}, plain(torch.sin), {"N": 50}), "claim")
    assert row["wrong"] == row["calls"]
    assert row["first"]["why"] == why


def test_a_few_elements_on_a_step_are_not_held_against_a_call() -> None:
    def stepped(x: torch.Tensor) -> torch.Tensor:
        result = x.sign()
        result[7] *= -1
        return result

    assert of(session({"claim": stepped}, plain(torch.sign), {"N": 5000}), "claim")["wrong"] == 0
    assert of(session({"claim": stepped}, plain(torch.sign), {"N": 500}), "claim")["wrong"] > 0


def test_elements_are_counted_as_the_judge_counts_them() -> None:
    want = torch.tensor([1.0, torch.inf, torch.nan, 0.0, 2.0])
    got = torch.tensor([1.001, torch.inf, torch.nan, 0.1, torch.nan])
    assert int(compared(got, want, relative=1e-2, scale=1.0)) == 2
    assert int(compared(got.half(), want, relative=1e-2, scale=1.0)) == 2
    assert int(compared(torch.tensor([3, 4]), torch.tensor([3, 5]), relative=1e-3, scale=4.0)) == 1
