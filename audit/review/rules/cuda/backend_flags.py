"""Is a setting of the whole library changed from within the candidate?

Silent on reading a setting, where the last call sets back what a variable kept, and on the math mode of a handle that
the file makes itself.
"""

from __future__ import annotations

from audit.review.cuda_reading import Call, CudaReading
from audit.review.rule import Rule, Spot, names

_SETTERS = names("""
    setAllowTF32CuBLAS setAllowTF32CuDNN setFloat32MatmulPrecision setFloat32Precision setBenchmarkCuDNN
    setDeterministicCuDNN setDeterministicAlgorithms setAllowFP16ReductionCuBLAS setAllowBF16ReductionCuBLAS
    setUserEnabledCuDNN set_default_dtype setNumThreads set_num_threads cudaDeviceSetLimit cudaDeviceSetCacheConfig
    cudaDeviceSetSharedMemConfig cudaSetDeviceFlags
""")


def find(reading: CudaReading) -> list[Spot]:
    """Calls that change what other code in the process gets, and leave it so."""
    changed = [call for call in reading.calls if call.name in _SETTERS]
    left = [call for call in changed if not _restored([each for each in changed if each.name == call.name])]
    return [Spot(call.line, f"{call.name} changes a setting for everything in the process") for call in left]


def _restored(calls: list[Call]) -> bool:
    """Return whether the last of several calls sets what a variable has kept."""
    return len(calls) > 1 and bool(calls[-1].arguments) and calls[-1].arguments[-1].type == "identifier"


RULE = Rule("backend_flags", __doc__, "backend_flags", find)
