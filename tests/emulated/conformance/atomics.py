"""Atomic functions on every type they take, in global and shared memory: the new content and the value they return."""

from __future__ import annotations

from tests.emulated.conformance.entry import Bound, Entry, Kind

_PLACES: dict[Kind, str] = {"cell": "global", "shared_cell": "shared"}
_ALL = ("i32", "u32", "u64")
_TYPES = {
    "Add": ("i32", "u32", "u64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"),
    "Sub": ("i32", "u32"),
    "Min": ("i32", "u32", "i64", "u64"),
    "Max": ("i32", "u32", "i64", "u64"),
    "And": _ALL,
    "Or": _ALL,
    "Xor": _ALL,
    "Exch": (*_ALL, "f32"),
    "Inc": ("u32",),
    "Dec": ("u32",),
}
# Added up by every lane of one warp to one place: order cannot matter for these.
_TOGETHER = (
    ("Add", "i32"),
    ("Add", "u64"),
    ("Min", "i32"),
    ("Max", "u32"),
    ("And", "u32"),
    ("Or", "u32"),
    ("Xor", "u32"),
)


def _one(kind: Kind, name: str, key: str) -> Entry:
    return Entry(f"atomic{name}/{_PLACES[kind]}/{key}", kind, f"atomic{name}(cell, b)", (key, key), key)


def _swap(kind: Kind, key: str) -> Entry:
    return Entry(f"atomicCAS/{_PLACES[kind]}/{key}", kind, "atomicCAS(cell, b, c)", (key, key, f"{key}/few"), key)


def _scoped() -> list[Entry]:
    return [
        Entry(f"atomic{name}_{scope}/{key}", "cell", f"atomic{name}_{scope}(cell, b)", (key, key), key)
        for scope in ("block", "system")
        for name, keys in _TYPES.items()
        for key in keys[:1]
    ]


def _together(name: str, key: str, place: str) -> Entry:
    cuda = {"i32": "int", "u32": "unsigned", "u64": "unsigned long long"}[key]
    where = "out" if place == "global" else "held"
    code = (
        f"__shared__ {cuda} held[2]; {cuda}* cell = {where}; if (threadIdx.x == 0) cell[0] = a[127]; __syncthreads();"
        f" {cuda} old = atomic{name}(cell, a[threadIdx.x]); (void)old; __syncthreads(); if (threadIdx.x == 0) out[0] = cell[0];"
    )
    return Entry(f"atomic{name} by all/{place}/{key}", "block", code, (f"{key}/lanes",), key, threads=96, results=1)


ENTRIES: list[Entry] = [
    *(_one(kind, name, key) for kind in _PLACES for name, keys in _TYPES.items() for key in keys),
    *(_swap(kind, key) for kind in _PLACES for key in ("i32", "u32", "u64", "u16")),
    *_scoped(),
    *(_together(name, key, place) for name, key in _TOGETHER for place in ("global", "shared")),
    Entry(
        "atomicAdd returns a permutation", "block",
        "__shared__ int next; if (threadIdx.x == 0) next = 0; __syncthreads(); int at = atomicAdd(&next, 1); out[at] = 1;",
        ("i32",), "i32", threads=64, results=64,
    ),
    Entry(
        "atomicInc wraps", "block",
        "__shared__ unsigned next; if (threadIdx.x == 0) next = 0; __syncthreads(); unsigned at = atomicInc(&next, 6);"
        " atomicAdd(out + at, 1u);",
        ("u32",), "u32", threads=70, results=8,
    ),
    Entry(
        "atomicAdd float by all", "block", "atomicAdd(out, a[threadIdx.x]);", ("f32/lanes",), "f32", Bound(absolute=1e-4),
        threads=128, results=1,
    ),
]  # fmt: skip
