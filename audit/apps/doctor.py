"""What this machine can and cannot answer, and what to install for more."""

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
from typing import Annotated

from audit.apps.commands.declare import Arg
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


def doctor(*, self_test: Annotated[bool, Arg("also run every feature of the emulated device")] = False) -> int:
    """Prints a line a check, and one a feature when asked."""
    from audit.build.emulated.selftest import selftest

    for one in examine():
        terminal.say(f"{one.mark} {one.name:<16} {one.found}" + (f" -> {one.advice}" if one.advice else ""))
    if self_test:
        for feature in selftest(progress=lambda text: terminal.say(f"   {text}")):
            terminal.say(f"{'ok' if feature.passed else '!!'} emulated: {feature.name:<24} {feature.detail}")
    return 0


def examine() -> list[Check]:
    """Every check, in the order a reader wants them."""
    return [
        _python(),
        _torch(),
        _compiler(),
        _headers(),
        _parser(),
        _walls(),
        _nvcc(),
        _gpu(),
        _gpu_audit(),
        _sanitizer(),
    ]


def _python() -> Check:
    good = (3, 11) <= sys.version_info[:2] < (3, 14)
    return Check("python", "ok" if good else "!!", platform.python_version(), "" if good else "use Python 3.11 to 3.13")


def _torch() -> Check:
    version = _version("torch")
    if version is None:
        return Check("torch", "!!", "absent", "pip install torch")
    numbers = tuple(int(part) for part in version.split(".")[:2])
    good = numbers >= LEAST_TORCH
    return Check("torch", "ok" if good else "!!", version, "" if good else "torch 2.9 or newer is needed")


def _compiler() -> Check:
    line = _first_line([toolchain.compiler_name(), "--version"])
    needed = f"g++ {toolchain.LEAST_GXX} or newer"
    if line is None:
        return Check("g++", "!!", "absent", f"install {needed}: without it only source review and lint answer")
    found = re.search(r"(\d+)\.\d+", line)
    good = found is not None and int(found[1]) >= toolchain.LEAST_GXX
    return Check("g++", "ok" if good else "!!", line, "" if good else f"{needed} is needed")


def _headers() -> Check:
    there = (Path(sysconfig.get_path("include")) / "Python.h").exists()
    advice = "" if there else "install python3-dev to emulate extensions that use pybind11 types themselves"
    return Check("Python.h", "ok" if there else "--", "present" if there else "absent", advice)


def _parser() -> Check:
    version = _version("tree-sitter-cuda")
    advice = "" if version else "pip install tree-sitter tree-sitter-cuda"
    return Check("CUDA parser", "ok" if version else "!!", version or "absent", advice)


def _walls() -> Check:
    """The walls around claimed code, each tried; docs/containment.md says what happens without one."""
    walls = check.around_commands()
    missing = [wall for wall in walls if not wall.up]
    found = f"{len(walls) - len(missing)} of {len(walls)} walls around claimed code stand"
    advice = "; ".join(f"{wall.name} missing: {wall.why}" for wall in missing)
    return Check("containment", "--" if missing else "ok", found, advice)


def _nvcc() -> Check:
    line = _first_line(["nvcc", "--version"])
    return Check("nvcc", "ok" if line else "--", line or "absent", "" if line else "needed only to build for a GPU")


def _gpu() -> Check:
    line = _first_line(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    advice = "" if line else "no times here: reports say NOT MEASURED; correctness is answered on the emulated device"
    return Check("GPU", "ok" if line else "--", line or "none", advice)


def _gpu_audit() -> Check:
    """Whether all that a build for the GPU needs goes together: driver, torch, nvcc, ninja."""
    reason = cuda_toolchain.missing()
    if reason is not None:
        return Check("audit on a GPU", "--", "not here", reason.removeprefix("--device cuda: "))
    triton = _version("triton")
    advice = "" if triton else "pip install triton: without it nothing is timed"
    return Check("audit on a GPU", "ok" if triton else "--", "driver, torch, nvcc and ninja go together", advice)


def _sanitizer() -> Check:
    line = _first_line(["compute-sanitizer", "--version"])
    advice = "" if line else "comes with the CUDA toolkit; without it only the emulated device checks them"
    return Check("access checker", "ok" if line else "--", line or "absent", advice)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def output(command: list[str]) -> str | None:
    """What a tool prints, without blanks around it; None where it is absent, fails or prints nothing."""
    if shutil.which(command[0]) is None:
        return None
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    return (result.stdout.strip() or None) if result.returncode == 0 else None


def _first_line(command: list[str]) -> str | None:
    """The first line a tool prints, or None as in `output`."""
    told = output(command)
    return None if told is None else told.splitlines()[0]
