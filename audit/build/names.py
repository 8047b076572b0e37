"""Names of files of builds, of modes and of orders, and the contents of unwritten memory as little-endian 4-byte words.

Imports nothing, so that a session need not either.
"""

FAST_MANIFEST = "fast.json"
"""The file of a fast build with the offsets of its opener and its kernels."""
IMAGE = "device.image"
OPENER = "cufast_open"
DEVICE_PREFIX = "cuemu"
"""The prefix of names in the sources of the emulated device, which a cache replaces by one of its own."""
FOLDERS = {"TORCH_EXTENSIONS_DIR": "torch", "TRITON_CACHE_DIR": "triton", "TORCHINDUCTOR_CACHE_DIR": "inductor"}
"""Variables of compiler caches of a `.py` variant, and their folders below one for this source alone."""
TORCH_MACROS = (
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
)
"""Macros that torch's extension builder passes to nvcc, which remove the operators of CUDA's half types."""

POISON_NAN = 0xFFF5FFF5
"""A NaN in float64, float32, float16 and bfloat16."""
POISON_NUMBER = 0xA5A5A5A5
"""A small negative number in every floating-point type, a large negative one as int32."""
POISONS = {"poison_nan": POISON_NAN.to_bytes(4, "little"), "poison_number": POISON_NUMBER.to_bytes(4, "little")}
"""The memory modes that fill fresh memory with a pattern, on every device."""
FRESH_SHARED = 0xFFF3FFF3
"""The contents of fresh shared memory: also a NaN, but no pattern of device memory."""
FILLS = {"nan": FRESH_SHARED, "zero": 0, "large": 0x7A7A7A7A, "negative": 0xFA7AFA7A}
"""Possible contents of fresh shared memory and inactive lanes: NaN, zero, and large numbers of either sign in every
floating-point type."""
QUICK = "quick"
"""The order forward, in which the clocks of a claim's host code stand still between calls."""
STALE, STALE_READ = "stale", "stale-read"
"""How the names of orders start in which volatile reads give old values, and the kind of the report of such a read."""
NO_BLOCKS = "none"
"""The order of threads and blocks in which no block runs: a right result is then not the kernel's."""
