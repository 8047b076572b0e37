"""The settings of a session's device, which are the part of a request that depends on a build, and the names in them.

Names of files of builds, of modes and of orders; contents of unwritten memory as little-endian 4-byte words.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from audit.model.base import Frozen

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
FILLS = {"nan": FRESH_SHARED, "large": 0x7A7A7A7A, "zero": 0, "negative": 0xFA7AFA7A}
"""Fresh shared memory and inactive lanes hold NaN, zero, or a large number of either sign in every real type."""
LANE_FILLS = ("large", "negative")
"""The fills of masked elements in Triton; a plain run has zeros."""
QUICK = "quick"
"""The order forward, in which the clocks of a claim's host code stand still between calls."""
STALE, STALE_READ = "stale", "stale-read"
"""How the names of orders start in which volatile reads give old values, and the kind of the report of such a read."""
TUNED = "tuned"
"""How the names of orders start that are the order forward with another configuration of `triton.autotune`."""
NO_BLOCKS = "none"
"""The order of threads and blocks in which no block runs: a right result is then not the kernel's."""

TensorDevice = Literal["cpu", "cuda"]
"""The device type of tensors."""
LEAST_TF32 = 80
"""The compute capability from which on GPUs multiply TF32."""


class Configuration(Frozen):
    """The configuration of the emulated device.

    Attributes:
        allocator: one of `emulated.runtime.ALLOCATORS`.
        thread_order: that of the threads of a block, one of `emulated.runtime.ORDERS`.
        block_order: that of the blocks.
        seed: the seed of random orders, which differ between blocks.
        checker: record and check every access of device code; slower.
        compute_capability: that of the launch limits, e.g. 75.
        shared_word: the 4 bytes in fresh shared memory.
        lane_word: the 4 bytes that a shuffle gets from an inactive lane. Its sign is that of masked elements of a load
            in Triton without `other`; 0 for zeros.
        lane_line: the line of the only load that this holds for; 0 for all.
        kernel_seconds: the limit of a launch in processor time.
        blocks: the blocks of each launch to run, its corners and random ones; a grid of few threads is run whole; 0
            only checks a launch against the limits; -1 runs all.
        sparing: leave blocks of a grid of few threads out too.
        stale: one of `emulated.runtime.STALE`.
        still_clock: let the clocks of the claim's host code go on by 100 ns a reading alone.
        hides_races: give `shared_word` to a plain read that races with a write before it, and report that alone.
        compiles: put Triton's front end in the place of its interpreter.
        tuned: the number of the configuration that functions under `triton.autotune` take.
    """

    allocator: str = "plain"
    thread_order: str = "forward"
    block_order: str = "forward"
    seed: int = 0
    checker: bool = False
    compute_capability: int = 75
    shared_word: int = FRESH_SHARED
    lane_word: int = POISON_NAN
    lane_line: int = 0
    kernel_seconds: float = 20.0
    blocks: int = -1
    sparing: bool = False
    stale: str = "none"
    still_clock: bool = False
    hides_races: bool = False
    compiles: bool = False
    tuned: int = 0


class Built(Frozen):
    """The common part of all builds: the judge's SHA-256 of each file that a session loads."""

    digests: dict[Path, str]


class EmulatedSettings(Built):
    """A `.cu` variant on the emulated device."""

    kind: Literal["emulated"] = "emulated"
    library: Path
    header_set: str
    runtime: Path
    configuration: Configuration


class EmulatedPythonSettings(Built):
    """A `.py` variant on the emulated device: libraries (with their header set) and refusals by the key of texts."""

    kind: Literal["emulated_python"] = "emulated_python"
    python: Path
    init_inputs: list[Any]
    libraries: dict[str, tuple[Path, str]]
    refusals: dict[str, str]
    exact_lines: bool
    triton: bool
    runtime: Path
    configuration: Configuration


class CudaLibrary(Built):
    """A compiled variant: `module` is its name as a Python module, `binding` the second library of a fast build."""

    library: Path
    module: str
    binding: Path | None = None


class CudaPython(Built):
    """A `.py` variant for a GPU.

    Attributes:
        python: the source.
        init_inputs: the arguments of a `ModelNew`.
        folder: has the extensions; None where the source builds none.
        extensions: `[library, name]` or a refusal in words, by the key of texts.
        environment: variables that the session needs.
        triton: whether the source imports it.
    """

    python: Path
    init_inputs: list[Any]
    triton: bool = False
    folder: Path | None
    extensions: dict[str, list[str] | str | None] | None
    environment: dict[str, str]


class CudaSettings(CudaLibrary):
    """A compiled variant on a GPU, with the mode of fresh memory; see `audit.run.devices.cuda`."""

    kind: Literal["cuda"] = "cuda"
    memory: str
    pattern: int | None = None


class CudaPythonSettings(CudaPython):
    """A `.py` variant on a GPU."""

    kind: Literal["cuda_python"] = "cuda_python"
    memory: str
    pattern: int | None = None


class CheckedSettings(CudaLibrary):
    """A compiled variant on a GPU under compute-sanitizer."""

    kind: Literal["cuda_checked"] = "cuda_checked"
    sanitizer: Path


DeviceSettings = Annotated[
    EmulatedSettings | EmulatedPythonSettings | CudaSettings | CudaPythonSettings | CheckedSettings,
    Field(discriminator="kind"),
]
