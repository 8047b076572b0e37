"""Numbers of eight bits: E4M3 and E5M2, and E8M0, the power of two that scales a block."""

from __future__ import annotations

from itertools import product

from tests.emulated.conformance.entry import NUMBERS, Entry, each

_SATURATION = ("__NV_NOSAT", "__NV_SATFINITE")
_KINDS = ("__NV_E4M3", "__NV_E5M2")
_ROUNDING = ("cudaRoundZero", "cudaRoundPosInf")
_CLASSES = ("e4m3", "e5m2", "e8m0")
_NUMBERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64")
# Every number of a type, or as many as matter: 128 threads take a part each and give one hash of their codes.
_ALL = """unsigned hash = 0;
for (unsigned i = 0; i < {count}; i++) {{ {number} hash = hash * 31 + {call}; }}
return hash;"""
_HALVES = ("__half_raw x; x.x = a * 512 + i;", 512)
_BFLOATS = ("__nv_bfloat16_raw x; x.x = a * 512 + i;", 512)
# The upper 18 bits of a float or a double, before lower ones.
_FLOATS = (
    "unsigned low[4] = {0, 1, 0x2000, 0x3fff}, bits = (a * 2048 + i / 4) << 14 | low[i % 4]; float x; memcpy(&x, &bits, 4);",
    8192,
)
_DOUBLES = (
    "unsigned low[4] = {0, 1, 0x80000000, 0xffffffff};"
    " unsigned long long bits = (unsigned long long)(a * 2048 + i / 4) << 46 | low[i % 4]; double x; memcpy(&x, &bits, 8);",
    8192,
)


def _all(name: str, numbers: tuple[str, int], call: str) -> Entry:
    return each(f"all of {name}", "u32", "u32/index", _ALL.format(number=numbers[0], count=numbers[1], call=call))


def _to_fp8() -> list[Entry]:
    found = []
    for options in product(_SATURATION, _KINDS):
        last, name = ", ".join(options), "/".join(options)
        found += [
            each(f"__nv_cvt_float_to_fp8/{name}", "u8", "f32/fp8", f"__nv_cvt_float_to_fp8(a, {last})"),
            each(f"__nv_cvt_double_to_fp8/{name}", "u8", "f64/fp8", f"__nv_cvt_double_to_fp8(a, {last})"),
            each(f"__nv_cvt_halfraw_to_fp8/{name}", "u8", "f16/fp8", f"__nv_cvt_halfraw_to_fp8(a, {last})"),
            each(f"__nv_cvt_bfloat16raw_to_fp8/{name}", "u8", "bf16/fp8", f"__nv_cvt_bfloat16raw_to_fp8(a, {last})"),
            each(f"__nv_cvt_float2_to_fp8x2/{name}", "u16", "f32x2/fp8", f"__nv_cvt_float2_to_fp8x2(a, {last})"),
            each(
                f"__nv_cvt_double2_to_fp8x2/{name}",
                "u16",
                "f64/fp8 f64",
                f"__nv_cvt_double2_to_fp8x2(make_double2(a, b), {last})",
            ),
            each(f"__nv_cvt_halfraw2_to_fp8x2/{name}", "u16", "f16x2/fp8", f"__nv_cvt_halfraw2_to_fp8x2(a, {last})"),
            each(
                f"__nv_cvt_bfloat16raw2_to_fp8x2/{name}",
                "u16",
                "bf16x2/fp8",
                f"__nv_cvt_bfloat16raw2_to_fp8x2(a, {last})",
            ),
            _all(f"__nv_cvt_float_to_fp8/{name}", _FLOATS, f"__nv_cvt_float_to_fp8(x, {last})"),
            _all(f"__nv_cvt_double_to_fp8/{name}", _DOUBLES, f"__nv_cvt_double_to_fp8(x, {last})"),
            _all(f"__nv_cvt_halfraw_to_fp8/{name}", _HALVES, f"__nv_cvt_halfraw_to_fp8(x, {last})"),
            _all(f"__nv_cvt_bfloat16raw_to_fp8/{name}", _BFLOATS, f"__nv_cvt_bfloat16raw_to_fp8(x, {last})"),
        ]
    return found


