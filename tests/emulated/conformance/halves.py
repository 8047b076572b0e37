"""__half and __nv_bfloat16, one number at a time."""

from __future__ import annotations

from tests.emulated.conformance.entry import Bound, Entry, each

_TYPES = {
    "f16": ("half", "ushort_as_half", "half_as_ushort"),
    "bf16": ("bfloat16", "ushort_as_bfloat16", "bfloat16_as_ushort"),
}
_MODES = ("rn", "rz", "ru", "rd")
_TESTS = ("eq", "ne", "lt", "le", "gt", "ge")
_EXACT = ("hfloor", "hceil", "hrint", "htrunc", "hsqrt")
_NEAR = ("hexp", "hexp2", "hexp10", "hlog", "hlog2", "hlog10", "hsin", "hcos", "hrcp", "hrsqrt", "htanh")
_INTEGERS = {"int": "i32", "uint": "u32", "short": "i16", "ushort": "u16", "ll": "i64", "ull": "u64"}


def _arithmetic(key: str) -> list[Entry]:
    two, three = f"{key} {key}", f"{key} {key} {key}"
    found = [each(f"__h{name}/{key}", key, two, f"__h{name}(a, b)") for name in (
        "add", "sub", "mul", "div", "add_sat", "sub_sat", "mul_sat", "add_rn", "sub_rn", "mul_rn", "max", "min", "max_nan",
        "min_nan",
    )]  # fmt: skip
    found += [each(f"__h{name}/{key}", key, three, f"__h{name}(a, b, c)") for name in ("fma", "fma_sat", "fma_relu")]
    found += [each(f"{sign}/{key}", key, two, f"a {sign} b") for sign in "+-*/"]
    found += [each(f"{sign}/{key}", "i32", two, f"a {sign} b") for sign in ("<", "<=", ">", ">=", "==", "!=")]
    found += [each(f"__h{name}/{key}", "i32", two, f"__h{name}(a, b)") for name in _TESTS]
    found += [each(f"__h{name}u/{key}", "i32", two, f"__h{name}u(a, b)") for name in _TESTS]
    found += [each(f"__h{name}/{key}", key, key, f"__h{name}(a)") for name in ("neg", "abs")]
    found += [each(f"-{key}", key, key, "-a")]
    return [*found, *(each(f"__h{name}/{key}", "i32", key, f"__h{name}(a)") for name in ("isnan", "isinf"))]


def _functions(key: str) -> list[Entry]:
    found = [each(f"{name}/{key}", key, f"{key}/integer", f"{name}(a)") for name in _EXACT]
    for name in _NEAR:
        found.append(each(f"{name}/{key}", key, f"{key}/math", f"{name}(a)", bound=Bound(ulps=1, absolute=2**-24)))
        found.append(
            each(f"{name}/{key}/above", key, f"{key}/above", f"{name}(a)", bound=Bound(ulps=1, absolute=2**-24))
        )
    return found


def _conversions(key: str, name: str, from_bits: str, to_bits: str) -> list[Entry]:
    found = [each(f"__float2{name}_{mode}", key, "f32/narrow") for mode in _MODES]
    found += [each(f"__float2{name}", key, "f32/narrow"), each(f"__double2{name}", key, "f64/narrow")]
    found += [
        each(f"__{name}2float", "f32", f"{key}/integer"),
        each(f"__{from_bits}", key, "u16"),
        each(f"__{to_bits}", "u16", key),
    ]
    found += [
        each(f"float to {key}", key, "f32/narrow", f"({_CUDA[key]})a"),
        each(f"{key} to float", "f32", key, "(float)a"),
    ]
    found += [
        each(f"{key} to int", "i32", f"{key}/integer", "(int)a"),
        each(f"int to {key}", key, "i32/long", f"({_CUDA[key]})a"),
    ]
    for integer, integer_key in _INTEGERS.items():
        for mode in _MODES:
            found.append(each(f"__{integer}2{name}_{mode}", key, f"{integer_key}/long"))
            found.append(each(f"__{name}2{integer}_{mode}", integer_key, f"{key}/integer"))
    return found


_CUDA = {"f16": "__half", "bf16": "__nv_bfloat16"}

ENTRIES: list[Entry] = [
    entry
    for key, (name, from_bits, to_bits) in _TYPES.items()
    for entry in (*_arithmetic(key), *_functions(key), *_conversions(key, name, from_bits, to_bits))
]
