"""Which elements must move with an input, by values alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from audit.model import Tolerance
from audit.probes import dead_inputs
from audit.probes.concluding.compare import compare
from audit.probes.observing.called import Call, SessionBroken
from audit.probes.observing.cases import Case
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target
from audit.probes.observing.variations import Variation
from audit.run.messages.results import digest_of

TARGET = cast(Target, SimpleNamespace(relative=lambda _: 1e-2))
TOLERANCE = Tolerance(relative=1e-2, reason="float32")
COMPARING = cast(
    Target,
    SimpleNamespace(
        relative=lambda _: 1e-2,
        tolerance=TOLERANCE,
        compared=lambda call, case: compare(call.values(), case.right, TOLERANCE),
        compared_within=lambda tolerance, call, case: compare(call.values(), case.right, tolerance),
    ),
)


def asked(folder: Path, name: str, right: list[float], got: list[float]) -> Asked:
    file = folder / f"{name}.bin"
    file.write_bytes(np.array(got, np.float32).tobytes())
    event: dict[str, Any] = {"raised": None, "shape": [len(got)], "dtype": "float32"}
    call = Call({**event, "digest": digest_of(file.read_bytes())}, file)
    return Asked(name, Case({"N": len(got)}, folder / f"{name}.pt", np.array(right), "float32"), call)


@pytest.mark.parametrize(
    ("was", "now", "counts"),
    [([1.0, 2.0], [3.0, 2.0], (1, 1)), ([1e-30, 2.0], [2e-30, 2.0], (0, 0)), ([4e-41, 0.0], [1e-43, 6e-40], (0, 0))],
    ids=["moved", "small beside others", "all below the least normal number, which a product loses on its way"],
)
def test_elements_that_must_move(was: list[float], now: list[float], counts: tuple[int, int], tmp_path: Path) -> None:
    kept = [0.0, 2.0]
    assert dead_inputs._counts(TARGET, asked(tmp_path, "a", was, kept), asked(tmp_path, "b", now, kept)) == counts


@pytest.mark.parametrize(
    ("kind", "got", "wrong"),
    [
        ("number", [3.0, 4.0], 0),
        ("number", [3.1, 4.0], 0),
        ("number", [3.0, 5.0], 1),
        ("counts", [3.0, 5.0], 1),
        ("drawn", [3.0, 5.0], 0),
    ],
    ids=["right", "near", "far", "far for other counts", "another probe's"],
)
def test_a_result_that_follows_a_number_and_is_far_off(kind: str, got: list[float], wrong: int, tmp_path: Path) -> None:
    first, changed = asked(tmp_path, "a", [1.0, 2.0], [1.0, 2.0]), asked(tmp_path, "input_1_decay", [3.0, 4.0], got)
    made = Variation(changed.what, "inputs", changed.case, {}, how="0.9875 for 0.9", kind=kind)
    row = dead_inputs._row(COMPARING, first, changed, made)
    assert (row["right"], row.get("elements_wrong", 0)) == (True, wrong)


@pytest.mark.parametrize("kind", ["whole number", "counts", "drawn"])
def test_another_shape_leaves_a_whole_number_untested_and_else_names_the_input(kind: str, tmp_path: Path) -> None:
    first, changed = asked(tmp_path, "a", [1.0, 2.0], [1.0, 2.0]), asked(tmp_path, "input_1_count", [1.0], [1.0])
    returned = Asked(changed.what, replace(changed.case, expected=np.ones(3)), changed.call)
    made = Variation(returned.what, "inputs", returned.case, {}, how="3 for 2", kind=kind)
    if kind != "drawn":
        row = dead_inputs._row(TARGET, first, returned, made)
        assert row == {"input": "input_1_count", "not_tested": f"3 for 2: {dead_inputs.NO_SUCH_SHAPE}"}
    else:
        with pytest.raises(
            SessionBroken, match=r"with other values in input 1 \(count\) \(3 for 2\), the call returned"
        ):
            dead_inputs._row(TARGET, first, returned, made)


@pytest.mark.parametrize(("got", "wrong"), [([3.0, 4.0], 0), ([3.1, 4.0], 0), ([3.0, 5.0], 1)])
def test_a_result_for_the_same_numbers_in_another_order(got: list[float], wrong: int, tmp_path: Path) -> None:
    assert dead_inputs._far_off(COMPARING, asked(tmp_path, "a", [3.0, 4.0], got)) == {"elements_wrong": wrong}


def test_another_order_that_the_kernel_refuses_is_not_tested(tmp_path: Path) -> None:
    given = asked(tmp_path, "a", [3.0, 4.0], [3.0, 4.0])
    raised = replace(given, call=Call({**given.call.event, "raised": "RuntimeError: no"}, given.call.file))
    shorter = replace(given, case=replace(given.case, expected=np.ones(3)))
    found = [dead_inputs._far_off(COMPARING, one)["not_tested"] for one in (None, raised, shorter)]
    assert found == ["refused", "refused: RuntimeError: no", dead_inputs.NO_SUCH_SHAPE]


class Broken(Exception):
    """No call may be made."""


@pytest.mark.parametrize("right", [True, False])
def test_another_order_is_asked_about_where_the_first_call_is_right(right: bool, tmp_path: Path) -> None:
    def steps(*_: object, **__: object) -> list[Call]:
        if not right:
            raise Broken
        return [changed.call]

    first = asked(tmp_path, "a", [1.0, 2.0], [1.0, 2.0 if right else 4.0])
    changed = asked(tmp_path, "reordered_input_0_x", [2.0, 1.0], [1.0, 2.0])
    made = [Variation(changed.what, "reordered", changed.case, {}, how="ascending")]
    target = cast(Target, SimpleNamespace(**vars(COMPARING), steps=steps, plain=None))
    row = {"input": "input_0_x", "order": "ascending", "elements_wrong": 2}
    assert dead_inputs._orders(target, first, made) == ({"orders": [row]} if right else {})
