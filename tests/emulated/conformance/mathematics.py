"""Transcendental functions at edges and inside. The bounds are those of CUDA's programming guide plus the host library's."""

from __future__ import annotations

from tests.emulated.conformance.entry import Bound, Entry, each

# name: ulp of the float function, ulp of the double one, extra operands
_UNARY = {
    "exp": (2, 2), "exp2": (3, 2), "exp10": (4, 3), "expm1": (2, 2), "log": (2, 2), "log2": (2, 2), "log10": (3, 2),
    "log1p": (2, 2), "sin": (3, 2), "cos": (3, 2), "tan": (5, 3), "asin": (3, 3), "acos": (3, 3), "atan": (3, 3), "sinh": (4, 3),
    "cosh": (3, 2), "tanh": (3, 3), "asinh": (4, 4), "acosh": (5, 4), "atanh": (4, 4), "cbrt": (2, 2), "rcbrt": (3, 3),
    "rsqrt": (3, 2), "erf": (3, 3), "erfc": (5, 6), "erfinv": (5, 8), "erfcinv": (7, 9), "erfcx": (6, 6), "normcdf": (7, 8),
    "normcdfinv": (8, 9), "tgamma": (9, 12), "sinpi": (3, 3), "cospi": (3, 3), "cyl_bessel_i0": (8, 8), "cyl_bessel_i1": (8, 8),
}  # fmt: skip
_BINARY = {"pow": (6, 3), "atan2": (4, 3), "hypot": (4, 3), "rhypot": (3, 2)}


def _calls() -> list[Entry]:
    found = []
    for name, (single, double) in _UNARY.items():
        found.append(each(f"{name}f", "f32", "f32/math", bound=Bound(ulps=single)))
        found.append(each(name, "f64", "f64/math", bound=Bound(ulps=double)))
        found.append(each(f"{name}f/above", "f32", "f32/above", f"{name}f(a)", bound=Bound(ulps=single)))
    for name, (single, double) in _BINARY.items():
        found.append(each(f"{name}f", "f32", "f32 f32", bound=Bound(ulps=single)))
        found.append(each(f"{name}f/inside", "f32", "f32/small f32/power", f"{name}f(a, b)", bound=Bound(ulps=single)))
        found.append(each(name, "f64", "f64 f64", bound=Bound(ulps=double)))
    return found


_OVERLOADED = (
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "sin",
    "cos",
    "tan",
    "tanh",
    "erf",
    "rsqrt",
    "cbrt",
)

ENTRIES: list[Entry] = [
    *_calls(),
    *(each(f"{name}/f32", "f32", "f32/math", f"{name}(a)", bound=Bound(ulps=_UNARY[name][0])) for name in _OVERLOADED),
    each("pow/f32", "f32", "f32/small f32/power", "pow(a, b)", bound=Bound(ulps=6)),
    each("pow/f32,int", "f64", "f32/small i32/few", "(double)pow(a, b)", bound=Bound(relative=2**-20)),
    each("atan2/f32", "f32", "f32/small f32/small", "atan2(a, b)", bound=Bound(ulps=4)),
    each("lgammaf", "f32", "f32/above", bound=Bound(ulps=8, absolute=2**-20)),
    each("lgamma", "f64", "f64/above", bound=Bound(ulps=8, absolute=2**-48)),
    each("sincosf", "f32x2", "f32/math", "float2 r; sincosf(a, &r.x, &r.y); return r;", bound=Bound(ulps=3)),
    each("sincospif", "f32x2", "f32/small", "float2 r; sincospif(a, &r.x, &r.y); return r;", bound=Bound(ulps=3)),
    each("norm3df", "f32", "f32/three f32/three f32/three", bound=Bound(ulps=4)),
    each("rnorm3df", "f32", "f32/three f32/three f32/three", bound=Bound(ulps=4)),
    each("norm4df", "f32", "f32/small f32/power", "norm4df(a, b, a + b, 1.0f)", bound=Bound(ulps=5)),
    each("j0f", "f32", "f32/unit", bound=Bound(ulps=9)),
    each("j1f", "f32", "f32/unit", bound=Bound(ulps=9)),
]
