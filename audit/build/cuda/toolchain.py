"""Find and check the tools of a build for a GPU before the first compilation: nvcc, torch for CUDA, ninja.

compute-sanitizer is tried as well: on many rented machines it cannot attach to a process.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from audit.build.cuda import gpu as gpus
from audit.build.cuda.gpu import Gpu
from audit.model.errors import BadInput
from audit.sandbox import command

DEFAULT_CUDA_HOME = Path("/usr/local/cuda")
Release = tuple[int, int]


@dataclass(frozen=True)
class CudaToolchain:
    """Folders and versions; `cuda_home` has bin/nvcc, `ninja` is the folder of the ninja program."""

    cuda_home: Path
    nvcc: str
    torch: str
    torch_cuda: Release
    ninja: Path


def find(gpu: Gpu) -> CudaToolchain:
    """Return the toolchain of this Python and machine. Raises BadInput: what is missing or does not fit, by name."""
    version, torch_cuda = torch_release()
    if torch_cuda is None:
        raise BadInput(f"--device cuda: torch {version} is built without CUDA; install the CUDA build of torch")
    if gpu.driver_cuda and gpu.driver_cuda[0] < torch_cuda[0]:
        raise BadInput(
            f"--device cuda: driver {gpu.driver} runs CUDA up to {_dotted(gpu.driver_cuda)}, torch {version} needs "
            f"{_dotted(torch_cuda)}; update the driver or install torch for CUDA {gpu.driver_cuda[0]}"
        )
    home = cuda_home()
    if home is None:
        raise BadInput("--device cuda: nvcc is missing; install the CUDA toolkit or set CUDA_HOME")
    release, full = parse_nvcc(_output([str(home / "bin" / "nvcc"), "--version"]))
    if release[0] != torch_cuda[0]:
        raise BadInput(
            f"--device cuda: nvcc is of CUDA {_dotted(release)} and torch {version} of {_dotted(torch_cuda)}; "
            f"install a CUDA {torch_cuda[0]} toolkit and set CUDA_HOME"
        )
    return CudaToolchain(home, f"nvcc {full}", version, torch_cuda, ninja_folder())


def missing() -> str | None:
    """Return why this machine cannot audit on a GPU, and what to do; None if it can."""
    try:
        find(gpus.find())
    except BadInput as error:
        return str(error)
    return None


def torch_release() -> tuple[str, Release | None]:
    """Return the version of torch and its CUDA release, read from its files without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise BadInput("--device cuda: torch is missing; pip install torch")
    text = (Path(spec.origin).parent / "version.py").read_text(encoding="utf-8")
    found = re.search(r"^cuda\b[^=\n]*=\s*['\"](\d+)\.(\d+)", text, re.MULTILINE)
    return metadata.version("torch"), (int(found[1]), int(found[2])) if found else None


def cuda_home() -> Path | None:
    """Return the toolkit's folder, found in the order of torch's extension builder; None if there is no nvcc."""
    on_path = shutil.which("nvcc")
    named = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    homes = [Path(named)] if named else []
    homes += [Path(on_path).parents[1]] if on_path else []
    return next((home for home in (*homes, DEFAULT_CUDA_HOME) if (home / "bin" / "nvcc").exists()), None)


def parse_nvcc(text: str) -> tuple[Release, str]:
    """Return the release and the full version in the answer to `nvcc --version`. Raises BadInput if there is none."""
    found = re.search(r"release (\d+)\.(\d+), V([\d.]+)", text)
    if found is None:
        raise BadInput(f"--device cuda: nvcc does not tell its version ({text.strip()[:80]!r}); reinstall the toolkit")
    return (int(found[1]), int(found[2])), found[3]


def ninja_folder() -> Path:
    """Return the folder of the ninja program: torch looks for it on PATH, where a package of a venv often is not."""
    spec = importlib.util.find_spec("ninja")
    if spec is not None:
        import ninja

        return Path(ninja.BIN_DIR)
    on_path = shutil.which("ninja")
    if on_path is None:
        raise BadInput("--device cuda: ninja is missing; pip install ninja")
    return Path(on_path).parent


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout


def _dotted(release: Release) -> str:
    return f"{release[0]}.{release[1]}"


TRIAL = "import torch; torch.zeros(1, device='cuda'); torch.cuda.synchronize()"
TRIAL_OPTIONS = ("--show-backtrace", "no", "--print-limit", "1", "--report-api-errors", "no")
"""Options that a session uses too: a checker too old for them counts as absent."""
TRIAL_LIMIT_S = 60.0


def working_sanitizer(toolchain: CudaToolchain) -> Path | None:
    """Return the program after one trial of some 5 s on a GPU; None where it is absent or gives no answer."""
    program = tool(toolchain, "compute-sanitizer")
    if program is None:
        return None
    words = [str(program), "--tool", "memcheck", *TRIAL_OPTIONS, sys.executable, "-c", TRIAL]
    with tempfile.TemporaryDirectory(prefix="audit-") as folder:  # in the sandbox, as in a session
        trial = command.run(words, folder=Path(folder), limit_s=TRIAL_LIMIT_S, network=True)
    return program if trial.code == 0 and "ERROR SUMMARY: 0 errors" in trial.out else None


def tool(toolchain: CudaToolchain, name: str) -> Path | None:
    """Return the toolkit's program of that name, else that on PATH; None where there is none."""
    own, on_path = toolchain.cuda_home / "bin" / name, shutil.which(name)
    return own if own.exists() else Path(on_path) if on_path else None
