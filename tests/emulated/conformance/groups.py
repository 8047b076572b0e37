"""Cooperative groups: ranks, collectives and scans of tiles and of the lanes that are together, asynchronous copies."""

from __future__ import annotations

from tests.emulated.conformance.entry import Bound, Entry
from tests.emulated.conformance.warps import lanes

_TILE = "auto tile = cg::tiled_partition<{size}>(cg::this_thread_block()); "
_SOME = "if (lane % 3 == 1) {{ auto some = cg::coalesced_threads(); return {code}; }} return 0;"
_SIZES = (1, 2, 4, 8, 16, 32)
_OPERATIONS = ("plus", "less", "greater", "bit_and", "bit_or", "bit_xor")


def _tile(name: str, result: str, operands: str, code: str, sizes: tuple[int, ...] = (4, 32)) -> list[Entry]:
    return [
        lanes(f"tile of {size}: {name}", result, operands, f"{_TILE.format(size=size)}return {code};") for size in sizes
    ]


def _some(name: str, result: str, operands: str, code: str) -> Entry:
    return lanes(f"lanes together: {name}", result, operands, _SOME.format(code=code))


_TILES = [
    *_tile("ranks", "u32", "u32/few", "tile.thread_rank() + 100 * tile.size() + 10000 * tile.meta_group_rank()"
           " + 1000000 * tile.meta_group_size() + tile.num_threads()", _SIZES),
    *_tile("shfl", "u32", "u32/lanes", "tile.shfl(a, 3 % tile.size())", _SIZES),
    *_tile("shfl beyond", "u32", "u32/lanes", "tile.shfl(a, lane * 5)", _SIZES),
    *_tile("shfl_down", "u32", "u32/lanes", "tile.shfl_down(a, 1)", _SIZES),
    *_tile("shfl_up", "u32", "u32/lanes", "tile.shfl_up(a, 2)", _SIZES),
    *_tile("shfl_xor", "f64", "f64/lanes", "tile.shfl_xor(a, 1)", _SIZES[1:]),
    *_tile("shfl_xor far", "u32", "u32/lanes", "tile.shfl_xor(a, 6)", _SIZES[3:]),
    *_tile("any", "i32", "u32/few", "tile.any(a == 4)", _SIZES),
    *_tile("all", "i32", "u32/few", "tile.all(a < 4)", _SIZES),
    *_tile("ballot", "u32", "u32/few", "tile.ballot(a & 1)", _SIZES),
    *_tile("match_any", "u32", "u32/few", "tile.match_any(a)", _SIZES),
    *_tile("exclusive_scan/float", "f32", "f32/lanes", "cg::exclusive_scan(tile, a)"),
    *(
        entry for name in _OPERATIONS
        for entry in (
            *_tile(f"reduce {name}", "i32", "i32/lanes", f"cg::reduce(tile, a, cg::{name}<int>())", _SIZES),
            *_tile(f"inclusive_scan {name}", "i32", "i32/lanes", f"cg::inclusive_scan(tile, a, cg::{name}<int>())"),
            *_tile(f"exclusive_scan {name}", "i32", "i32/lanes", f"cg::exclusive_scan(tile, a, cg::{name}<int>())"),
        )
    ),
    *_tile("inclusive_scan", "i32", "i32/lanes", "cg::inclusive_scan(tile, a)", _SIZES),
    *_tile("exclusive_scan", "i32", "i32/lanes", "cg::exclusive_scan(tile, a)", _SIZES),
    *_tile("match_all", "u32", "u32/few", "[&] { int p; unsigned m = tile.match_all(a < 100, p); return m * 3 + p; }()"),
]  # fmt: skip

_TOGETHER = [
    _some("ranks", "u32", "u32/few", "some.thread_rank() + 100 * some.size() + 10000 * some.meta_group_rank()"),
    _some("shfl", "u32", "u32/lanes", "some.shfl(a, 2)"),
    _some("shfl_down", "u32", "u32/lanes", "some.shfl_down(a, 1)"),
    _some("shfl_up", "u32", "u32/lanes", "some.shfl_up(a, 1)"),
    _some("any", "i32", "u32/few", "some.any(a == 1)"),
    _some("all", "i32", "u32/few", "some.all(a != 3)"),
    _some("ballot", "u32", "u32/few", "some.ballot(a & 1)"),
    _some("match_any", "u32", "u32/few", "some.match_any(a)"),
    _some("reduce", "i32", "i32/lanes", "cg::reduce(some, a, cg::plus<int>())"),
    _some("inclusive_scan", "i32", "i32/lanes", "cg::inclusive_scan(some, a)"),
]

