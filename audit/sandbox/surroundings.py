"""The files, devices and variables that every sandboxed process may see: none of a user's own."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from audit.sandbox import landlock, native

KIT = Path(__file__).resolve().parents[1]
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/sys", "/nix/store", "/gnu/store")
_SETTINGS = (
    "alternatives", "conda", "group", "host.conf", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias",
    "localtime", "mime.types", "nsswitch.conf", "nvidia", "nv_tegra_release", "OpenCL", "os-release", "passwd",
    "protocols", "python3", "services", "timezone",
)  # fmt: skip
_READ_DEVICES = ("/dev/random", "/dev/urandom")
_DEVICES = ("null", "zero", "full", "nvidia*", "nvhost*", "nvmap", "nvgpu*", "dxg")
"""GPUs on servers, on Tegra boards (nvhost, nvmap, nvgpu) and under WSL (dxg); other names with nv are disks."""
_LIBRARIES = ("site-packages", "dist-packages")
_INSTALLED = "*.dist-info"
"""The folder that an installer leaves beside a package, wherever it put it."""
_PACKAGES = ("torch", "numpy", "triton")


def system() -> list[tuple[str, int]]:
    """The rules of `landlock.restrict` that hold for every session and compiler of this process."""
    readable = [*_SYSTEM, *(f"/etc/{name}" for name in _SETTINGS), *_READ_DEVICES, *_pythons(), str(KIT)]
    readable += _named_by_the_user()
    names = (str(KIT.parent), landlock.READ_DIR)  # no contents; Python finds no package in a folder it cannot list
    return [*read_only(readable), names, *((path, landlock.DEVICE | landlock.READ) for path in devices())]


def devices(folder: Path = Path("/dev")) -> list[str]:
    """The devices that everything contained may use: GPUs, and what reads as nothing."""
    return [str(path) for pattern in _DEVICES for path in folder.glob(pattern)]


def of_processes() -> tuple[str, int]:
    """The rule for `/proc`: a GPU's driver writes the names of its threads there, and no context starts without that.

    Every process may have that where the kernel's own settings in it are closed, else only the one that asks.
    """
    place = "/proc" if settings_are_closed() else "/proc/self"
    return place, landlock.READ | landlock.WRITE_FILE | landlock.TRUNCATE


def settings_are_closed() -> bool:
    """Whether the kernel's own settings are for reading alone; else no process that a session starts gets a GPU."""
    return bool(os.statvfs("/proc/sys").f_flag & os.ST_RDONLY)


def read_only(paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Rules that allow to read and run, each path once."""
    return ((path, landlock.READ) for path in dict.fromkeys(paths))


def _named_by_the_user() -> list[str]:
    """Folders of the toolkit and of libraries that the environment names; neither a home nor the root."""
    homes = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ]
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    named = map(Path, filter(None, [*homes, *libraries]))
    return [str(path) for path in named if path.is_absolute() and path not in (Path("/"), Path("~").expanduser())]


def _holds_packages(path: Path) -> bool:
    return path.name in _LIBRARIES or (path.is_absolute() and next(path.glob(_INSTALLED), None) is not None)


@cache
def _pythons() -> tuple[str, ...]:
    """Return Python's own folders and those of installed packages, but no folders of a user's work."""
    found = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.realpath(sys.executable)]
    found += [os.path.realpath(path) for path in sys.path if _holds_packages(Path(path))]
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        found += [*spec.submodule_search_locations] if spec and spec.submodule_search_locations else []
    return tuple(found)


_NAMES = {
    native.WITHOUT, "AUDIT_CACHE", "CC", "CFLAGS", "CPATH", "CPLUS_INCLUDE_PATH", "CXX", "CXXFLAGS", "C_INCLUDE_PATH",
    "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LD_PRELOAD", "LIBRARY_PATH", "MAX_JOBS", "PATH", "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED", "PYTHONHOME", "PYTHONPATH", "PYTHONUNBUFFERED", "TZ", "VIRTUAL_ENV",
}  # fmt: skip
_FAMILIES = (
    "CONDA_", "CUBLAS", "CUDA", "CUDNN_", "GOMP_", "KMP_", "LC_", "MALLOC_", "MKL_", "NPY_", "NUMEXPR_", "NVCC_",
    "NVIDIA_", "NVPL_", "OMP_", "OPENBLAS_", "PYTORCH_", "TORCH", "TRITON_",
)  # fmt: skip
_SECRET = re.compile(r"AUTH|CREDENTIAL|KEY|PASS|SECRET|TOKEN|COOKIE")
_OF_A_USER = ("CUDA_CACHE_PATH", "TORCHINDUCTOR_CACHE_DIR", "TORCH_HOME", "TRITON_CACHE_DIR", "TRITON_HOME")
"""Folders that other programs of the user share; a sandbox names its own."""


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
