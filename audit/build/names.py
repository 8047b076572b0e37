"""What builds leave, by name, for the sessions that open it; imports nothing, so that a session need not either."""

FAST_MANIFEST = "fast.json"
"""Of a fast build: where its opener and its kernels stand."""
IMAGE = "device.image"
OPENER = "cufast_open"
DEVICE_PREFIX = "cuemu"
"""Of every name in the sources of the emulated device; a cache has them under a prefix of its own."""
FOLDERS = {"TORCH_EXTENSIONS_DIR": "torch", "TRITON_CACHE_DIR": "triton", "TORCHINDUCTOR_CACHE_DIR": "inductor"}
"""Where what a `.py` variant compiles during a session is kept, in a folder of this source's alone."""
TORCH_MACROS = (
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
)
"""What torch's extension builder adds to every call of nvcc: the operators of CUDA's half types are taken away."""
