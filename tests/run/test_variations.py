"""Other inputs for a case, rounding to formats, and what a process is seen to change."""

from __future__ import annotations

import math
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from audit import claims
from audit.run.calls.arguments import LAYOUTS, Arguments, differing
from audit.run.calls.correctness import effective_bits
from audit.run.inputs.formats import FORMATS, tf32
from audit.run.inputs.transforms import (
    DISTRIBUTIONS,
    DRAWN,
    Range,
    extreme_bytes,
    leaves_range,
    one_moved,
    opposed,
    redistributed,
    reordered_masks,
    with_value,
)
from audit.run.messages.requests import Step, Variations, Vary
from audit.run.messages.results import Results
from audit.run.sessions import process_state
from audit.run.sessions.oracle import KINDS, load_reference

LOWER = torch.randn(9, 9, generator=torch.Generator().manual_seed(5)).tril()


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_distribution_keeps_zeros_and_integers(name: str) -> None:
    indices = torch.arange(4)
    new, same, number = redistributed([LOWER, indices, 0.5], name, torch.Generator().manual_seed(1))
    assert new.dtype == LOWER.dtype
    assert torch.equal(new, new.tril())
    assert same is indices
    assert number == 0.5
    assert not torch.equal(new, LOWER)


def test_strided_numbers_stand_apart_by_a_power_of_two() -> None:
    (new,) = redistributed([torch.ones(2, 100)], "strided", torch.Generator())
    assert (new[1] > 1.0).nonzero().flatten().tolist() == [*range(0, 100, 4)]


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize(("drawn", "size"), [(0.1, 0.1), (1.0, 1.0), (50.0, 1.0)])
def test_numbers_that_are_drawn_anew_are_no_larger_than_the_task_s(name: str, drawn: float, size: float) -> None:
    of_task = drawn * torch.randn(400, 20, generator=torch.Generator().manual_seed(2))
    (new,) = redistributed([of_task], name, torch.Generator().manual_seed(1))
    (standard,) = redistributed([of_task / drawn], name, torch.Generator().manual_seed(1))
    assert torch.allclose(new, size * standard, rtol=0.05)


def test_products_of_the_first_tensor_of_both_signs_are_negative() -> None:
    scales, indices, table = torch.rand(9) + 0.1, torch.arange(9), torch.randn(9)
    found = opposed([scales, table, LOWER, indices, LOWER.T, 5], but={1})
    assert found is not None
    assert found[0] is scales and found[1] is table and found[3] is indices
    assert torch.equal(found[2], -LOWER.abs()), "zeros stay"
    assert torch.equal(found[4], LOWER.T.abs())
    assert opposed([scales, indices, torch.zeros(3)]) is None, "numbers of one sign stay"


def test_numbers_are_shifted_up_and_then_further_down() -> None:
    for name, sign in (("offset", 1.0), ("far_offset", -1.0)):
        (new,) = redistributed([torch.ones(4)], name, torch.Generator())
        assert bool((sign * new > 30.0).all())


def test_bytes_are_put_at_an_end_of_their_range_and_indices_stay() -> None:
    indices, data = torch.arange(4), torch.tensor([-3, 0, 7], dtype=torch.int8)
    for lowest, end in ((True, -3), (False, 7)):
        found = extreme_bytes([indices, data, 5], lowest=lowest)
        assert found is not None
        assert found[0] is indices
        assert found[1].tolist() == [end] * 3
        assert found[2] == 5
    assert extreme_bytes([indices, LOWER], lowest=True) is None


def test_masks_that_are_drawn_get_holes_and_keep_their_counts() -> None:
    prefix, causal = torch.arange(64)[None] < torch.tensor([[9], [40]]), LOWER.bool()
    found = reordered_masks([prefix, causal, 5], lambda: [~prefix, causal, 5], torch.Generator().manual_seed(1))
    assert found is not None
    assert found[0].sum(1).tolist() == [9, 40]
    assert not torch.equal(found[0], prefix)
    assert found[1] is causal, "every draw gives it alike"
    assert reordered_masks([causal, 5], lambda: [causal, 5], torch.Generator()) is None
    assert reordered_masks([LOWER], pytest.fail, torch.Generator()) is None, "no other draw is made for nothing"


def test_padding_of_infinities_is_neither_moved_nor_a_measure() -> None:
    padded = torch.tensor([-math.inf, 1.0, -2.0, -math.inf])
    (moved,) = one_moved([padded], 0, 1.0)
    assert bool(moved.isfinite().equal(padded.isfinite()))
    assert (moved != padded).nonzero().flatten().tolist() == [2]


def test_one_element_moves_and_the_given_values_stay() -> None:
    before = LOWER.clone()
    (moved,) = one_moved([LOWER], 0, 1.0)
    assert torch.equal(LOWER, before)
    assert (moved != LOWER).nonzero().tolist() == [[8, 8]]
    (poisoned,) = with_value([LOWER], 0, math.nan, position=1.0)
    assert poisoned.isnan().nonzero().tolist() == [[8, 8]]


