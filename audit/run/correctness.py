"""When an element of a result is right: the one rule, for numpy arrays of the judge and torch tensors of a session.

An element is right when it is as near to the float64 result as `relative * (|want| + scale)`, where `scale` is the root
mean square of the finite elements of the float64 result. An infinity is right where the same infinity is due, a NaN
where a NaN is due. Every function takes arrays of either library, float64 where it says `want`, of one shape.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from audit.model.errors import AuditError

Numbers = Any
"""A numpy array or a torch tensor; neither library is needed for the other's."""
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
"""The distance from 1 to the next number of a type (IEEE 754; for bfloat16 that of 8 bits of significand)."""
FLOOR_EPSILONS = 2
"""A tolerance is at least so many epsilons of the result's type. One rounding of a right value costs half an epsilon;
`torch.testing.assert_close` grants bfloat16 two (1.6e-2), float16 one and float32 eleven (PyTorch's documentation). The
types of the inputs add nothing, since the float64 result is computed from the very values the kernel gets."""
LEAST_NUMBER = {"float16": 2.0**-24, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}
"""The least normal number of a type (IEEE 754): below it digits are lost, in products on their way too, and a compiler
may make zero of it (`--use_fast_math`). GPUs compute with the subnormal numbers of float16, whose least this is."""
MOST_BITS = 53.0
"""Told where no error shows: a float64 has no more."""
OVERFLOWING, VANISHING = 1e300, 1e-250
"""Sums of squares beyond these have lost what they are summed from."""


class NothingFinite(AuditError):
    """A right result without any finite element, with which nothing can be compared: the task is at fault."""

    def __init__(self) -> None:
        super().__init__(
            "the float64 result of reference.py has no finite element, so nothing can be compared with it: "
            "correct `oracle` or `inputs`"
        )


def floor(dtype: str) -> float:
    """The finest relative tolerance that a result of that type can be held to; 0 for integers."""
    return FLOOR_EPSILONS * EPSILON.get(dtype, 0.0)


def held_to(relative: float, dtype: str) -> float:
    """The relative tolerance that counts for a result of that type: the stated one, or the type's floor."""
    return max(relative, floor(dtype))


def least_scale(dtype: str, relative: float) -> float:
    """The scale at which the tolerance allows two of a type's least numbers: no finer ones can be relied on."""
    return FLOOR_EPSILONS * LEAST_NUMBER.get(dtype, 0.0) / relative if relative else 0.0


def rms(values: Numbers) -> float:
    """The root of the mean square of the finite elements.

    Raises:
        NothingFinite: there is none.
    """
    flat = values.reshape(-1)
    with np.errstate(invalid="ignore", over="ignore"):
        total = float(flat @ flat)
    if VANISHING < total < OVERFLOWING:
        return math.sqrt(total / len(flat))
    finite = flat[abs(flat) < math.inf]
    if not len(finite):
        raise NothingFinite
    largest = float(abs(finite).max())
    if largest == 0.0:
        return 0.0
    shares = finite / largest
    return largest * math.sqrt(float(shares @ shares) / len(finite))


def bounds(want: Numbers, relative: float, scale: float) -> Numbers:
    """How far each element may be off; infinite or NaN where the right value is, which `right` never asks."""
    return relative * (abs(want) + scale)


def same(got: Numbers, want: Numbers) -> Numbers:
    """Where two results hold the same number, or a NaN each."""
    return (got == want) | ((got != got) & (want != want))  # noqa: PLR0124  # both libraries know a NaN so


def right(got: Numbers, want: Numbers, *, relative: float, scale: float) -> Numbers:
    """Which elements are right; `got` may be one number that stands for a result of nothing else."""
    with np.errstate(invalid="ignore", over="ignore"):
        near = abs(got - want) <= bounds(want, relative, scale)
    return same(got, want) | (near & (abs(want) < math.inf) & (abs(got) < math.inf))


def moved(was: Numbers, now: Numbers, *, relative: float, least_scale: float = 0.0) -> Numbers:
    """Where two right results are farther apart than two results that are right for one input can be.

    Raises:
        NothingFinite: one of them has no finite element.
    """
    scales = [max(least_scale, rms(one)) for one in (was, now)]
    with np.errstate(invalid="ignore", over="ignore"):
        near = abs(now - was) <= bounds(was, relative, scales[0]) + bounds(now, relative, scales[1])
    return ~(same(now, was) | (near & (abs(was) < math.inf) & (abs(now) < math.inf)))


def needed(got: Numbers, want: Numbers) -> float | None:
    """The least relative tolerance at which every element is right; None where there is none, or nothing finite.

    None too for results of two shapes, as where values decide how many elements there are.
    """
    if got.shape != want.shape:
        return None
    try:
        scale = rms(want)
    except NothingFinite:
        return None
    alike = same(got, want)
    if bool(alike.all()):
        return 0.0
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        shares = abs(got - want) / (abs(want) + scale)
    shares[alike] = 0.0
    worst = float(shares.max())  # NaN if one is
    return worst if math.isfinite(worst) else None


def effective_bits(got: Numbers, want: Numbers) -> float | None:
    """log2(rms(want) / rms(got - want)) over the finite elements; None where that says nothing: the result is zero, or
    one of the two is not finite where the other is something else, or they have two shapes."""
    if got.shape != want.shape:
        return None
    finite = (abs(want) < math.inf) & (abs(got) < math.inf)
    if not bool(finite.any()) or not bool((finite | same(got, want)).all()):
        return None
    scale, error = rms(want[finite]), rms(got[finite] - want[finite])
    if scale == 0.0:
        return None
    return MOST_BITS if error == 0.0 else min(MOST_BITS, math.log2(scale / error))
