"""Integer and bit functions."""

from __future__ import annotations

from tests.emulated.conformance.entry import Entry, each

_SAME = {"i32": "int", "u32": "unsigned", "i64": "long long", "u64": "unsigned long long"}


def _min_max() -> list[Entry]:
    found = [each(f"{name}/{key}", key, f"{key} {key}", f"{name}(a, b)") for name in ("min", "max") for key in _SAME]
    for name in ("min", "max"):
        for left, right, result in (
            ("i32", "u32", "u32"), ("u32", "i32", "u32"), ("i64", "u64", "u64"), ("u64", "i64", "u64"),
        ):  # fmt: skip
            found.append(each(f"{name}/{left},{right}", result, f"{left} {right}", f"{name}(a, b)"))
        found += [
            each(f"u{name}", "u32", "u32 u32"),
            each(f"u{name}/as number", "f64", "u32 u32", f"(double)u{name}(a, b)"),
            each(f"ll{name}", "i64", "i64 i64"),
            each(f"ull{name}", "u64", "u64 u64"),
        ]
    return found


ENTRIES: list[Entry] = [
    *_min_max(),
    each("abs/i32", "i32", "i32", "abs(a)"),
    each("llabs", "i64", "i64"),
    each("labs", "i64", "i64", "(long long)labs((long)a)"),
    each("__popc", "i32", "u32"),
    each("__popcll", "i32", "u64"),
    each("__clz", "i32", "i32"),
    each("__clzll", "i32", "i64"),
    each("__ffs", "i32", "i32"),
    each("__ffsll", "i32", "i64"),
    each("__brev", "u32", "u32"),
    each("__brevll", "u64", "u64"),
    each("__fns", "u32", "u32 u32/shift i32/few", "__fns(a, b & 31, (c & 3) - 1)"),
    each("__mul24", "i32", "i32 i32"),
    each("__umul24", "u32", "u32 u32"),
    each("__mulhi", "i32", "i32 i32"),
    each("__umulhi", "u32", "u32 u32"),
    each("__mul64hi", "i64", "i64 i64"),
    each("__umul64hi", "u64", "u64 u64"),
    each("__sad", "u32", "i32 i32 u32"),
    each("__usad", "u32", "u32 u32 u32"),
    each("__hadd/i32", "i32", "i32 i32", "__hadd(a, b)"),
    each("__rhadd", "i32", "i32 i32"),
    each("__uhadd", "u32", "u32 u32"),
    each("__urhadd", "u32", "u32 u32"),
    each("__byte_perm", "u32", "u32 u32 u32"),
    each("__byte_perm/selectors", "u32", "u32/matrix", "__byte_perm(0x33221100u, 0x77665544u, a)"),
    *(each(f"__funnelshift_{way}", "u32", "u32 u32 u32/shift") for way in ("l", "lc", "r", "rc")),
    each("__dp4a/i32", "i32", "i32 i32 i32", "__dp4a(a, b, c)"),
    each("__dp4a/u32", "u32", "u32 u32 u32", "__dp4a(a, b, c)"),
    each(
        "__dp4a/char4", "i32", "i32 i32 i32",
        "char4 x = *(char4*)&a, y = *(char4*)&b; return __dp4a(x, y, c);",
    ),
    each(
        "__dp4a/uchar4", "u32", "u32 u32 u32",
        "uchar4 x = *(uchar4*)&a, y = *(uchar4*)&b; return __dp4a(x, y, c);",
    ),
    each("__dp2a_lo/i32", "i32", "i32 i32 i32", "__dp2a_lo(a, b, c)"),
    each("__dp2a_hi/i32", "i32", "i32 i32 i32", "__dp2a_hi(a, b, c)"),
    each("__dp2a_lo/u32", "u32", "u32 u32 u32", "__dp2a_lo(a, b, c)"),
    each("__dp2a_hi/u32", "u32", "u32 u32 u32", "__dp2a_hi(a, b, c)"),
    *(each(f"shift left/{key}", key, f"{key} u32/legal_shift", "a << (b & (8 * sizeof(a) - 1))") for key in _SAME),
    *(each(f"shift right/{key}", key, f"{key} u32/legal_shift", "a >> (b & (8 * sizeof(a) - 1))") for key in _SAME),
    *(each(f"far shift left/{key}", key, f"{key} u32/shift", "a << b") for key in _SAME),
    *(each(f"far shift right/{key}", key, f"{key} u32/shift", "a >> b") for key in _SAME),
    each("product wraps", "i32", "i32 i32", "a * b"),
    each("sum wraps", "i32", "i32 i32", "a + b"),
    each("sum wraps/i64", "i64", "i64 i64", "a + b"),
    each("quotient", "i32", "i32 i32", "b && !(a == (int)0x80000000 && b == -1) ? a / b : 0"),
    each("remainder", "i32", "i32 i32", "b && !(a == (int)0x80000000 && b == -1) ? a % b : 0"),
    each("quotient/u64", "u64", "u64 u64", "b ? a / b : 0"),
    *(
        each(name, "u32", "u32 u32")
        for name in (
            "__vadd2", "__vadd4", "__vsub2", "__vsub4", "__vaddss4", "__vaddus4", "__vsubss4", "__vsubus4", "__vabsdiffs4",
            "__vabsdiffu4", "__vmaxs4", "__vmaxu4", "__vmins4", "__vminu4", "__vmaxs2", "__vmins2", "__vcmpeq4", "__vcmpgts4",
            "__vcmpgtu4", "__vavgu4", "__vsads4", "__vsadu4",
        )
    ),
    each("__vabs4", "u32", "u32"),
    each("__vneg4", "u32", "u32"),
]  # fmt: skip
