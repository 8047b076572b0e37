"""Warp collectives: shuffles with widths and lanes out of range, votes and matches with masks, reductions."""

from __future__ import annotations

from tests.emulated.conformance.entry import Entry

ALL = "0xffffffffu"
_SHUFFLED = ("i32", "u32", "i64", "u64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2")


def lanes(name: str, result: str, operands: str, code: str, *, threads: int = 128) -> Entry:
    """An element-wise question of whole warps."""
    return Entry(name, "lanes", code, tuple(operands.split()), result, threads=threads)


def _shuffles() -> list[Entry]:
    found = [
        lanes(f"__shfl_sync/{key}", key, f"{key}/lanes u32/source", f"__shfl_sync({ALL}, a, b)") for key in _SHUFFLED
    ]
    for width in (1, 2, 4, 8, 16, 32):
        calls = {
            "__shfl_sync": f"__shfl_sync({ALL}, a, (int)b - 3, {width})",
            "__shfl_up_sync": f"__shfl_up_sync({ALL}, a, 3, {width})",
            "__shfl_down_sync": f"__shfl_down_sync({ALL}, a, 3, {width})",
            "__shfl_xor_sync": f"__shfl_xor_sync({ALL}, a, 5, {width})",
        }
        found += [lanes(f"{name} of {width}", "u32", "u32/lanes u32/source", code) for name, code in calls.items()]
    for name, amount in (
        ("up", 0),
        ("up", 32),
        ("up", 40),
        ("down", 0),
        ("down", 31),
        ("down", 32),
        ("xor", 0),
        ("xor", 31),
    ):
        found.append(
            lanes(f"__shfl_{name}_sync by {amount}", "u32", "u32/lanes", f"__shfl_{name}_sync({ALL}, a, {amount})")
        )
    for amount in (-1, 32, 33, 1000):
        found.append(lanes(f"__shfl_sync from {amount}", "u32", "u32/lanes", f"__shfl_sync({ALL}, a, {amount})"))
    found.append(lanes("__shfl_xor_sync across segments", "u32", "u32/lanes", f"__shfl_xor_sync({ALL}, a, 12, 8)"))
    found.append(
        lanes(
            "__shfl_down_sync of a part",
            "u32",
            "u32/lanes",
            "if (lane % 32 < 16) return __shfl_down_sync(0xffffu, a, 2, 16); return 0u;",
        )
    )
    return found


def _votes() -> list[Entry]:
    found = []
    for name, result in (("__ballot_sync", "u32"), ("__any_sync", "i32"), ("__all_sync", "i32")):
        found.append(lanes(name, result, "u32/few", f"{name}({ALL}, a & 1)"))
        found.append(lanes(f"{name} of 256", result, "u32/few", f"{name}({ALL}, (a & 1) << 8)"))
        found.append(lanes(f"{name} all true", result, "u32/few", f"{name}({ALL}, a < 100)"))
        odd = f"if (lane & 1) return {name}(0xaaaaaaaau, a & 1); return 0;"
        found.append(lanes(f"{name} of odd lanes", result, "u32/few", odd))
    for key in ("i32", "u32", "i64", "u64", "f32", "f64"):
        few = f"{key}/few" if key[0] in "iu" else "u32/few"
        value = "a" if key[0] in "iu" else f"({'float' if key == 'f32' else 'double'})a"
        found.append(lanes(f"__match_any_sync/{key}", "u32", few, f"__match_any_sync({ALL}, {value})"))
        full = f"int p = -1; unsigned m = __match_all_sync({ALL}, {value}, &p); return m * 3 + p;"
        found.append(lanes(f"__match_all_sync/{key}", "u32", few, full))
    found.append(
        lanes(
            "__match_all_sync equal",
            "u32",
            "u32/few",
            f"int p; unsigned m = __match_all_sync({ALL}, a & 0, &p); return m + p;",
        )
    )
    found.append(lanes("__match_any_sync zeros", "u32", "u32/few", f"__match_any_sync({ALL}, lane & 1 ? 0.0f : -0.0f)"))
    found.append(
        lanes(
            "__match_any_sync of odd lanes",
            "u32",
            "u32/few",
            "if (lane & 1) return __match_any_sync(0xaaaaaaaau, a); return 0;",
        )
    )
    return found


ENTRIES: list[Entry] = [
    *_shuffles(),
    *_votes(),
    *(
        lanes(f"__reduce_{name}_sync/{key}", key, f"{key}/lanes", f"__reduce_{name}_sync({ALL}, a)")
        for name, keys in {
            "add": ("u32", "i32"), "min": ("u32", "i32"), "max": ("u32", "i32"), "and": ("u32",), "or": ("u32",), "xor": ("u32",),
        }.items()
        for key in keys
    ),
    lanes("__reduce_add_sync of a half", "u32", "u32/lanes", "if (lane % 32 >= 16) return __reduce_add_sync(0xffff0000u, a); return 0u;"),
    lanes("__activemask", "u32", "u32/few", "__activemask()"),
    lanes("__syncthreads_count", "i32", "u32/few", "__syncthreads_count(a & 1)"),
    lanes("__syncthreads_and", "i32", "u32/few", "__syncthreads_and(a & 1) != 0"),
    lanes("__syncthreads_or", "i32", "u32/few", "__syncthreads_or(a & 4) != 0"),
    lanes("__syncthreads_count of 256", "i32", "u32/few", "__syncthreads_count((a & 1) << 8)"),
    lanes("warpSize", "i32", "u32/few", "warpSize"),
    lanes("part of a warp at the end", "u32", "u32/lanes", f"unsigned m = __ballot_sync({ALL} >> (lane < 32 ? 0 : 16), 1); return m;", threads=48),
]  # fmt: skip
