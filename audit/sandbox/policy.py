"""The sandbox of one process: a policy, enforced before any claimed code is loaded.

Files, devices and variables that every sandboxed process may see are none of the user's own.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from audit.sandbox import filters, landlock, limits, namespaces, native
from audit.sandbox.limits import Bounds

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
"""The folder that an installer leaves next to a package."""
_PACKAGES = ("torch", "numpy", "triton")


def system() -> list[tuple[str, int]]:
    """Return the rules of `landlock.restrict` for every session and compiler of this process."""
    readable = [*_SYSTEM, *(f"/etc/{name}" for name in _SETTINGS), *_READ_DEVICES, *_pythons(), str(KIT)]
    readable += _named_by_the_user()
    names = (str(KIT.parent), landlock.READ_DIR)  # Python finds no package in a folder it cannot list
    return [*read_only(readable), names, *((path, landlock.DEVICE | landlock.READ) for path in devices())]


def devices(folder: Path = Path("/dev")) -> list[str]:
    """Return the devices that a sandboxed process may use: GPUs, and `null`, `zero` and `full`."""
    return [str(path) for pattern in _DEVICES for path in folder.glob(pattern)]


def proc_rule() -> tuple[str, int]:
    """Return the rule for `/proc`, where a GPU's driver writes the names of its threads to create a context.

    It is for this process alone unless the kernel's settings in `/proc` are read-only.
    """
    path = "/proc" if settings_are_closed() else "/proc/self"
    return path, landlock.READ | landlock.WRITE_FILE | landlock.TRUNCATE


def settings_are_closed() -> bool:
    """Return whether the kernel's settings are mounted read-only; else no process that a session starts gets a GPU."""
    return bool(os.statvfs("/proc/sys").f_flag & os.ST_RDONLY)


def read_only(paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Return rules that allow to read and run, each path once."""
    return ((path, landlock.READ) for path in dict.fromkeys(paths))


def _named_by_the_user() -> list[str]:
    """Return the folders of toolkit and libraries that the environment names, but neither the home nor the root."""
    toolkits = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ]
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    named = map(Path, filter(None, [*toolkits, *libraries]))
    return [str(path) for path in named if path.is_absolute() and path not in (Path("/"), Path("~").expanduser())]


def _holds_packages(path: Path) -> bool:
    return path.name in _LIBRARIES or (path.is_absolute() and next(path.glob(_INSTALLED), None) is not None)


@cache
def _pythons() -> tuple[str, ...]:
    """Return the folders of Python and of installed packages, but no folder with the user's own files."""
    from importlib.util import find_spec

    found = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.realpath(sys.executable)]
    found += [os.path.realpath(path) for path in sys.path if _holds_packages(Path(path))]
    for name in _PACKAGES:
        spec = find_spec(name)
        found += [*spec.submodule_search_locations] if spec and spec.submodule_search_locations else []
    return tuple(found)


_NAMES = {
    native.WITHOUT, "AUDIT_CACHE", "CC", "CFLAGS", "CPATH", "CPLUS_INCLUDE_PATH", "CXX", "CXXFLAGS", "C_INCLUDE_PATH",
    "GLIBC_TUNABLES", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LD_PRELOAD", "LIBRARY_PATH", "MAX_JOBS", "PATH",
    "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONHOME", "PYTHONPATH", "PYTHONUNBUFFERED", "TZ", "VIRTUAL_ENV",
}  # fmt: skip
_FAMILIES = (
    "CONDA_", "CUBLAS", "CUDA", "CUDNN_", "GOMP_", "KMP_", "LC_", "MALLOC_", "MKL_", "NPY_", "NUMEXPR_", "NVCC_",
    "NVIDIA_", "NVPL_", "OMP_", "OPENBLAS_", "PYTORCH_", "TORCH", "TRITON_",
)  # fmt: skip
_SECRET = re.compile(r"AUTH|CREDENTIAL|KEY|PASS|SECRET|TOKEN|COOKIE")
_OF_A_USER = ("CUDA_CACHE_PATH", "TORCHINDUCTOR_CACHE_DIR", "TORCH_HOME", "TRITON_CACHE_DIR", "TRITON_HOME")
"""Folders that the user's other programs share; a sandbox names its own."""


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return those of the user's variables that compilers and kernels need, without home and temporary folder."""
    known = (name for name in environment if name in _NAMES or name.startswith(_FAMILIES))
    return {name: environment[name] for name in known if not _SECRET.search(name) and name not in _OF_A_USER}


