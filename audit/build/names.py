"""Names of the files of builds, for the sessions that load them; imports nothing, so that a session need not either."""

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
