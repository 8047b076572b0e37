"""Test the emulated device itself: a small kernel per feature, in all orders, on poisoned memory, with checks."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from audit.build.emulated.build import build
from audit.model.errors import AuditError

SOURCE = Path(__file__).with_name("selftest.cu")
_SECONDS = 120


@dataclass(frozen=True)
class FeatureResult:
    """The result of one feature, such as "wmma_f16": `passed` if it was right in every order without a report, else
    `detail` is the error in words, with numbers."""

    name: str
    passed: bool
    detail: str


def selftest(*, optimisation: str = "O2") -> list[FeatureResult]:
    """Build and run every feature, in a process of its own. Raises CompileError if the kernels do not compile here, and
    AuditError if the process died."""
    built = build(SOURCE, optimisation=optimisation)
    command = [sys.executable, "-m", "audit.build.emulated.selftest_cases", str(built.library), str(built.runtime)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode != 0:
        said = done.stderr.strip()[-500:]
        raise AuditError(f"the emulated device's self-test ended with status {done.returncode}: {said}")
    return [FeatureResult(**each) for each in json.loads(done.stdout.splitlines()[-1])]
