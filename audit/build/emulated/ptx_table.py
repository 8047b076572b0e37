"""The PTX instructions that the emulated device takes: for each the C++ function that does it (`include/cuemu/ptx*.h`).

A row reads: the opcode, its modifiers, the function. A modifier with a dot stands for itself, one without for a line
of `MODIFIERS`; `?` may be missing, `*` may come any number of times and changes nothing. The words in a function's
template arguments are the modifiers found; its arguments are the instruction's operands in PTX's order.
"""

from __future__ import annotations

TYPES = {
    **{f"{letter}{bits}": f"std::uint{bits}_t" for letter in "bu" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": f"std::int{bits}_t" for bits in (8, 16, 32, 64)},
    "f32": "float",
    "f64": "double",
    "f16": "__half",
    "bf16": "__nv_bfloat16",
    "f16x2": "__half2",
    "bf16x2": "__nv_bfloat162",
    "tf32": "nvcuda::wmma::precision::tf32",
    "pred": "bool",
}
_TYPE = "|".join(TYPES)

MODIFIERS = {
    "type": _TYPE,
    "to": _TYPE,
    "from": _TYPE,
    "d": "f32|f16|s32",
    "a": "f16|bf16|tf32|s8|u8",
    "b": "f16|bf16|tf32|s8|u8",
    "c": "f32|f16|s32",
    "space": "global|shared(?:::cta)?",
    "shared": "shared(?:::cta)?",
    "strong": "volatile|relaxed|acquire|release|acq_rel|mmio",
    "scope": "cta|gpu|sys",
    "hint": "ca|cg|cs|lu|cv|nc|wb|wt|L1::evict_\\w+|L1::no_allocate|L2::evict_\\w+|L2::(?:64|128|256)B",
    "vector": "v2|v4",
    "cached": "ca|cg",
    "many": "x1|x2|x4",
    "k": "m16n8k(?:4|8|16|32)",
    "rounding": "rni?|rzi?|rmi?|rpi?|rna",
    "half": "lo|hi|wide",
    "first": "u32|s32",
    "second": "u32|s32",
    "approx": "approx|full|rn",
    "compare": "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan",
    "lanes": "up|down|bfly|idx",
    "vote": "any|all|uni|ballot",
    "atomic": "add|min|max|and|or|xor|exch|inc|dec",
    "reduced": "add|min|max|and|or|xor",
    "wrap": "wrap|clamp",
    "way": "l|r",
    "level": "L1|L2(?:::evict_\\w+)?",
    "fenced": "cta|gl|gpu|sys",
}

_MEMORY = "strong? scope? space? hint* vector? type"

TABLE: tuple[tuple[str, str, str], ...] = (
    # Memory
    ("ld", _MEMORY, "load<{space}, {strong}, {type}>"),
    ("ldu", "space? vector? type", "load<{space}, {strong}, {type}>"),
    ("st", _MEMORY, "store<{space}, {strong}, {type}>"),
    ("atom", "strong? scope? space? atomic .noftz? type", "atom<{atomic}, {strong}, {space}, {type}>"),
    ("atom", "strong? scope? space? .cas type", "compare_and_swap<{strong}, {space}, {type}>"),
    ("red", "strong? scope? space? atomic .noftz? type", "red<{atomic}, {strong}, {space}, {type}>"),
    ("prefetch", "space? level", "nothing"),
    ("prefetchu", "level", "nothing"),
    ("createpolicy", ".fractional hint* .b64", "policy"),
    ("createpolicy", ".range .global? hint* .b64", "policy"),
    ("cvta", ".to space type", "to_space<{space}>"),
    ("cvta", "space type", "to_generic<{space}>"),
    # Asynchronous copies
    ("cp", ".async cached shared .global hint*", "copy_async<{cached}>"),
    ("cp", ".async .commit_group", "commit_group"),
    ("cp", ".async .wait_group", "wait_group"),
    ("cp", ".async .wait_all", "wait_all"),
    # Matrices
    ("ldmatrix", ".sync .aligned .m8n8 many .trans shared? .b16", "ldmatrix<true>"),
    ("ldmatrix", ".sync .aligned .m8n8 many shared? .b16", "ldmatrix<false>"),
    ("mma", ".sync .aligned k .row .col d a b c", "mma<{k}, {d}, {a}, {b}, {c}>"),
    # Warps and blocks
    ("shfl", ".sync lanes .b32", "shuffle<{lanes}>"),
    ("vote", ".sync vote type", "vote<{vote}>"),
    ("match", ".any .sync type", "match_any<{type}>"),
    ("redux", ".sync reduced type", "redux<{reduced}, {type}>"),
    ("activemask", ".b32", "activemask"),
    ("bar", ".sync", "block_barrier"),
    ("barrier", ".sync .aligned?", "block_barrier"),
    ("bar", ".warp .sync", "warp_barrier"),
    ("membar", "fenced", "fence<{fenced}>"),
    ("fence", ".sc? .acq_rel? fenced", "fence<{fenced}>"),
    ("nanosleep", ".u32", "sleep"),
    ("trap", "", "trap"),
    # Moves and conversions
    ("mov", "type", "mov<{type}>"),
    ("cvt", "rounding? .ftz? .satfinite? .relu to from", "convert<{to}, {from}, {rounding}, true>"),
    ("cvt", "rounding? .ftz? .sat to from", "convert_saturated<{to}, {from}, {rounding}>"),
    ("cvt", ".pack .sat to .s32 .b32?", "pack<{to}>"),
    ("cvt", "rounding? .ftz? .satfinite? to from", "convert<{to}, {from}, {rounding}, false>"),
    ("selp", "type", "choose"),
    ("setp", "compare .ftz? type", "compare<{compare}, {type}>"),
    # Arithmetic
    ("add", ".rn? .ftz? type", "add<{type}>"),
    ("sub", ".rn? .ftz? type", "subtract<{type}>"),
    ("mul", "half type", "multiply<{half}, {type}>"),
    ("mul", ".rn? .ftz? type", "product<{type}>"),
    ("mad", "half type", "multiply_add<{half}, {type}>"),
    ("fma", ".rn .ftz? type", "fma<{type}, false>"),
    ("fma", ".rn .ftz? .relu type", "fma<{type}, true>"),
    ("dp4a", "first second", "dot_of_bytes<{first}, {second}>"),
    ("dp2a", ".lo first second", "dot_of_shorts<{first}, {second}, 0>"),
    ("dp2a", ".hi first second", "dot_of_shorts<{first}, {second}, 16>"),
    ("sad", "type", "absolute_difference<{type}>"),
    ("div", "approx? .ftz? type", "divide<{type}>"),
    ("min", ".ftz? type", "least<{type}>"),
    ("max", ".ftz? type", "greatest<{type}>"),
    ("neg", ".ftz? type", "negate<{type}>"),
    ("abs", ".ftz? type", "absolute<{type}>"),
    ("ex2", ".approx .ftz? type", "exp2<{type}>"),
    ("lg2", ".approx .ftz? type", "log2<{type}>"),
    ("sin", ".approx .ftz? type", "sine<{type}>"),
    ("cos", ".approx .ftz? type", "cosine<{type}>"),
    ("tanh", ".approx type", "tanh<{type}>"),
    ("rcp", "approx .ftz? type", "reciprocal<{type}>"),
    ("sqrt", "approx .ftz? type", "root<{type}>"),
    ("rsqrt", ".approx .ftz? type", "reciprocal_root<{type}>"),
    # Bits
    ("and", "type", "bits_and"),
    ("or", "type", "bits_or"),
    ("xor", "type", "bits_xor"),
    ("not", "type", "bits_not<{type}>"),
    ("shl", "type", "shift_left<{type}>"),
    ("shr", "type", "shift_right<{type}>"),
    ("shf", "way wrap .b32", "funnel<{way}, {wrap}>"),
    ("bfe", "type", "extract<{type}>"),
    ("bfi", "type", "insert<{type}>"),
    ("lop3", ".b32", "lop3"),
    ("prmt", ".b32", "permute"),
    ("popc", "type", "population<{type}>"),
    ("clz", "type", "leading_zeros<{type}>"),
    ("brev", ".b32", "reversed"),
)

SPECIAL = {
    **{f"{name}.{axis}": f"{var}.{axis}" for name, var in (
        ("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim")
    ) for axis in "xyz"},
    "laneid": "cuemu_lane()",
    "warpid": "(cuemu_thread_rank() / 32)",
    "nwarpid": "((blockDim.x * blockDim.y * blockDim.z + 31) / 32)",
    "smid": "0u",
    "nsmid": "1u",
    "clock": "static_cast<unsigned>(cuemu_clock())",
    "clock64": "cuemu_clock()",
    "globaltimer": "cuemu_clock()",
    "lanemask_eq": "(1u << cuemu_lane())",
    "lanemask_lt": "((1u << cuemu_lane()) - 1)",
    "lanemask_le": "((2u << cuemu_lane()) - 1)",
    "lanemask_gt": "~((2u << cuemu_lane()) - 1)",
    "lanemask_ge": "~((1u << cuemu_lane()) - 1)",
}  # fmt: skip
"""Registers that a thread can only read, and what answers; one multiprocessor is modelled."""

NEEDS = (
    ("wgmma.", "9.0a (matrix products of four warps)"),
    ("tcgen05.", "10.0a (tensor memory)"),
    ("cp.async.bulk.", "9.0 (the tensor memory accelerator)"),
    ("cp.reduce.async.bulk.", "9.0 (the tensor memory accelerator)"),
    ("cp.async.mbarrier.", "8.0 (barriers in shared memory)"),
    ("mbarrier.", "8.0 (barriers in shared memory)"),
    ("fence.proxy.", "9.0 (the tensor memory accelerator)"),
    ("fence.mbarrier_init.", "9.0 (thread block clusters)"),
    ("barrier.cluster.", "9.0 (thread block clusters)"),
    ("mapa.", "9.0 (thread block clusters)"),
    ("clusterlaunchcontrol.", "10.0 (thread block clusters)"),
    ("multimem.", "9.0 (memory of several GPUs)"),
    ("setmaxnreg.", "9.0a (registers of four warps)"),
    ("stmatrix.", "9.0 (stores of matrices)"),
    ("elect.", "9.0 (the election of a lane)"),
    ("griddepcontrol.", "9.0 (dependent launches)"),
)
"""Instructions that are refused, by how they start, and the least compute capability of a GPU that has them."""