def home_variables(home: str) -> dict[str, str]:
    """Return the variables that name a user's folders, all inside `home`."""
    inside = {"XDG_CACHE_HOME": ".cache", "XDG_CONFIG_HOME": ".config", "CUDA_CACHE_PATH": ".nv/ComputeCache"}
    own = {name: f"{home}/{folder}" for name, folder in inside.items()}
    return {"HOME": home, "TRITON_HOME": home, "TMPDIR": home, "TEMP": home, "TMP": home, **own}


_HOME = "home"


class Policy(NamedTuple):
    """The parts of the machine that one session or compiler may use.

    Attributes:
        rules: files that every sandboxed process may see, see `system`.
        limit: its resources.
        reads: files and folders it may read.
        writes: folders for its results: regular files only.
        caches: folders of compilers: links and renames too.
        network: whether it may open sockets of every family, in a network without another machine.
        processor_s: seconds of processor time for one process; None for no limit.
        home: a folder for its temporary files, where it gets no file system of its own.
    """

    rules: Sequence[tuple[str, int]]
    limit: Bounds
    reads: Sequence[str] = ()
    writes: Sequence[str] = ()
    caches: Sequence[str] = ()
    network: bool = False
    processor_s: float | None = None
    home: str | None = None


def prepare() -> None:
    """Fill the caches that every process forked from this one uses."""
    system()
    limits.of_this_machine()
    with suppress(KeyError):  # a machine with unknown system call numbers
        filters.program(native.MACHINE, metadata=True)


def enforce(policy: Policy) -> str:
    """Enforce the policy on this process, which must have one thread.

    A mechanism that this machine does not offer is left out; `attempts` finds out which hold.

    Returns:
        The folder of its temporary files, which is its working directory now.
    """
    native.die_with_parent(signal.SIGKILL)
    if native.switched_off("everything"):
        return _enter_home(policy.home)
    named = [*policy.writes, *policy.caches, *policy.reads, *(path for path, _ in policy.rules)]
    scratch = namespaces.mount_shared_memory(policy.limit.scratch, files=policy.limit.files, kept=named)
    shown = [namespaces.CACHES] if scratch and policy.caches and namespaces.mount_caches(policy.caches[0]) else []
    guarded = scratch and namespaces.mount_read_only([*policy.writes, *policy.caches, *shown])
    networked = policy.network and _entered_network()
    home = _enter_home(namespaces.SHARED_MEMORY if scratch else policy.home)
    limits.set_limits(policy.limit, processor_s=policy.processor_s)
    with suppress(OSError, KeyError):
        limits.drop_capabilities()
    private = [home, *([namespaces.SHARED_MEMORY] if scratch else []), *policy.caches]
    rules = [
        *policy.rules,
        proc_rule(),
        *read_only(policy.reads),
        *((path, landlock.RESULTS) for path in policy.writes),
        *((path, landlock.SCRATCH) for path in private),
    ]
    if landlock.abi() >= landlock.LEAST_ABI:
        with suppress(OSError):
            landlock.restrict(rules, tcp=networked)
    with suppress(OSError, KeyError):
        filters.install(filters.program(native.MACHINE, network=networked, metadata=guarded))
    return home


def _enter_home(parent: str | None) -> str:
    home = Path(parent or _temporary()) / _HOME
    home.mkdir(mode=0o700, exist_ok=True)
    os.environ.update(home_variables(str(home)))
    if "tempfile" in sys.modules:  # cached from before the sandbox
        vars(sys.modules["tempfile"])["tempdir"] = None
    os.chdir(home)
    return str(home)


def _temporary() -> str:
    import tempfile

    return tempfile.mkdtemp(prefix="audit-")


def _entered_network() -> bool:
    try:
        namespaces.enter_network()
    except OSError:
        return False
    return True
