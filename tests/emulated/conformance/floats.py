"""Floating-point arithmetic: rounding modes, minimum and maximum, classification, the fast intrinsics."""

from __future__ import annotations

from tests.emulated.conformance.entry import Bound, Entry, each

_MODES = ("rn", "rz", "ru", "rd")


def _rounded() -> list[Entry]:
    found = []
    for mode in _MODES:
        for key, prefix in (("f32", "__f"), ("f64", "__d")):
            found += [each(f"{prefix}{name}_{mode}", key, f"{key} {key}") for name in ("add", "sub", "mul", "div")]
            found += [each(f"{prefix}{name}_{mode}", key, key) for name in ("rcp", "sqrt")]
        found.append(each(f"__fmaf_{mode}", "f32", "f32 f32 f32"))
        found.append(each(f"__fma_{mode}", "f64", "f64 f64 f64"))
    return found


_CLASSES = ("isnan", "isinf", "isfinite", "signbit")
_FAST = (
    # CUDA's programming guide states these bounds; ours adds 2 ulp for the other side's rounding.
    each("__expf", "f32", "f32/small", bound=Bound(ulps=16)),
    each("__expf/edges", "f32", "f32", "__expf(a)", bound=Bound(ulps=160)),
    each("__exp10f", "f32", "f32/small", bound=Bound(ulps=34)),
    each("__logf", "f32", "f32/above", bound=Bound(ulps=4, absolute=2**-21.4)),
    each("__logf/edges", "f32", "f32", "__logf(a)", bound=Bound(ulps=4, absolute=2**-21.4)),
    each("__log2f", "f32", "f32/above", bound=Bound(ulps=4, absolute=2**-21.9)),
    each("__log10f", "f32", "f32/above", bound=Bound(ulps=5, absolute=2**-21.9)),
    each("__sinf", "f32", "f32/angle", bound=Bound(absolute=2**-21.3)),
    each("__cosf", "f32", "f32/angle", bound=Bound(absolute=2**-20.9)),
    each("__tanf", "f32", "f32/unit", bound=Bound(absolute=2**-19)),
    each("__tanhf", "f32", "f32/small", bound=Bound(ulps=8, relative=2**-10.9)),
    each(
        "__sincosf",
        "f32x2",
        "f32/angle",
        "float2 r; __sincosf(a, &r.x, &r.y); return r;",
        bound=Bound(absolute=2**-20.9),
    ),
    each("__powf", "f32", "f32/above f32/power", "__powf(0.5f + fminf(a, 40.0f), b)", bound=Bound(ulps=160)),
    each("__fdividef", "f32", "f32/small f32/small", bound=Bound(ulps=4)),
    each("fdividef", "f32", "f32 f32", bound=Bound(ulps=3)),
    each("__saturatef", "f32", "f32"),
    each("__frsqrt_rn", "f32", "f32"),
)

ENTRIES: list[Entry] = [
    *_rounded(),
    *_FAST,
    *(each(f"{sign}/{key}", key, f"{key} {key}", f"a {sign} b") for sign in "+-*/" for key in ("f32", "f64")),
    each("fmaf", "f32", "f32 f32 f32"),
    each("fma", "f64", "f64 f64 f64"),
    each("fma/f32", "f32", "f32 f32 f32", "fma(a, b, c)"),
    *(each(f"{name}f", "f32", "f32 f32") for name in ("fmin", "fmax", "copysign", "fdim")),
    *(each(name, "f64", "f64 f64") for name in ("fmin", "fmax", "copysign", "fdim")),
    *(each(f"{name}/f32", "f32", "f32 f32", f"{name}(a, b)") for name in ("min", "max", "fmin", "fmax")),
    *(each(f"{name}/f64", "f64", "f64 f64", f"{name}(a, b)") for name in ("min", "max")),
    *(each(f"{name}/f32,f64", "f64", "f32 f64", f"{name}(a, b)") for name in ("min", "max")),
    each("nextafterf", "f32", "f32 f32"),
    each("nextafter", "f64", "f64 f64"),
    *(each(f"{name}/f32", "i32", "f32", f"{name}(a) != 0") for name in _CLASSES),
    *(each(f"{name}/f64", "i32", "f64", f"{name}(a) != 0") for name in _CLASSES),
    *(each(f"f32 {sign} f32", "i32", "f32 f32", f"a {sign} b") for sign in ("<", "<=", ">", ">=", "==", "!=")),
    each("fabsf", "f32", "f32"),
    each("fabs", "f64", "f64"),
    each("abs/f32", "f32", "f32", "abs(a)"),
    each("negation", "f32", "f32", "-a"),
    each("sqrtf", "f32", "f32/math"),
    each("sqrt", "f64", "f64/math"),
    each("sqrt/f32", "f32", "f32/math", "sqrt(a)"),
    *(each(f"{name}f", "f32", "f32/integer") for name in ("floor", "ceil", "trunc", "round", "rint", "nearbyint")),
    *(each(name, "f64", "f64/integer") for name in ("floor", "ceil", "trunc", "round", "rint", "nearbyint")),
    *(each(f"{name}/f32", "f32", "f32/integer", f"{name}(a)") for name in ("floor", "ceil", "trunc", "round", "rint")),
    each("fmodf", "f32", "f32 f32"),
    each("fmod", "f64", "f64 f64"),
    each("fmod/f32", "f32", "f32 f32", "fmod(a, b)"),
    each("remainderf", "f32", "f32 f32"),
    each("ldexpf", "f32", "f32 i32/shift", "ldexpf(a, b - 30)"),
    each("ldexpf/far", "f32", "f32 i32/shift", "ldexpf(a, 8 * (b - 30))"),
    each("scalbnf", "f32", "f32 i32/shift", "scalbnf(a, b - 30)"),
    each("frexpf", "f32", "f32", "int e = 0; float m = frexpf(a, &e); return isfinite(a) ? m + 4.0f * e : m;"),
    each("modff", "f32x2", "f32/integer", "float2 r; r.x = modff(a, &r.y); return r;"),
    each("ilogbf", "i32", "f32"),
    each("logbf", "f32", "f32"),
]
