"""Runs in a child: a GPU whose every access is checked, by compute-sanitizer around a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from audit.worker.sanitizer_log import finished, reports_in

TOOLS = ("memcheck", "initcheck", "racecheck")
OPTIONS = ("--show-backtrace", "no", "--print-limit", "100")
"""Without backtraces: a kernel with a million bad accesses takes minutes with them."""
TOOL_LIMIT_S = 75.0
PACKAGE_ROOT = Path(__file__).resolve().parents[2]


class Sanitized:
    """Each call runs once under every tool, side by side; the call returns nothing, its reports are what is wanted.

    torch asks the driver for every block then, so that an access past a tensor's end leaves its allocation; the
    driver's own rounding still hides the first few dozen bytes (seen: 32), which the emulated device would see.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._program = settings["sanitizer"]
        self._request = {key: settings[key] for key in ("library", "module", "binding")}
        self._reports: list[dict[str, Any]] = []
        self._failure: str | None = None

    def load(self, entry: str) -> Callable[..., None]:
        """See `SessionDevice`."""

        def call(*arguments: Any) -> None:
            with tempfile.TemporaryDirectory(prefix="audit-") as folder:
                inputs = Path(folder) / "inputs.pt"
                torch.save(list(arguments), inputs)
                self._check({**self._request, "entry": entry, "inputs": str(inputs)}, Path(folder))

        return call

    def begin(self) -> None:
        """See `SessionDevice`. Nothing: memory is the driver's."""

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        """See `SessionDevice`. The tensor stays here; the checked process uploads it."""
        return tensor

    def before_call(self, output_bytes: int) -> None:
        """See `SessionDevice`. Nothing."""

    def after_call(self) -> None:
        """See `SessionDevice`. Nothing: the checked processes have ended."""

    def write_counts(self, tensor: torch.Tensor) -> bytes:  # noqa: ARG002
        """See `SessionDevice`. Empty: a GPU does not count writes."""
        return b""

    def trace(self) -> dict[str, Any]:
        """See `SessionDevice`. Raises RuntimeError where a tool gave no answer, so that no answer cannot look like none
        found."""
        if self._failure is not None:
            raise RuntimeError(self._failure)
        reports, self._reports = self._reports, []
        return {"launches": [], "reports": reports}

    def _check(self, request: dict[str, Any], folder: Path) -> None:
        running = {tool: self._start(tool, request, folder) for tool in TOOLS}
        deadline = time.monotonic() + TOOL_LIMIT_S
        for tool, process in running.items():
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
            process.kill()
            process.wait()
            file = folder / tool
            log = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
            reports = reports_in(log)
            if not reports and (process.returncode or not finished(log)):
                self._failure = f"compute-sanitizer {tool} gave no answer (exit code {process.returncode})"
            self._reports += reports

    def _start(self, tool: str, request: dict[str, Any], folder: Path) -> subprocess.Popen[bytes]:
        options = ["--tool", tool, "--log-file", str(folder / tool), *OPTIONS]
        quiet = ["--report-api-errors", "no"] if tool == "memcheck" else []
        python = [sys.executable, "-m", "audit.worker.sanitized_call", json.dumps(request)]
        return subprocess.Popen(
            [self._program, *options, *quiet, *python],
            stdin=subprocess.DEVNULL,
            cwd=PACKAGE_ROOT,
            env={**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
        )
