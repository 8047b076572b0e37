"""Run torch's extension builder in a child process, inside the sandbox, and return the compiler's own messages.

The child is `python -m audit.build.cuda.compile REQUEST`, a JSON with `name`, `source`, `flags`, `includes`, `folder`.
Its exit code is 0 only if the module builds and loads.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.build.cuda.toolchain import CudaToolchain
from audit.model.errors import BadInput, CompileError
from audit.sandbox import command

BUILD_LIMIT_S = 600.0
HEADER_SET = "published"
PYTHON = sys.executable
_PLAIN_FLAG = re.compile(r"-[A-Za-z0-9_=+,.:-]+")
_TARGET_FLAG = re.compile(r"arch|-code\b")
_BUILDER_LINE = re.compile(r"\[\d+/\d+\]|FAILED:|ninja:|Error building|/\S+ -")
_FOLDERS = re.compile(r"(?:/[\w.+@-]+)+/")
_INCLUDE = "-I"


def checked_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Return the flags. Raises BadInput for one that would not reach nvcc as written. torch drops its own target for
    any flag with "arch" in it, and passes flags to a shell. `claims.load` checks the folders of `-I`."""
    for flag in flags:
        if flag.startswith(_INCLUDE):
            continue
        if _TARGET_FLAG.search(flag):
            raise BadInput(f"protocol.flags: {flag}: names a target; leave it out, the GPU at hand is the target")
        if not _PLAIN_FLAG.fullmatch(flag):
            raise BadInput(f"protocol.flags: {flag}: paths, quotes and blanks are not taken; one plain flag an entry")
    return tuple(flags)


def compile_module(
    source: Path, flags: Sequence[str], *, module: str, arch: str, toolchain: CudaToolchain, folder: Path
) -> Path:
    """Build `<folder>/<module>.so` from the unmodified source and return it.

    Args:
        source: the `.cu` file; its folder has all files of the claim that it reads.
        flags: nvcc's, checked; folders of `-I` are within the source's.
        arch: the one target, as "9.0a".
        folder: an empty one, without locks of killed builds.

    Raises:
        CompileError: refused, or not done within `BUILD_LIMIT_S`.
    """
    folders = [str(source.resolve().parent / flag[2:]) for flag in flags if flag.startswith(_INCLUDE)]
    plain = [flag for flag in flags if not flag.startswith(_INCLUDE)]
    request = {"name": module, "source": str(source.resolve()), "flags": plain, "includes": folders}
    request["folder"] = str(folder)
    code, words = run_child("audit.build.cuda.compile", request, env=environment(arch, toolchain), folder=folder)
    if code:
        raise CompileError(words or f"error: the builder ended with code {code}", header_set=HEADER_SET)
    return folder / f"{module}.so"


def run_child(module: str, request: dict[str, Any], *, env: dict[str, str], folder: Path) -> tuple[int, str]:
    """Run `python -m module request`; return its exit code and its output, without ninja's lines and folders. Raises
    CompileError: not done within `BUILD_LIMIT_S`, or over a bound."""
    program = [PYTHON, "-m", module, json.dumps(request)]
    claim = Path(request["source"]).parent
    done = command.run(program, folder=folder, limit_s=BUILD_LIMIT_S, reads=[claim], environment=env)
    words = compiler_words(done.out + done.err)
    if done.stopped:
        raise CompileError(f"error: the build {done.stopped.removeprefix('it ')}\n{words}", header_set=HEADER_SET)
    return done.code, words


def environment(arch: str, toolchain: CudaToolchain) -> dict[str, str]:
    """Return this process's environment with the target and the programs that torch looks for."""
    programs = os.pathsep.join([str(toolchain.ninja), str(toolchain.cuda_home / "bin"), os.environ.get("PATH", "")])
    values = {"PATH": programs, "CUDA_HOME": str(toolchain.cuda_home), "TORCH_CUDA_ARCH_LIST": arch, "MAX_JOBS": "2"}
    return {**os.environ, **values}


def compiler_words(log: str) -> str:
    """Return the log without ninja's lines, command lines and folders; all of it if no other line is left."""
    lines = [line for line in log.splitlines() if line.strip()]
    words = [line for line in lines if not _BUILDER_LINE.match(line)]
    return _FOLDERS.sub("", "\n".join(words or lines))


def main() -> int:
    """In the child: build `<folder>/<name>.so` and load it, which reveals a missing symbol."""
    from torch.utils.cpp_extension import load  # imported by the child alone

    request = json.loads(sys.argv[1])
    try:
        load(
            request["name"],
            [request["source"]],
            extra_cuda_cflags=request["flags"],
            extra_include_paths=request["includes"],
            build_directory=request["folder"],
            verbose=False,
        )
    except (RuntimeError, ImportError) as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