def _to_e8m0() -> list[Entry]:
    found = []
    for options in product(_SATURATION, _ROUNDING):
        last, name = ", ".join(options), "/".join(options)
        found += [
            each(f"__nv_cvt_float_to_e8m0/{name}", "u8", "f32/fp8", f"__nv_cvt_float_to_e8m0(a, {last})"),
            each(f"__nv_cvt_double_to_e8m0/{name}", "u8", "f64/narrow", f"__nv_cvt_double_to_e8m0(a, {last})"),
            each(f"__nv_cvt_bfloat16raw_to_e8m0/{name}", "u8", "bf16/fp8", f"__nv_cvt_bfloat16raw_to_e8m0(a, {last})"),
            each(f"__nv_cvt_float2_to_e8m0x2/{name}", "u16", "f32x2/fp8", f"__nv_cvt_float2_to_e8m0x2(a, {last})"),
            each(
                f"__nv_cvt_double2_to_e8m0x2/{name}",
                "u16",
                "f64/fp8 f64",
                f"__nv_cvt_double2_to_e8m0x2(make_double2(a, b), {last})",
            ),
            each(
                f"__nv_cvt_bfloat162raw_to_e8m0x2/{name}",
                "u16",
                "bf16x2/fp8",
                f"__nv_cvt_bfloat162raw_to_e8m0x2(a, {last})",
            ),
            _all(f"__nv_cvt_float_to_e8m0/{name}", _FLOATS, f"__nv_cvt_float_to_e8m0(x, {last})"),
            _all(f"__nv_cvt_double_to_e8m0/{name}", _DOUBLES, f"__nv_cvt_double_to_e8m0(x, {last})"),
            _all(f"__nv_cvt_bfloat16raw_to_e8m0/{name}", _BFLOATS, f"__nv_cvt_bfloat16raw_to_e8m0(x, {last})"),
        ]
    return found


def _from_codes() -> list[Entry]:
    found = []
    for kind in _KINDS:
        found += [
            each(
                f"__nv_cvt_fp8_to_halfraw/{kind}",
                "u32",
                "u8/index",
                f"__nv_cvt_fp8_to_halfraw(a, {kind}).x | __nv_cvt_fp8_to_halfraw(a + 128, {kind}).x << 16",
            ),
            each(
                f"__nv_cvt_fp8x2_to_halfraw2/{kind}",
                "f16x2",
                "u16/index",
                f"__nv_cvt_fp8x2_to_halfraw2(a | (a + 128) << 8, {kind})",
            ),
        ]
    return [
        *found,
        each(
            "__nv_cvt_e8m0_to_bf16raw",
            "u32",
            "u8/index",
            "__nv_cvt_e8m0_to_bf16raw(a).x | __nv_cvt_e8m0_to_bf16raw(a + 128).x << 16",
        ),
        each("__nv_cvt_e8m0x2_to_bf162raw", "bf16x2", "u16/index", "__nv_cvt_e8m0x2_to_bf162raw(a | (a + 128) << 8)"),
    ]


def _class(name: str) -> list[Entry]:
    one, two, four = f"__nv_fp8_{name}", f"__nv_fp8x2_{name}", f"__nv_fp8x4_{name}"
    found = []
    for key in _NUMBERS:
        operands = f"{key}/fp8" if key[0] in "fb" else f"{key}/long"
        found.append(each(f"{key} to {name}", "u8", operands, f"{one}(a).__x"))
        found.append(each(f"{name} to {key}", key, "u8/codes", f"{one} x; x.__x = a; return ({NUMBERS[key].cuda})x;"))
    found.append(each(f"{name} to bool", "i32", "u8/codes", f"{one} x; x.__x = a; return (bool)x;"))
    for key in ("f16x2", "bf16x2", "f32x2"):
        found.append(each(f"{key} to {name}", "u16", f"{key}/fp8", f"{two}(a).__x"))
    found += [
        each(f"double2 to {name}", "u16", "f64/fp8 f64", f"{two}(make_double2(a, b)).__x"),
        each(f"float4 to {name}", "u32", "f32/fp8 f32", f"{four}(make_float4(a, b, b, a)).__x"),
        each(f"double4 to {name}", "u32", "f64/fp8 f64", f"{four}(make_double4(a, b, b, a)).__x"),
        each(f"half2s to {name}", "u32", "f16x2/fp8 f16x2", f"{four}(a, b).__x"),
        each(f"bfloat162s to {name}", "u32", "bf16x2/fp8 bf16x2", f"{four}(a, b).__x"),
    ]
    for key in ("f16x2", "f32x2", *(("bf16x2",) if name == "e8m0" else ())):
        pair = f"{two} x; x.__x = a | (a + 128) << 8; return ({NUMBERS[key].cuda})x;"
        found.append(each(f"{name} to {key}", key, "u16/index", pair))
    quad = f"{four} x; x.__x = a | (a + 128) << 8 | (127 - a) << 16 | (255 - a) << 24; float4 v = (float4)x;"
    found.append(each(f"{name} to float4, first", "f32x2", "u32/index", f"{quad} return make_float2(v.x, v.y);"))
    found.append(each(f"{name} to float4, last", "f32x2", "u32/index", f"{quad} return make_float2(v.z, v.w);"))
    return found


ENTRIES: list[Entry] = [
    *_to_fp8(),
    *_to_e8m0(),
    *_from_codes(),
    *(entry for name in _CLASSES for entry in _class(name)),
    # Casts of the other small numbers to narrow integers saturate as these do.
    *(
        each(f"{of} to {to}", to, f"{of}/integer", f"({NUMBERS[to].cuda})a")
        for of in ("f16", "bf16")
        for to in ("i8", "u8", "i16", "u16")
    ),
]
