"""Operands as bit patterns: the edges of every type, and some numbers between them. No random generator of a library."""

from __future__ import annotations

import math
import struct
from itertools import product

from tests.emulated.conformance.entry import NUMBERS, Entry

MOST_CASES = 200

_F32 = (
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF, 0xFF7FFFFF,
    0x00800000, 0x00000001, 0x807FFFFF, 0x3F000000, 0xC0200000, 0x40490FDB, 0x4B000001, 0x3EAAAAAB, 0x33800001,
    0x41BE3333, 0xC2F70A3D,
)  # fmt: skip
_F64 = (
    0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000, 0x7FF0000000000000,
    0xFFF0000000000000, 0x7FF8000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x0010000000000000,
    0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x3FE0000000000000, 0xC004000000000000, 0x400921FB54442D18,
    0x4330000000000001, 0x3FD5555555555555, 0x3E70000000000001,
)  # fmt: skip
_F16 = (
    0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x7BFF, 0xFBFF, 0x0400, 0x0001, 0x83FF, 0x3800, 0xC100,
    0x4248, 0x6401, 0x3555, 0x1401, 0x4DF1, 0xD7B8,
)  # fmt: skip
_BF16 = (
    0x0000, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0x7F7F, 0xFF7F, 0x0080, 0x0001, 0x807F, 0x3F00, 0xC020,
    0x4049, 0x4301, 0x3EAB, 0x3C01, 0x41BE, 0xC2F7,
)  # fmt: skip
_INT = (0, 1, -1, 2, -3, 7, 8, 31, 32, 33, 127, 128, -128, 255, 32767, -32768, 65535, 0x01020304, 0x7F80FF01)


