"""Whether compute-sanitizer is here and works: many rented machines do not let it attach to a process."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from audit.build.cuda_toolchain import Toolchain

TRIAL = "import torch; torch.zeros(1, device='cuda'); torch.cuda.synchronize()"
TRIAL_OPTIONS = ("--show-backtrace", "no", "--print-limit", "1", "--report-api-errors", "no")
"""Those the worker gives too: a checker too old to know them counts as absent."""
TRIAL_LIMIT_S = 60.0


def working_sanitizer(toolchain: Toolchain) -> Path | None:
    """The program, after one trial of some 5 s on a GPU; None where it is absent or gives no answer."""
    program = sanitizer(toolchain)
    if program is None:
        return None
    command = [str(program), "--tool", "memcheck", *TRIAL_OPTIONS, sys.executable, "-c", TRIAL]
    try:
        trial = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TRIAL_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return program if trial.returncode == 0 and "ERROR SUMMARY: 0 errors" in trial.stdout else None


def sanitizer(toolchain: Toolchain) -> Path | None:
    """The program of the toolkit, else of PATH; None where there is none."""
    beside = toolchain.cuda_home / "bin" / "compute-sanitizer"
    elsewhere = shutil.which("compute-sanitizer")
    return beside if beside.exists() else Path(elsewhere) if elsewhere else None
