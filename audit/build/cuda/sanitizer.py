"""Whether compute-sanitizer is here and works: many rented machines do not let it attach to a process."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from audit.build.cuda.toolchain import Toolchain
from audit.sandbox import command

TRIAL = "import torch; torch.zeros(1, device='cuda'); torch.cuda.synchronize()"
TRIAL_OPTIONS = ("--show-backtrace", "no", "--print-limit", "1", "--report-api-errors", "no")
"""Those the worker gives too: a checker too old to know them counts as absent."""
TRIAL_LIMIT_S = 60.0


def working_sanitizer(toolchain: Toolchain) -> Path | None:
    """The program, after one trial of some 5 s on a GPU; None where it is absent or gives no answer."""
    program = sanitizer(toolchain)
    if program is None:
        return None
    words = [str(program), "--tool", "memcheck", *TRIAL_OPTIONS, sys.executable, "-c", TRIAL]
    with tempfile.TemporaryDirectory(prefix="audit-") as folder:  # inside the sandbox, as it is used
        trial = command.run(words, folder=Path(folder), limit_s=TRIAL_LIMIT_S, network=True)
    return program if trial.code == 0 and "ERROR SUMMARY: 0 errors" in trial.out else None


def sanitizer(toolchain: Toolchain) -> Path | None:
    """The program of the toolkit, else of PATH; None where there is none."""
    beside = toolchain.cuda_home / "bin" / "compute-sanitizer"
    elsewhere = shutil.which("compute-sanitizer")
    return beside if beside.exists() else Path(elsewhere) if elsewhere else None
