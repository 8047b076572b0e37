"""Where a result is placed among the precisions, and where nothing can be said."""

import pytest

from audit.probes.precision import LEAST_GAP_BITS, MARGIN_BITS, MOST_BITS, _may_round, class_of, conclude

MATRIX_PRODUCT = {"fp32": 22.5, "tf32": 11.9, "fp16": 11.9, "bf16": 8.9}


@pytest.mark.parametrize(
    ("bits", "place"),
    [(22.4, "fp32"), (19.0, "fp32"), (15.0, "fp32"), (12.0, "tf32"), (11.0, "tf32"), (9.0, "bf16"), (3.0, "bf16")],
)
def test_a_result_is_placed_by_its_bits(bits: float, place: str) -> None:
    assert class_of(bits, MATRIX_PRODUCT) == place


def test_a_right_long_sum_stays_float32_with_room() -> None:
    """A plain sum of 4096 products in order keeps about 19 bits; what fails a kernel is within a margin of TF32."""
    assert class_of(MATRIX_PRODUCT["tf32"] + MARGIN_BITS + 0.1, MATRIX_PRODUCT) == "fp32"


def test_yardsticks_that_lie_together_place_nothing() -> None:
    """A mean of many positive numbers loses no more by rounding its inputs than by the order of its sum."""
    close = {**MATRIX_PRODUCT, "tf32": MATRIX_PRODUCT["fp32"] - LEAST_GAP_BITS + 0.1}
    assert class_of(12.0, close) is None


def test_a_reference_that_computes_in_float32_whatever_it_is_given_is_no_finer_yardstick_than_float32() -> None:
    """Inputs in bf16, cast to float32 by the reference: the oracle has float32's own rounding in it."""
    assert class_of(25.1, {"fp32": 53.0, "tf32": 25.2, "fp16": 25.2, "bf16": 25.2}) is None


def test_a_reference_that_casts_its_result_to_half_is_no_finer_yardstick_than_half() -> None:
    """A bf16 result holds 8 bits, so that what was computed in float32 and what was not look alike."""
    exact = {"fp32": 53.0, "tf32": 9.25, "fp16": 9.25, "bf16": 9.25}
    assert class_of(9.3, exact, most=MOST_BITS["bfloat16"]) is None
    assert class_of(9.3, exact) == "bf16", "as a float32 result it would be"


@pytest.mark.parametrize(
    ("code", "rounds"),
    [
        ("y[i] = 0.299f * r + 0.587f * g + 0.114f * b;", False),
        ("float4 v = *reinterpret_cast<const float4*>(x); y[i] = __fmaf_rn(a, b, c);", False),
        ("// a fast approximation, in half the time\ny[i] = 2 * x[i]; /* no fp16 */", False),
        ("const half narrow = __float2half(x[index]);", True),
        ("y[i] = __expf(x[i]);", True),
        ('asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));', True),
        ("y[i] = __uint_as_float(__float_as_uint(x[i]) & 0xffffe000);", True),
        ("torch.backends.cuda.matmul.allow_tf32 = True", True),
    ],
)
def test_a_source_without_a_narrower_format_gets_a_hint_for_its_bits(code: str, rounds: bool) -> None:
    """Coefficients of three digits where the task has four leave as many bits as fp16 does."""
    assert _may_round(code) is rounds
    seen = {
        "shape": {"size": 256},
        "bits": 13.2,
        "bits_of": {"fp32": 24.4, "tf32": 12.9, "fp16": 12.9, "bf16": 9.9},
        "class": "tf32",
        "declared": "fp32",
        "rounds": rounds,
    }
    answered = conclude(seen)
    assert (answered.outcome, answered.grade) == ("fail", "proved" if rounds else "hint")
    del seen["rounds"]
    assert conclude(seen).grade == "proved", "as older records have it"