def test_tf32_keeps_eleven_bits_rounds_to_even_and_leaves_infinity() -> None:
    one = torch.tensor([1 + 2**-10, 1 + 2**-11, 1 + 3 * 2**-11, math.inf, -1 - 2**-12])
    assert tf32(one).tolist() == [1 + 2**-10, 1.0, 1 + 2**-9, math.inf, -1.0]


@pytest.mark.parametrize(
    ("name", "least", "most"), [("split_fp16", 22, 25), ("tf32", 12, 13), ("fp16", 12, 13), ("bf16", 9, 10)]
)
def test_effective_bits_of_rounded_numbers(name: str, least: float, most: float) -> None:
    x = torch.randn(1 << 14, generator=torch.Generator().manual_seed(7))
    bits = effective_bits(FORMATS[name](x).double(), x.double())
    assert bits is not None
    assert least < bits < most


def test_no_bits_are_told_of_what_is_not_finite() -> None:
    assert effective_bits(torch.tensor([math.nan]).double(), torch.tensor([1.0]).double()) is None


def told(tmp_path: Path, **more: Any) -> list[dict[str, Any]]:
    inputs = tmp_path / "0.inputs.pt"
    torch.save([LOWER, LOWER.clone()], inputs)
    events: list[dict[str, Any]] = []
    groups = ["other", "moved", "whole_numbers", "inputs", "distributions", "nonfinite"]
    results = Results()
    request = Variations(
        **{
            "reference": claims.load("triangular_mm").reference,
            "device": "cpu",
            "relative": 1e-4,
            "vary": (Vary(inputs=inputs, shape={"N": 9}, groups=tuple(groups)),),
            "results": os.dup(results.fileno()),
            **more,
        }
    )
    events += KINDS["variations"](request, None)
    return [event | {"results": results} for event in events]


def test_variations_come_with_what_is_right_for_them(tmp_path: Path) -> None:
    first, *others = told(tmp_path)
    assert set(first["bits"]) == {"fp32", "split_fp16", "tf32", "fp16", "bf16"}
    names = [event["variation"] for event in others]
    moved = ["last_element", "one_element", "middle_element", "slightly_moved", "whole_numbers", "two_exchanged"]
    assert names[:9] == ["other_values", *moved, "input_0_a", "input_1_b"]
    assert all(event["moved"] > 0 for event in others if event["group"] in ("moved", "inputs"))
    assert {*DISTRIBUTIONS, "negative", "nan", "inf"} <= {*names}
    for event in others:
        a, b = torch.load(tmp_path / f"0.{event['variation']}.inputs.pt", weights_only=True)
        want = event["results"].at(event["expected_at"], event["expected_shape"])
        np.testing.assert_array_equal(want, torch.matmul(a.double(), b.double()).tril().numpy())


def test_inputs_of_a_reference_that_names_none_have_their_number_alone(tmp_path: Path) -> None:
    reference = tmp_path / "reference.py"
    text = claims.load("triangular_mm").reference.read_text(encoding="utf-8")
    reference.write_text(f"{text}\nnamed = reference\n\n\ndef reference(*arguments):\n    return named(*arguments)\n")
    names = [event.get("variation") for event in told(tmp_path, reference=reference)]
    assert {"input_0", "input_1"} <= {*names}


def test_each_input_is_changed_among_discriminating_ones(tmp_path: Path) -> None:
    reference = tmp_path / "reference.py"
    reference.write_text(claims.load("conv3d_groupnorm_mean").reference.read_text(encoding="utf-8"))
    shape, inputs = {"batch": 2, "depth": 3, "height": 4, "width": 5}, tmp_path / "1.inputs.pt"
    torch.save(load_reference(str(reference)).inputs(shape, torch.Generator().manual_seed(1)), inputs)
    groups = ["discriminating", "inputs"]
    vary = (Vary(inputs=inputs, shape=shape, groups=tuple(groups)),)
    _, base, *others = told(tmp_path, reference=reference, vary=vary)
    assert (base["variation"], base["headroom"]["fp32"] < 1e-4) == ("discriminating", True)
    assert [event["variation"] for event in others][-1] == "input_4_shift"
    known = torch.load(vary[0].beside("discriminating"), weights_only=True)
    for index, event in enumerate(others):
        values = torch.load(vary[0].beside(event["variation"]), weights_only=True)
        assert [i for i, (x, y) in enumerate(zip(known, values, strict=True)) if not torch.equal(x, y)] == [index]


def test_the_same_inputs_give_the_same_variations(tmp_path: Path) -> None:
    def values() -> list[bytes]:
        _, *others = told(tmp_path)
        return [event["results"].at(event["expected_at"], event["expected_shape"]).tobytes() for event in others]

    assert values() == values()


def test_overflow_of_a_lower_format_is_told(tmp_path: Path) -> None:
    (large,) = (event for event in told(tmp_path) if event.get("variation") == "large")
    assert large["headroom"]["fp32"] < 1e-5
    assert large["headroom"]["fp16"] is None


