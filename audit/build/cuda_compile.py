"""One run of torch's extension builder in a child process, with a time limit, told in the compiler's own words."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from audit.build.cuda_toolchain import Toolchain
from audit.errors import BadInput, CompileError

BUILD_LIMIT_S = 600.0
RUNG = "published"
PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_PLAIN_FLAG = re.compile(r"-[A-Za-z0-9_=+,.:-]+")
_TARGET_FLAG = re.compile(r"arch|-code\b")
_BUILDER_LINE = re.compile(r"\[\d+/\d+\]|FAILED:|ninja:|Error building|/\S+ -")
_FOLDERS = re.compile(r"(?:/[\w.+@-]+)+/")


def checked_flags(flags: Sequence[str]) -> None:
    """Raises BadInput for a flag that would not reach nvcc as written.

    torch drops its own target for any flag with "arch" in it, a folder's name included, and hands flags to a shell.
    """
    for flag in flags:
        if _TARGET_FLAG.search(flag):
            raise BadInput(f"protocol.flags: {flag}: names a target; leave it out, the GPU at hand is the target")
        if not _PLAIN_FLAG.fullmatch(flag):
            raise BadInput(f"protocol.flags: {flag}: paths, quotes and blanks are not taken; one plain flag an entry")


def compile_module(
    source: Path, flags: Sequence[str], *, module: str, arch: str, toolchain: Toolchain, folder: Path
) -> Path:
    """Builds `<folder>/<module>.so` from the unmodified source and returns it.

    Args:
        source: the `.cu` file, compiled where it is.
        flags: for nvcc, checked.
        module: the name of the Python module.
        arch: the one target, as "9.0".
        toolchain: what compiles it.
        folder: empty and nobody else's, so that no lock of a killed build can be met.

    Raises:
        CompileError: refused, or not done within `BUILD_LIMIT_S`.
    """
    request = {"name": module, "source": str(source.resolve()), "flags": list(flags), "folder": str(folder)}
    code, words = run_child("audit.build.cuda_child", request, env=environment(arch, toolchain), folder=folder)
    if code:
        raise CompileError(words or f"error: the builder ended with code {code}", rung=RUNG)
    return folder / f"{module}.so"


def run_child(module: str, request: dict[str, Any], *, env: dict[str, str], folder: Path) -> tuple[int, str]:
    """Runs `python -m module request`; its exit code and what it said, without ninja's lines and folders.

    Raises:
        CompileError: not done within `BUILD_LIMIT_S`; it and what it started are ended.
    """
    log = folder / "log"
    with log.open("w", encoding="utf-8") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", module, json.dumps(request)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=PACKAGE_ROOT,
            env=env,
            start_new_session=True,
        )
        late = _too_late(child)
    words = compiler_words(log.read_text(encoding="utf-8", errors="replace"))
    if late:
        raise CompileError(f"error: the build did not end within {BUILD_LIMIT_S:g} s\n{words}", rung=RUNG)
    return child.returncode, words


def environment(arch: str, toolchain: Toolchain) -> dict[str, str]:
    """This process's environment with the target and the programs torch looks for."""
    programs = os.pathsep.join([str(toolchain.ninja), str(toolchain.cuda_home / "bin"), os.environ.get("PATH", "")])
    told = {"PATH": programs, "CUDA_HOME": str(toolchain.cuda_home), "TORCH_CUDA_ARCH_LIST": arch, "MAX_JOBS": "2"}
    return {**os.environ, **told}


def compiler_words(log: str) -> str:
    """The log without ninja's lines, command lines and folders; all of it where nothing else is left."""
    lines = [line for line in log.splitlines() if line.strip()]
    words = [line for line in lines if not _BUILDER_LINE.match(line)]
    return _FOLDERS.sub("", "\n".join(words or lines))


def _too_late(child: subprocess.Popen[bytes]) -> bool:
    """Waits for the child, then kills what is left of its process group; tells whether it was too slow."""
    try:
        child.wait(BUILD_LIMIT_S)
        late = False
    except subprocess.TimeoutExpired:
        late = True
    finally:
        with suppress(ProcessLookupError):  # nobody is left of it
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    return late
