"""The rule for a right element, for the judge's numpy arrays and a session's torch tensors.

An element is right if it differs from the float64 result by at most `relative * (|want| + scale)`, where `scale` is the
root mean square of the finite elements of the float64 result, or more where a published check has an absolute part that
is larger (`scale_of`). An infinity or NaN is right where the float64 result has
the same. Every function takes arrays of either library of one shape; `want` is float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from audit.model.claim import MOST_ABSOLUTE
from audit.model.errors import AuditError

Numbers = Any
"""A numpy array or a torch tensor; torch is not imported."""
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
"""The distance from 1 to the next number of a type (IEEE 754; for bfloat16 that of 8 bits of significand)."""
FLOOR_EPSILONS = 2
"""The least tolerance, in epsilons of the result's type. Rounding a right value costs half an epsilon;
`torch.testing.assert_close` grants bfloat16 two (1.6e-2), float16 one and float32 eleven (PyTorch's documentation). The
types of the inputs add nothing, since the float64 result is computed from the values that the kernel gets."""
LEAST_NUMBER = {"float16": 2.0**-24, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}
"""The least normal number of a type (IEEE 754): below it digits are lost, in intermediate products too, and a compiler
may flush it to zero (`--use_fast_math`). For float16 the least subnormal number, since GPUs compute with those."""
MOST_BITS = 53.0
"""The effective bits of a result without error: a float64 has no more."""
CHUNK, CHUNK_CUDA = 1 << 18, 1 << 26
"""Elements of one step, which fit into a core's cache, and of one on a GPU: temporary arrays of whole results cost more
than the arithmetic, since each is mapped and zeroed anew."""
OVERFLOWING, VANISHING = 1e300, 1e-250
"""Beyond these a sum of squares has overflowed or underflowed."""


class NothingFinite(AuditError):
    """The right result has no finite element to compare with: the task is at fault."""

    def __init__(self) -> None:
        super().__init__(
            "the float64 result of reference.py has no finite element, so nothing can be compared with it: "
            "correct `oracle` or `inputs`"
        )


def floor(dtype: str) -> float:
    """Return the least relative tolerance for a result of that type; 0 for integers."""
    return FLOOR_EPSILONS * EPSILON.get(dtype, 0.0)


def held_to(relative: float, dtype: str) -> float:
    """Return the relative tolerance for a result of that type: the larger of the stated one and the type's floor."""
    return max(relative, floor(dtype))


def least_scale(dtype: str, relative: float) -> float:
    """Return the scale at which the tolerance equals two of the type's least numbers."""
    return FLOOR_EPSILONS * LEAST_NUMBER.get(dtype, 0.0) / relative if relative else 0.0


def scale_of(absolute: float, relative: float, *, rms: float) -> float:
    """Return the scale at which the tolerance equals a stated absolute one, up to MOST_ABSOLUTE of the rms."""
    return min(absolute, MOST_ABSOLUTE * rms) / relative if relative else 0.0


def rms(values: Numbers) -> float:
    """Return the root mean square of the finite elements. Raises NothingFinite."""
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
    """Return the largest allowed error of each element; not finite where `want` is not, where `right` ignores it."""
    return relative * (abs(want) + scale)


def same(got: Numbers, want: Numbers) -> Numbers:
    """Return where two results have the same number, or both NaN."""
    return (got == want) | ((got != got) & (want != want))  # noqa: PLR0124  # NaN, in both libraries


def right(got: Numbers, want: Numbers, *, relative: float, scale: float) -> Numbers:
    """Return which elements are right; `got` may be a single number for a constant result."""
    with np.errstate(invalid="ignore", over="ignore"):
        near = abs(got - want) <= bounds(want, relative, scale)
    return same(got, want) | (near & (abs(want) < math.inf) & (abs(got) < math.inf))


def count_wrong(got: Numbers, want: Numbers, *, relative: float, scale: float) -> int:
    """Return the number of elements that are not `right`; `got` may be a single number."""
    parts = _parts(got, want)
    return sum(int((~right(mine, due, relative=relative, scale=scale)).sum()) for _, mine, due in parts)


def moved(was: Numbers, now: Numbers, *, relative: float, least_scale: float = 0.0) -> Numbers:
    """Return where two right results differ by more than two right results for one input can. Raises NothingFinite."""
    scales = [max(least_scale, rms(one)) for one in (was, now)]
    found = was.reshape(-1) != was.reshape(-1)  # a mask of either library, on the arrays' device
    for part, before, after in _parts(was, now):
        with np.errstate(invalid="ignore", over="ignore"):
            near = abs(after - before) <= bounds(before, relative, scales[0]) + bounds(after, relative, scales[1])
        found[part] = ~(same(after, before) | (near & (abs(before) < math.inf) & (abs(after) < math.inf)))
    return found.reshape(was.shape)


def needed(got: Numbers, want: Numbers) -> float | None:
    """Return the least relative tolerance at which every element is right.

    None where there is none, where `want` has no finite element, or for two shapes: values may decide the shape.
    """
    if got.shape != want.shape:
        return None
    try:
        scale = rms(want)
    except NothingFinite:
        return None
    worst = 0.0
    for _, mine, due in _parts(got, want):
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            shares = abs(mine - due) / (abs(due) + scale)
        shares[same(mine, due)] = 0.0
        share = float(shares.max())  # NaN if one is
        if not math.isfinite(share):
            return None
        worst = max(worst, share)
    return worst


def _parts(one: Numbers, other: Numbers) -> Iterator[tuple[slice, Numbers, Numbers]]:
    """Yield slices of two flattened arrays of one size, with the elements of each; `one` may be a single number."""
    other = other.reshape(-1)
    one = one if isinstance(one, float) else one.reshape(-1)
    step = CHUNK_CUDA if getattr(other, "is_cuda", False) else CHUNK
    for start in range(0, len(other), step):
        part = slice(start, start + step)
        yield part, one if isinstance(one, float) else one[part], other[part]


def effective_bits(got: Numbers, want: Numbers) -> float | None:
    """Return log2(rms(want) / rms(got - want)) over the finite elements.

    None where `want` is zero, for two shapes, or where one result is not finite and the other differs from it.
    """
    if got.shape != want.shape:
        return None
    finite = (abs(want) < math.inf) & (abs(got) < math.inf)
    if not bool(finite.any()) or not bool((finite | same(got, want)).all()):
        return None
    if not bool(finite.all()):
        got, want = got[finite], want[finite]
    scale, error = rms(want), rms(got - want)
    if scale == 0.0:
        return None
    return MOST_BITS if error == 0.0 else min(MOST_BITS, math.log2(scale / error))
