"""Ctrl-C ends an audit with one line, no process and a report that says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from audit.apps.cli import INTERRUPTED
from audit.model import store
from tests.small_claim import trimmed

pytestmark = pytest.mark.audits

AT = ("prepare", "verify")


@pytest.mark.parametrize("stage", AT)
def test_ctrl_c_is_one_line_and_leaves_no_process(tmp_path: Path, stage: str) -> None:
    out, log = tmp_path / "out", tmp_path / "log"
    claim = str(trimmed("triangular_mm", tmp_path, ("claimed.cu",), N=300))
    with log.open("wb") as lines:
        audit = subprocess.Popen(
            [sys.executable, "-m", "audit", "run", claim, "--device", "emulated", "--out", str(out)],
            stdout=lines,
            stderr=lines,
            start_new_session=True,
        )
    while f"  {stage}" not in log.read_text(encoding="utf-8") and audit.poll() is None:
        time.sleep(0.05)
    own = psutil.Process(audit.pid).children(recursive=True)
    os.killpg(audit.pid, signal.SIGINT)
    assert audit.wait() == INTERRUPTED
    text = log.read_text(encoding="utf-8")
    assert "Traceback" not in text
    assert text.splitlines()[-1] == "audit: interrupted; a report written so far says incomplete"
    assert own
    _, alive = psutil.wait_procs(own, timeout=30)
    assert alive == []
    verdict = store.read(out / store.RECORD).verdict
    assert verdict is not None
    assert verdict.name == "incomplete"
    assert "incomplete" in (out / "report.md").read_text(encoding="utf-8")
