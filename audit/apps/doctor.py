"""`audit doctor`: the questions this machine can answer, and packages to install for more."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from audit.build.cuda import toolchain as cuda_toolchain
from audit.build.emulated import toolchain
from audit.report import terminal
from audit.sandbox import check

LEAST_TORCH = (2, 9)


@dataclass(frozen=True)
class Check:
    """One thing looked at: `mark` is `ok`, `--` (absent and not needed for an audit) or `!!` (an audit needs it)."""

    name: str
    mark: str
    found: str
    advice: str = ""


def doctor() -> int:
    """Prints a line a check."""
    for one in examine():
        terminal.say(f"{one.mark} {one.name:<16} {one.found}" + (f" -> {one.advice}" if one.advice else ""))
    return 0


def examine() -> list[Check]:
    """Every check, in the order a reader wants them."""
    python_h = (Path(sysconfig.get_path("include")) / "Python.h").exists()
    gpu = first_line("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    return [
        _python(),
        _torch(),
        _compiler(),
        optional("Python.h", "present" if python_h else None,
                 "install python3-dev to emulate extensions that use pybind11 types themselves"),
        needed("CUDA parser", _version("tree-sitter-cuda"), "pip install tree-sitter tree-sitter-cuda"),
        _sandbox(),
        optional("nvcc", first_line("nvcc", "--version"), "needed only to build for a GPU"),
        optional("GPU", gpu, "no times here: reports say NOT MEASURED; correctness is answered on the emulated device",
                 absent="none"),
        _gpu_audit(),
        optional("access checker", first_line("compute-sanitizer", "--version"),
                 "comes with the CUDA toolkit; without it only the emulated device checks them"),
    ]  # fmt: skip


def optional(name: str, found: str | None, advice: str, *, absent: str = "absent") -> Check:
    """A check of something that an audit can do without; the advice is for a machine that lacks it."""
    return Check(name, "ok", found) if found else Check(name, "--", absent, advice)


def needed(name: str, found: str | None, advice: str) -> Check:
    """A check of something that an audit needs."""
    return Check(name, "ok", found) if found else Check(name, "!!", "absent", advice)


def _python() -> Check:
    good = (3, 11) <= sys.version_info[:2] < (3, 14)
    return Check("python", "ok" if good else "!!", platform.python_version(), "" if good else "use Python 3.11 to 3.13")


def _torch() -> Check:
    version = _version("torch")
    if version is None or tuple(int(part) for part in version.split(".")[:2]) >= LEAST_TORCH:
        return needed("torch", version, "pip install torch")
    return Check("torch", "!!", version, "torch 2.9 or newer is needed")


def _compiler() -> Check:
    line = first_line(toolchain.compiler_name(), "--version")
    least = f"g++ {toolchain.LEAST_GXX} or newer"
    found = re.search(r"(\d+)\.\d+", line or "")
    if line is None or (found is not None and int(found[1]) >= toolchain.LEAST_GXX):
        return needed("g++", line, f"install {least}: without it only source review and lint answer")
    return Check("g++", "!!", line, f"{least} is needed")


def _sandbox() -> Check:
    """The limits around claimed code, each tried; docs/containment.md says what happens without one."""
    limits = check.around_commands()
    missing = [limit for limit in limits if not limit.up]
    found = f"{len(limits) - len(missing)} of {len(limits)} sandbox limits around claimed code hold"
    advice = "; ".join(f"{limit.name} missing: {limit.why}" for limit in missing)
    return Check("containment", "--" if missing else "ok", found, advice)


def _gpu_audit() -> Check:
    """All that a build for the GPU needs, and whether it goes together: driver, torch, nvcc, ninja."""
    reason = cuda_toolchain.missing()
    if reason is not None:
        return Check("audit on a GPU", "--", "not here", reason.removeprefix("--device cuda: "))
    advice = "" if _version("triton") else "pip install triton: without it do_bench and torch.compile give no times"
    return Check("audit on a GPU", "--" if advice else "ok", "driver, torch, nvcc and ninja go together", advice)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def first_line(*command: str) -> str | None:
    """The first line a tool prints; None where it is absent, fails or prints nothing."""
    if shutil.which(command[0]) is None:
        return None
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    return next(iter(result.stdout.strip().splitlines()), None) if result.returncode == 0 else None