_BLOCK = [
    lanes("block ranks", "u32", "u32/few", "auto g = cg::this_thread_block(); return g.thread_rank() + 1000 * g.size()"
          " + g.num_threads() + g.thread_index().x + g.group_index().x + g.dim_threads().x + g.group_dim().y;"),
    lanes("labeled_partition", "u32", "u32/few", "auto g = cg::labeled_partition(cg::coalesced_threads(), (int)a);"
          " return g.size() * 100 + g.thread_rank();"),
    lanes("binary_partition", "u32", "u32/few", "auto g = cg::binary_partition(cg::coalesced_threads(), a & 1);"
          " return g.size() * 100 + g.thread_rank();"),
    lanes("tiled_partition of a size", "u32", "u32/few", "auto g = cg::tiled_partition(cg::this_thread_block(), 8);"
          " return g.size() * 100 + g.thread_rank();"),
    lanes("reduce/float", "f32", "f32/lanes", _TILE.format(size=32) + "return cg::reduce(tile, a, cg::plus<float>());"),
]  # fmt: skip
_BLOCK[-1] = Entry(**{**vars(_BLOCK[-1]), "bound": Bound(absolute=1e-5)})
_TILES = [Entry(**{**vars(e), "bound": Bound(absolute=1e-5)}) if e.result == "f32" else e for e in _TILES]


def _copy(key: str, count: int, way: str) -> Entry:
    cuda = {"u8": "unsigned char", "f16": "__half", "u32": "unsigned", "f32": "float"}[key]
    bytes_ = f"{count} * sizeof({cuda})"
    ways = {
        "group": f"cg::memcpy_async(g, held, a, {bytes_}); cg::wait(g);",
        "count": f"cg::memcpy_async(g, held, cuda::aligned_size_t<1>({bytes_}), a, cuda::aligned_size_t<1>({bytes_})); cg::wait(g);",
        "shifted": f"cg::memcpy_async(g, held + 1, a + 1, {bytes_}); cg::wait(g);",
        "thread": "auto pipe = cuda::make_pipeline(); pipe.producer_acquire();"
        f" for (int i = threadIdx.x; i < {count}; i += blockDim.x) cuda::memcpy_async(held + i, a + i, sizeof(*a), pipe);"
        " pipe.producer_commit(); pipe.consumer_wait(); __syncthreads(); pipe.consumer_release();",
    }
    code = (
        f"__shared__ __align__(16) {cuda} held[160]; for (int i = threadIdx.x; i < 160; i += blockDim.x) held[i] = ({cuda})7;"
        f" __syncthreads(); auto g = cg::this_thread_block(); {ways[way]}"
        f" for (int i = threadIdx.x; i < 160; i += blockDim.x) out[i] = held[i];"
    )
    return Entry(f"memcpy_async {way}/{key} x {count}", "block", code, (f"{key}/matrix",), key, threads=64, results=160)


_COPIES = [
    *(_copy("f16", count, "group") for count in (1, 2, 31, 64, 65, 127)),
    *(_copy("u8", count, "group") for count in (1, 3, 5, 16, 17, 63, 101)),
    *(_copy("f32", count, "group") for count in (1, 33, 128)),
    *(_copy("u8", count, "shifted") for count in (4, 7, 64)),
    *(_copy("f16", count, "shifted") for count in (4, 65)),
    *(_copy("u32", count, "thread") for count in (1, 64, 100)),
    Entry(
        "__pipeline_memcpy_async", "block",
        "__shared__ __align__(16) unsigned held[256]; __pipeline_memcpy_async(held + 4 * threadIdx.x, a + 4 * threadIdx.x, 16);"
        " __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();"
        " for (int i = threadIdx.x; i < 256; i += 64) out[i] = held[255 - i];",
        ("u32/matrix",), "u32", threads=64, results=256,
    ),
    Entry(
        "__pipeline_memcpy_async with zeros", "block",
        "__shared__ __align__(16) unsigned held[256]; __pipeline_memcpy_async(held + 4 * threadIdx.x, a + 4 * threadIdx.x, 16, 8);"
        " __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();"
        " for (int i = threadIdx.x; i < 256; i += 64) out[i] = held[i];",
        ("u32/matrix",), "u32", threads=64, results=256,
    ),
]  # fmt: skip

ENTRIES: list[Entry] = [*_TILES, *_TOGETHER, *_BLOCK, *_COPIES]
