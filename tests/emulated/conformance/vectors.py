"""Sizes and alignments of the vector types, the order of their members, what is read through caches and hints."""

from __future__ import annotations

from tests.emulated.conformance.entry import Entry, each

_BASES = (
    "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double",
)  # fmt: skip
_TYPES = [f"{base}{count}" for base in _BASES for count in (1, 2, 3, 4)]
_OTHERS = (
    "__half", "__half2", "__nv_bfloat16", "__nv_bfloat162", "__half_raw", "__half2_raw", "__nv_bfloat16_raw", "dim3", "char",
    "long", "wchar_t", "void*", "size_t", "bool", "long double",
)  # fmt: skip
_LOADS = ("__ldg", "__ldca", "__ldcg", "__ldcs", "__ldcv", "__ldlu")
_STORES = ("__stwb", "__stcg", "__stcs", "__stwt")


def _load(name: str, cuda: str, key: str) -> Entry:
    return Entry(
        f"{name}/{cuda}",
        "block",
        f"out[threadIdx.x] = {name}(a + threadIdx.x);",
        (f"{key}/matrix",),
        key,
        threads=64,
        results=64,
    )


def _store(name: str, key: str) -> Entry:
    return Entry(
        f"{name}/{key}",
        "block",
        f"{name}(out + threadIdx.x, a[threadIdx.x]);",
        (f"{key}/matrix",),
        key,
        threads=64,
        results=64,
    )


ENTRIES: list[Entry] = [
    *(each(f"layout of {name}", "u32", "i32/shift", f"(unsigned)(a * 10000 + sizeof({name}) * 100 + alignof({name}))") for name in (*_TYPES, *_OTHERS)),
    *(
        each(f"make_{base}4", "f64", "i8 i8", f"auto v = make_{base}4(a, b, 1, 2); return v.x + 300.0 * v.y + 1e5 * v.z + 1e6 * v.w;")
        for base in _BASES
    ),
    *(each(f"make_{base}2", "f64", "i8 i8", f"auto v = make_{base}2(a, b); return v.x + 300.0 * v.y;") for base in _BASES),
    *(each(f"make_{base}3", "f64", "i8 i8", f"auto v = make_{base}3(a, b, 1); return v.x + 300.0 * v.y + 1e5 * v.z;") for base in _BASES),
    *(_load(name, cuda, key) for name in _LOADS for cuda, key in (("float", "f32"), ("int", "i32"), ("unsigned char", "u8"))),
    *(_store(name, key) for name in _STORES for key in ("f32", "i32", "u8")),
    Entry(
        "members in memory", "block",
        "float4 v = reinterpret_cast<const float4*>(a)[threadIdx.x]; float2 w = reinterpret_cast<const float2*>(a)[threadIdx.x];"
        " reinterpret_cast<float4*>(out)[threadIdx.x] = make_float4(v.w, v.z, w.y, w.x);",
        ("f32/matrix",), "f32", threads=64, results=256,
    ),
    Entry(
        "thread indices", "block",
        "if (threadIdx.x < 64) out[threadIdx.x] = threadIdx.x + 100 * blockIdx.x + 1000 * blockDim.x + 100000 * gridDim.x"
        " + threadIdx.y + threadIdx.z + blockDim.y + blockDim.z + gridDim.y;",
        ("u32",), "u32", threads=64, results=64,
    ),
]  # fmt: skip
