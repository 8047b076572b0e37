"""Which parts of the file system everything contained may see: programs, libraries and devices, nobody's own files."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from audit.sandbox import landlock

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
"""What an installer leaves beside a package, wherever it put it."""
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
    """Python's own folders and those of installed packages; not the folders of anybody's work."""
    found = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.realpath(sys.executable)]
    found += [os.path.realpath(path) for path in sys.path if _holds_packages(Path(path))]
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        found += [*spec.submodule_search_locations] if spec and spec.submodule_search_locations else []
    return tuple(found)
