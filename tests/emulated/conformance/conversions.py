"""Conversions between number types: intrinsics of every rounding mode, plain casts, bit casts."""

from __future__ import annotations

from itertools import product

from tests.emulated.conformance.entry import NUMBERS, Entry, each

_MODES = ("rn", "rz", "ru", "rd")
_INTEGERS = {"int": "i32", "uint": "u32", "ll": "i64", "ull": "u64"}
_REAL = {"float": "f32", "double": "f64"}


def _to_integers() -> list[Entry]:
    return [
        each(f"__{real}2{name}_{mode}", key, f"{_REAL[real]}/integer")
        for real, (name, key), mode in product(_REAL, _INTEGERS.items(), _MODES)
    ]


def _from_integers() -> list[Entry]:
    found = [
        each(f"__{name}2float_{mode}", "f32", f"{key}/long") for (name, key), mode in product(_INTEGERS.items(), _MODES)
    ]
    found += [
        each(f"__{name}2double_{mode}", "f64", f"{_INTEGERS[name]}/long") for name in ("ll", "ull") for mode in _MODES
    ]
    return [*found, each("__int2double_rn", "f64", "i32/long"), each("__uint2double_rn", "f64", "u32/long")]


# Out of range C++ leaves a conversion open. A GPU saturates at 32 or 64 bits, the host's processor has one value for all;
# the emulated device follows the GPU where the source spells a cast.
_HOST = "a conversion out of range without a cast is the host processor's"
_CAST_TO = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")

ENTRIES: list[Entry] = [
    *_to_integers(),
    *_from_integers(),
    *(each(f"__double2float_{mode}", "f32", "f64/narrow") for mode in _MODES),
    *(
        each(f"({NUMBERS[to].cuda}){of}", to, f"{of}/integer", f"({NUMBERS[to].cuda})a")
        for of in ("f32", "f64")
        for to in _CAST_TO
    ),
    *(
        each(f"static_cast {of} to {to}", to, f"{of}/integer", f"static_cast<{NUMBERS[to].cuda}>(a)")
        for of in ("f32", "f64")
        for to in ("i8", "u8", "i32", "u32", "u64")
    ),
    each("implicit f32 to i32", "i32", "f32/integer", "int whole = a; return whole;", differs=_HOST),
    each("implicit f32 to u8", "u8", "f32/integer", "unsigned char whole = a; return whole;", differs=_HOST),
    *(each(f"{of} to f32", "f32", f"{of}/long", "(float)a") for of in ("i32", "u32", "i64", "u64", "i16", "u8")),
    *(each(f"{of} to f64", "f64", f"{of}/long", "(double)a") for of in ("i32", "u32", "i64", "u64")),
    each("f64 to f32", "f32", "f64/narrow", "(float)a"),
    each("f32 to f64", "f64", "f32/narrow", "(double)a"),
    each("__float_as_int", "i32", "f32"),
    each("__int_as_float", "i32", "i32", "__float_as_int(__int_as_float(a))"),
    each("__float_as_uint", "u32", "f32"),
    each("__uint_as_float", "f32", "u32"),
    each("__double_as_longlong", "i64", "f64"),
    each("__longlong_as_double", "f64", "i64"),
    each("__double2hiint", "i32", "f64"),
    each("__double2loint", "i32", "f64"),
    each("__hiloint2double", "f64", "i32 i32"),
    *(each(f"{name}f", "i64", "f32/integer", differs=_HOST) for name in ("lrint", "llrint", "lround", "llround")),
    *(each(name, "i64", "f64/integer", differs=_HOST) for name in ("llrint", "llround")),
]
