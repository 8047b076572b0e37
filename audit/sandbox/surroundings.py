"""What of the environment reaches claimed code: an allow list of variables, without anybody's tokens or home."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAMES = {
    "AUDIT_CACHE", "CC", "CFLAGS", "CPATH", "CPLUS_INCLUDE_PATH", "CXX", "CXXFLAGS", "C_INCLUDE_PATH", "LANG",
    "LANGUAGE", "LD_LIBRARY_PATH", "LD_PRELOAD", "LIBRARY_PATH", "MAX_JOBS", "PATH", "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED", "PYTHONHOME", "PYTHONPATH", "PYTHONUNBUFFERED", "TZ", "VIRTUAL_ENV",
}  # fmt: skip
_FAMILIES = (
    "CONDA_", "CUBLAS", "CUDA", "CUDNN_", "GOMP_", "KMP_", "LC_", "MALLOC_", "MKL_", "NPY_", "NUMEXPR_", "NVCC_",
    "NVIDIA_", "NVPL_", "OMP_", "OPENBLAS_", "PYTORCH_", "TORCH", "TRITON_",
)  # fmt: skip
_SECRET = re.compile(r"AUTH|CREDENTIAL|KEY|PASS|SECRET|TOKEN|COOKIE")
_OF_A_USER = ("CUDA_CACHE_PATH", "TORCHINDUCTOR_CACHE_DIR", "TORCH_HOME", "TRITON_CACHE_DIR", "TRITON_HOME")
"""Folders that other programs of the user share; whoever contains something names its own."""


def scrubbed(environment: Mapping[str, str], *, home: str | None = None) -> dict[str, str]:
    """The variables compilers and kernels need, and nothing else.

    Args:
        environment: of the user.
        home: the folder that stands for the user's and for temporary files; None leaves these open.
    """
    kept = {name: value for name, value in environment.items() if _kept(name)}
    return kept if home is None else kept | homes(home)


def homes(home: str) -> dict[str, str]:
    """The variables that name a user's folders, all naming that one."""
    inside = {"XDG_CACHE_HOME": ".cache", "XDG_CONFIG_HOME": ".config", "CUDA_CACHE_PATH": ".nv/ComputeCache"}
    own = {name: f"{home}/{folder}" for name, folder in inside.items()}
    return {"HOME": home, "TMPDIR": home, "TEMP": home, "TMP": home, **own}


def _kept(name: str) -> bool:
    known = name in _NAMES or name.startswith(_FAMILIES)
    return known and not _SECRET.search(name) and name not in _OF_A_USER