def _integers(bits: int) -> list[int]:
    top = 1 << (bits - 1)
    edges = [*_INT, top, top - 1, top + 1, 2 * top - 2, top // 3, 5 * top // 7]
    return list(dict.fromkeys(number % (2 * top) for number in edges))


def _f32(*numbers: float) -> list[int]:
    return [struct.unpack("<I", struct.pack("<f", each))[0] for each in numbers]


def _f64(*numbers: float) -> list[int]:
    return [struct.unpack("<Q", struct.pack("<d", each))[0] for each in numbers]


def _f16(*numbers: float) -> list[int]:
    return [struct.unpack("<H", struct.pack("<e", each))[0] for each in numbers]


def _bf16(*numbers: float) -> list[int]:
    """Truncated: which numbers they are does not matter, that they are the same everywhere does."""
    return [bits >> 16 for bits in _f32(*numbers)]


_WRITERS = {"f32": _f32, "f64": _f64, "f16": _f16, "bf16": _bf16}


def _scattered(count: int, low: float, high: float, seed: int = 1) -> list[float]:
    state, found = seed, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        found.append(low + (high - low) * (state >> 11) / 2**53)
    return found


# Near whole numbers and halves, at the limits of integer types, where a conversion has to decide.
_TO_INTEGER = [
    *(sign * number for sign in (1, -1) for number in (
        0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 3.5, 126.5, 127.5, 128.0, 200.7, 254.5, 255.0, 255.5, 256.0, 300.2, 32766.5, 32767.5,
        32768.0, 65535.0, 65535.5, 65536.0, 70000.0, 8388607.5, 16777216.0, 2147483520.0, 2147483647.0, 2147483648.0,
        4294967040.0, 4294967295.0, 4294967296.0, 6e9, 9223371487098961920.0, 9223372036854775807.0, 1.8446742974197924e19,
        1.8446744073709552e19, 1e20, 3e38,
    )),
]  # fmt: skip
# Integers that do not fit the mantissa they are converted to, halfway cases among them.
_LONG_INTEGERS = [
    0, 1, -1, 2047, 2048, 2049, 2050, 2051, 4095, 4097, 65503, 65504, 65519, 65520, 65521, 70000, -2049, -2051, -65519, -65520,
    16777216, 16777217, 16777218, 16777219, 33554433, 33554434, 33554435, -16777217, -16777219, 2147483647, -2147483648,
    2147483583, 2147483585, 4294967295, 4294967167, 4294967169, 9007199254740993, 9007199254740995, -9007199254740993,
    2**63 - 1, 2**63 - 513, 2**63 - 511, -(2**63), 2**64 - 1, 2**64 - 1025, 2**64 - 1023, 257, 259, 261, 513, 515,
]  # fmt: skip
# Doubles and floats that lie between two floats, halves or bfloats: just above, below, at the middle, too large, too small.
_NARROWED = [
    sign * number for sign in (1.0, -1.0) for number in (
        1 + 2**-24, 1 + 2**-24 + 2**-50, 1 + 3 * 2**-24, 1 + 2**-23, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-11 + 2**-20,
        1 + 2**-11 - 2**-20, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, 1 + 2**-8 - 2**-20, 1 + 2**-12, 1 / 3, 0.1,
        65504.0, 65519.0, 65519.996, 65520.0, 65536.0, 1e6, 2**-14, 2**-14 - 2**-26, 2**-24, 2**-25, 1.5 * 2**-25, 2**-26,
        3 * 2**-25, 1e-10, 2**-126, 2**-127, 2**-133, 2**-134, 1.5 * 2**-134, 2**-149, 3.3895313892515355e38,
        3.3961775292304957e38, 3.4028234663852886e38,
    )
]  # fmt: skip
# Numbers that lie between two of E4M3, E5M2 or E8M0: at the middle and beside it, at the largest and the smallest.
_NARROWED_FP8 = [
    *(sign * number for sign in (1.0, -1.0) for number in (
        1.0625, 1.0625 + 2**-20, 1.0625 - 2**-20, 1.1875, 1.125, 1.125 + 2**-20, 1.125 - 2**-20, 1.375, 2.1, 0.3, 300.0, 448.0,
        463.9, 464.0, 464.1, 480.0, 512.0, 57344.0, 61439.0, 61440.0, 61441.0, 65504.0, 2**-6, 0.97 * 2**-6, 2**-9, 1.5 * 2**-9,
        2**-10, 1.01 * 2**-10, 0.99 * 2**-10, 2**-14, 2**-16, 1.5 * 2**-16, 2**-17, 1.01 * 2**-17, 0.99 * 2**-17, 1e-7,
    )),
]  # fmt: skip
_DOUBLES_ONLY = [
    3.40282356779733e38,
    3.402823669209385e38,
    1e39,
    -1e39,
    2**-150,
    1.5 * 2**-150,
    2**-151,
    1e-300,
    0.1 + 2**-40,
]

_MATH = {
    "unit": [*_scattered(40, -1, 1), -1.0, 1.0, 0.0, 0.999, -0.999, 1e-4, 2.0],
    "small": [*_scattered(60, -10, 10, 2), 0.5, -0.5, 1e-3, 1e-6, 3.0, -3.0],
    "angle": [*_scattered(40, -math.pi, math.pi, 3), 0.0, 1e-4],
    "wide": [*_scattered(40, -100, 100, 4), 1e4, -1e5, 1e8, 1e20],
    "above": [*_scattered(40, 0, 50, 5), 1e-20, 1e-38, 1e-3, 1e10, 1e30, 1.0],
    "power": [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, 10.0, -0.5, *_scattered(8, -6, 6, 6)],
}


def _lists() -> dict[str, list[int]]:
    found: dict[str, list[int]] = {"f32": [*_F32], "f64": [*_F64], "f16": [*_F16], "bf16": [*_BF16]}
    for key in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"):
        bits = 8 * NUMBERS[key].size
        found[key] = _integers(bits)
        found[f"{key}/long"] = list(dict.fromkeys(each % (1 << bits) for each in _LONG_INTEGERS))
        found[f"{key}/shift"] = [0, 1, 5, 16, 31, 32, 33, 40, 63]
        found[f"{key}/legal_shift"] = [0, 1, 5, 16, bits - 1]
        found[f"{key}/lanes"] = [(2654435761 * (i + 1) >> 3 ^ i << 40) % (1 << bits) for i in range(128)]
        found[f"{key}/few"] = [(i * i % 5) % (1 << bits) for i in range(128)]
        found[f"{key}/source"] = [(i * 37 + 5) % 71 % (1 << bits) for i in range(128)]
        found[f"{key}/matrix"] = [(2654435761 * (i + 1) >> 7) % (1 << bits) for i in range(4096)]
        found[f"{key}/index"] = list(range(128))
    for key, write in _WRITERS.items():
        top = {"f16": 65504.0, "bf16": 3.3e38, "f32": 3.4e38, "f64": 1e308}[key]
        fits = [each for each in _TO_INTEGER if abs(each) <= top]
        found[f"{key}/integer"] = [*found[key], *write(*fits)]
        found[f"{key}/lanes"] = write(*_scattered(128, -4, 4, 7))
        found[f"{key}/matrix"] = write(*_scattered(4096, -1, 1, 8))
        found[f"{key}/whole_matrix"] = write(*(float((i * 7 + i // 16) % 9 - 4) for i in range(4096)))
        if key in ("f32", "f64"):
            found[f"{key}/narrow"] = [*found[key], *write(*_NARROWED), *(write(*_DOUBLES_ONLY) if key == "f64" else [])]
        found[f"{key}/fp8"] = [*found[key], *write(*_NARROWED_FP8)]
        for name, numbers in _MATH.items():
            found[f"{key}/{name}"] = write(*(each for each in numbers if abs(each) <= top))
        found[f"{key}/math"] = [*found[key], *found[f"{key}/small"], *found[f"{key}/wide"]]
        found[f"{key}/three"] = found[key][:9] + found[key][15:17]
    for key in ("f16", "bf16"):
        found[f"{key}x2"] = [low | found[key][(7 * i + 3) % 20] << 16 for i, low in enumerate(found[key])]
        found[f"{key}x2/three"] = found[f"{key}x2"][:9]
        found[f"{key}x2/small"] = [
            low | found[f"{key}/small"][i - 9] << 16 for i, low in enumerate(found[f"{key}/small"])
        ]
        found[f"{key}x2/above"] = [
            low | found[f"{key}/above"][i - 9] << 16 for i, low in enumerate(found[f"{key}/above"])
        ]
        found[f"{key}x2/lanes"] = [low | (low + i) % 65536 << 16 for i, low in enumerate(found[f"{key}/lanes"])]
        narrowed = found[f"{key}/fp8"]
        found[f"{key}x2/fp8"] = [low | narrowed[i - 9] << 16 for i, low in enumerate(narrowed)]
    found["f32x2/fp8"] = [low | found["f32/fp8"][i - 9] << 32 for i, low in enumerate(found["f32/fp8"])]
    found["u8/codes"] = [*range(0x88), *range(0xC0, 0x100)]
    found["f32x2"] = [low | _F32[(7 * i + 3) % 20] << 32 for i, low in enumerate(_F32)]
    return found


LISTS = _lists()


def operands(entry: Entry) -> list[list[int]]:
    """The operands of an entry, one list for each, as bit patterns; of equal length but for kind "block"."""
    lists = [LISTS[name] for name in entry.operands]
    if entry.kind == "block":
        return lists
    if entry.kind == "lanes":
        return [numbers[: entry.threads] for numbers in lists]
    cases = list(product(*lists))
    step = max(1, -(-len(cases) // MOST_CASES))
    while step > 1 and any(math.gcd(step, len(numbers)) > 1 for numbers in lists[1:]):
        step += 1  # else some value of the last operands is never asked
    return [list(column) for column in zip(*cases[::step], strict=True)]


def packed(numbers: list[int], key: str) -> bytes:
    """Bit patterns as little-endian memory."""
    size = NUMBERS[key].size
    return b"".join(each.to_bytes(size, "little") for each in numbers)
