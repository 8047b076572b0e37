"""half2 and bfloat162: both halves at once, and how they are made and taken apart."""

from __future__ import annotations

from tests.emulated.conformance.entry import Bound, Entry, each

_TESTS = ("eq", "ne", "lt", "le", "gt", "ge")


def _arithmetic(key: str) -> list[Entry]:
    two, three = f"{key} {key}", f"{key}/three {key}/three {key}/three"
    found = [each(f"{name}/{key}", key, two, f"{name}(a, b)") for name in (
        "__hadd2", "__hsub2", "__hmul2", "__h2div", "__hadd2_sat", "__hsub2_sat", "__hmul2_sat", "__hadd2_rn", "__hmul2_rn",
        "__hmax2", "__hmin2", "__hmax2_nan", "__hmin2_nan",
    )]  # fmt: skip
    found += [
        each(f"{name}/{key}", key, three, f"{name}(a, b, c)") for name in ("__hfma2", "__hfma2_sat", "__hfma2_relu")
    ]
    found += [each(f"{sign}/{key}", key, two, f"a {sign} b") for sign in "+-*/"]
    found += [each(f"__h{name}2/{key}", key, two, f"__h{name}2(a, b)") for name in _TESTS]
    found += [each(f"__h{name}2_mask/{key}", "u32", two, f"__h{name}2_mask(a, b)") for name in _TESTS]
    found += [each(f"__hb{name}2/{key}", "i32", two, f"__hb{name}2(a, b)") for name in _TESTS]
    found += [each(f"{name}/{key}", key, key, f"{name}(a)") for name in ("__hneg2", "__habs2", "__hisnan2")]
    found.append(each(f"minus {key}", key, key, "-a"))
    return found


def _functions(key: str) -> list[Entry]:
    found = [each(f"{name}/{key}", key, f"{key}/small", f"{name}(a)") for name in (
        "h2floor", "h2ceil", "h2rint", "h2trunc",
    )]  # fmt: skip
    found += [each(f"h2sqrt/{key}", key, f"{key}/above", "h2sqrt(a)")]
    for name in ("h2exp", "h2exp2", "h2exp10", "h2sin", "h2cos", "h2rcp", "h2tanh"):
        found.append(each(f"{name}/{key}", key, f"{key}/small", f"{name}(a)", bound=Bound(ulps=1, absolute=2**-24)))
    for name in ("h2log", "h2log2", "h2log10", "h2rsqrt"):
        found.append(each(f"{name}/{key}", key, f"{key}/above", f"{name}(a)", bound=Bound(ulps=1, absolute=2**-24)))
    return found


_HALF = [
    each("__halves2half2", "f16x2", "f16 f16"),
    each("make_half2", "f16x2", "f16 f16"),
    each("__half2half2", "f16x2", "f16"),
    each("__float2half2_rn", "f16x2", "f32/narrow"),
    each("__floats2half2_rn", "f16x2", "f32 f32"),
    each("__float22half2_rn", "f16x2", "f32x2"),
    each("__half22float2", "f32x2", "f16x2"),
    each("__low2half", "f16", "f16x2"),
    each("__high2half", "f16", "f16x2"),
    each("__low2float/half", "f32", "f16x2", "__low2float(a)"),
    each("__high2float/half", "f32", "f16x2", "__high2float(a)"),
    each("__low2half2", "f16x2", "f16x2"),
    each("__high2half2", "f16x2", "f16x2"),
    each("__lows2half2", "f16x2", "f16x2 f16x2"),
    each("__highs2half2", "f16x2", "f16x2 f16x2"),
    each("__lowhigh2highlow", "f16x2", "f16x2"),
    each("__hcmadd", "f16x2", "f16x2/three f16x2/three f16x2/three"),
]
_BFLOAT = [
    each("__halves2bfloat162", "bf16x2", "bf16 bf16"),
    each("make_bfloat162", "bf16x2", "bf16 bf16"),
    each("__bfloat162bfloat162", "bf16x2", "bf16"),
    each("__float2bfloat162_rn", "bf16x2", "f32/narrow"),
    each("__floats2bfloat162_rn", "bf16x2", "f32 f32"),
    each("__float22bfloat162_rn", "bf16x2", "f32x2"),
    each("__bfloat1622float2", "f32x2", "bf16x2"),
    each("__low2bfloat16", "bf16", "bf16x2"),
    each("__high2bfloat16", "bf16", "bf16x2"),
    each("__low2float/bfloat", "f32", "bf16x2", "__low2float(a)"),
    each("__high2float/bfloat", "f32", "bf16x2", "__high2float(a)"),
    each("__low2bfloat162", "bf16x2", "bf16x2"),
    each("__high2bfloat162", "bf16x2", "bf16x2"),
    each("__lowhigh2highlow/bfloat", "bf16x2", "bf16x2", "__lowhigh2highlow(a)"),
]

ENTRIES: list[Entry] = [
    *(entry for key in ("f16x2", "bf16x2") for entry in (*_arithmetic(key), *_functions(key))),
    *_HALF,
    *_BFLOAT,
]
