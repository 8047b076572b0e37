"""A `.cu` source to a Python module for a GPU, compiled as published, in a child process, kept by content hash."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from audit.build.cuda_toolchain import Toolchain
from audit.build.gpu import Gpu
from audit.errors import BadInput, CompileError

BUILD_LIMIT_S = 600.0
RUNG = "published"
PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_PLAIN_FLAG = re.compile(r"-[A-Za-z0-9_=+,.:-]+")
_TARGET_FLAG = re.compile(r"arch|-code\b|--gpu-code")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_FOLDERS = re.compile(r"(?:/[\w.+@-]+)+/")


@dataclass(frozen=True)
class CudaBuild:
    """A compiled module: `library` is `<module>.so`, `note` what could not be checked about it."""

    library: Path
    module: str
    flags: tuple[str, ...]
    compiler: str
    seconds: float
    from_cache: bool
    note: str


def build(source: Path, flags: tuple[str, ...], *, gpu: Gpu, toolchain: Toolchain, cache: Path) -> CudaBuild:
    """Compiles the unmodified source for that GPU, or takes it from the cache.

    Args:
        source: the `.cu` file; headers it includes in quotes are sought beside it.
        flags: for nvcc, in order, as published.
        gpu: the only GPU the code is for.
        toolchain: what compiles it.
        cache: folder of finished builds; may be shared by audits that run at once.

    Raises:
        BadInput: a flag that names a target or a path.
        CompileError: refused, not for this GPU, or not done within `BUILD_LIMIT_S`.
    """
    checked_flags(flags)
    key = build_key(source, flags, gpu=gpu, toolchain=toolchain)
    module, place = f"audited_{key[:20]}", cache / "cuda" / key
    told = (*flags, f"TORCH_CUDA_ARCH_LIST={gpu.arch}")
    started = time.monotonic()
    kept = (place / "built.json").exists()
    if not kept:
        _compile(source, flags, module=module, place=place, gpu=gpu, toolchain=toolchain)
    note = json.loads((place / "built.json").read_text(encoding="utf-8"))["note"]
    seconds = time.monotonic() - started
    return CudaBuild(place / f"{module}.so", module, told, toolchain.nvcc, seconds, kept, note)


def checked_flags(flags: tuple[str, ...]) -> None:
    """Raises BadInput for a flag that would not reach nvcc as written.

    torch drops its own target for any flag with "arch" in it, a folder's name included, and hands flags to a shell.
    """
    for flag in flags:
        if _TARGET_FLAG.search(flag):
            raise BadInput(f"protocol.flags: {flag}: names a target; the audit builds for the GPU at hand, leave it out")
        if not _PLAIN_FLAG.fullmatch(flag):
            raise BadInput(f"protocol.flags: {flag}: paths, quotes and blanks are not taken; one plain flag an entry")


def build_key(source: Path, flags: tuple[str, ...], *, gpu: Gpu, toolchain: Toolchain) -> str:
    """A hash of everything the module depends on, in hexadecimal."""
    digest = hashlib.sha256()
    for path in _files_read(source):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest.update(json.dumps([flags, gpu.arch, toolchain.torch, toolchain.torch_cuda, toolchain.nvcc, python]).encode())
    return digest.hexdigest()


def compiler_words(log: str) -> str:
    """The log without ninja's lines, command lines and folders; all of it where nothing else is left."""
    lines = [line for line in log.splitlines() if line.strip()]
    words = [line for line in lines if not re.match(r"\[\d+/\d+\]|FAILED:|ninja:|Error building|/\S+ -", line)]
    return _FOLDERS.sub("", "\n".join(words or lines))


def _files_read(source: Path) -> list[Path]:
    """The source and, through any depth, the headers beside it that it includes in quotes."""
    files = [source]
    for path in files:
        names = _INCLUDE.findall(path.read_text(encoding="utf-8", errors="replace"))
        beside = [path.parent / name for name in names]
        files += [header for header in beside if header.is_file() and header not in files]
    return files


def _compile(
    source: Path, flags: tuple[str, ...], *, module: str, place: Path, gpu: Gpu, toolchain: Toolchain
) -> None:
    """Builds in a private folder, so that no lock of a killed build can be met, and moves the result in one step."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=place.parent) as private:
        folder = Path(private) / "torch"
        folder.mkdir()
        request = {"name": module, "source": str(source.resolve()), "flags": list(flags), "folder": str(folder)}
        _run(request, folder / "log", environment=_environment(gpu, toolchain))
        note = _verify_target(folder / f"{module}.so", gpu=gpu, toolchain=toolchain)
        done = Path(private) / "done"
        done.mkdir()
        (folder / f"{module}.so").rename(done / f"{module}.so")
        (done / "built.json").write_text(json.dumps({"source": source.name, "flags": flags, "note": note}) + "\n")
        _move(done, place)


def _move(done: Path, place: Path) -> None:
    try:
        done.rename(place)
    except OSError:  # another audit finished the same build first; both are the same
        if not (place / "built.json").exists():
            shutil.rmtree(place)
            done.rename(place)


def _environment(gpu: Gpu, toolchain: Toolchain) -> dict[str, str]:
    programs = os.pathsep.join([str(toolchain.ninja), str(toolchain.cuda_home / "bin"), os.environ.get("PATH", "")])
    return {
        **os.environ,
        "PATH": programs,
        "CUDA_HOME": str(toolchain.cuda_home),
        "TORCH_CUDA_ARCH_LIST": gpu.arch,
        "MAX_JOBS": "2",
    }


def _run(request: dict[str, object], log: Path, *, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "audit.build.cuda_child", json.dumps(request)]
    with log.open("w", encoding="utf-8") as out:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=PACKAGE_ROOT,
            env=environment,
            start_new_session=True,
        )
        late = _wait(child)
    words = compiler_words(log.read_text(encoding="utf-8", errors="replace"))
    if late:
        raise CompileError(f"error: the build did not end within {BUILD_LIMIT_S:g} s\n{words}", rung=RUNG)
    if child.returncode:
        raise CompileError(words or f"error: the builder ended with code {child.returncode}", rung=RUNG)


def _wait(child: subprocess.Popen[bytes]) -> bool:
    """Waits for the child, kills its whole process group, and tells whether it was too slow."""
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


def _verify_target(library: Path, *, gpu: Gpu, toolchain: Toolchain) -> str:
    """Empty if the library holds code for that GPU; a note where nothing can tell; else raises CompileError."""
    if toolchain.cuobjdump is None:
        return "target not verified: the toolkit has no cuobjdump"
    listed = subprocess.run(
        [str(toolchain.cuobjdump), "--list-elf", str(library)], capture_output=True, text=True, check=False, timeout=60
    )
    return target_note(listed.stdout, gpu.compute_capability)


def target_note(listing: str, compute_capability: int) -> str:
    """What `cuobjdump --list-elf` says of the target; raises CompileError if it is another one."""
    built = sorted({int(number) for number in re.findall(r"\.sm_(\d+)[a-z]?\.", listing)})
    if not built:
        return "the library holds no device code"
    if compute_capability not in built:
        names = ", ".join(f"sm_{number}" for number in built)
        raise CompileError(f"error: built for {names}, not for sm_{compute_capability}", rung=RUNG)
    return ""