SHARES = """
import torch
def inputs(shape, draw): return [torch.randn(shape["N"], generator=draw), torch.randn(shape["N"], generator=draw)]
def reference(a, b): return ((a[:, None] {0} b).to(a.dtype)).{1}
oracle = reference
"""


@pytest.mark.parametrize(
    ("compared", "result", "tied"),
    [(">", "mean(1)", True), ("+", "mean(1)", False), (">", "argmax(1).to(a.dtype)", False)],
)
def test_the_rule_of_a_reference_for_equal_numbers_is_asked(
    tmp_path: Path, compared: str, result: str, *, tied: bool
) -> None:
    (tmp_path / "reference.py").write_text(SHARES.format(compared, result))
    torch.save([torch.randn(64), torch.randn(64)], tmp_path / "1.inputs.pt")
    vary = (Vary(inputs=tmp_path / "1.inputs.pt", shape={"N": 64}, groups=("whole_numbers",)),)
    _, whole, *_ = told(tmp_path, reference=tmp_path / "reference.py", vary=vary)
    assert whole.get("tied", False) is tied
    need = whole["headroom"]["ties"]
    assert (need is not None and need < 1e-4) is ("mean" in result)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(7,), (5, 7), (2, 5, 7)])
def test_a_layout_holds_the_same_values(layout: str, shape: tuple[int, ...]) -> None:
    x = torch.randn(shape)
    (view,) = Arguments([x], torch.clone).laid_out(layout)
    assert torch.equal(view, x)
    assert view.is_contiguous() == (layout == "offset")


def test_an_unknown_layout_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValidationError, match="padded"):
        Step(run="claim", case=0, layout="diagonal")  # type: ignore[arg-type]


def test_what_a_call_changed_is_put_back_at_the_same_address() -> None:
    case = Arguments([LOWER, 2], torch.clone)
    (buffer, number), place = case.fill(case.values), case.buffers[0].data_ptr()
    buffer.zero_()
    assert case.changed([buffer, number])[0] > 0
    case.invalidate()
    again, _ = case.fill(case.values)
    assert (again.data_ptr(), differing(again, LOWER)) == (place, 0)


def test_settings_and_threads_left_behind_are_seen() -> None:
    before = process_state.look()
    stop = threading.Event()
    threading.Thread(target=stop.wait).start()
    torch.set_float32_matmul_precision("high")
    try:
        seen = process_state.look().since(before)
    finally:
        torch.set_float32_matmul_precision("highest")
        stop.set()
    assert seen["threads"] == 1
    assert "torch.get_float32_matmul_precision" in seen["changed"]


def test_denormals_that_are_flushed_from_now_on_are_seen() -> None:
    before = process_state.look()
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor keeps denormals")
    try:
        seen = process_state.look().since(before)
    finally:
        torch.set_flush_denormal(False)
    assert seen["changed"] == ["rounding and denormals of the processor"]
    assert process_state.look().since(before)["changed"] == []


def _left(values: list[torch.Tensor], own: list[torch.Tensor]) -> bool:
    return leaves_range(values, [Range.of(x) for x in own])


def test_only_inputs_drawn_from_a_range_with_ends_can_be_left() -> None:
    drawn = torch.Generator().manual_seed(3)
    uniform, normal = torch.rand(4096, generator=drawn), torch.randn(4096, generator=drawn)
    other = torch.rand(4096, generator=drawn)
    assert not _left([other], [uniform])
    assert not _left([other * 0.5 + 0.2], [uniform])
    assert _left([-other], [uniform])
    assert _left([torch.cat([other, torch.tensor([16.0])])], [uniform])
    assert not _left([normal * 1e3], [normal])
    assert not _left([torch.ones(4096) * 3], [torch.ones(4096)])
    assert not _left([torch.arange(9)], [torch.arange(9)])
    pixels = torch.arange(256.0).repeat(16)
    assert _left([pixels + 0.5], [pixels])
    assert not _left([pixels.flip(0)], [pixels])
    signed = torch.arange(-8.0, 8.0).repeat(256)
    assert not _left([signed + 0.5], [signed])
    assert _left([normal, -other], [normal, uniform])


def test_a_zero_leaves_a_range_that_does_not_reach_it_where_no_draw_is_zero() -> None:
    drawn = torch.Generator().manual_seed(4)
    positive, uniform = torch.rand(4096, generator=drawn) + 0.1, torch.rand(4096, generator=drawn)
    kept = (torch.rand(4096, generator=drawn) < 0.03).float()
    assert _left([positive * kept], [positive])
    assert _left([-positive * kept], [-positive])
    assert _left([torch.zeros(4096)], [positive])
    assert not _left([positive * kept.flip(0)], [positive * kept])
    assert not _left([uniform * kept], [uniform])
    assert not _left([torch.zeros(4096)], [torch.randn(4096, generator=drawn) + 3.0])
    counts = torch.arange(1.0, 9.0).repeat(512)
    assert _left([counts * kept], [counts])
