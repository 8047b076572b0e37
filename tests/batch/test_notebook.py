"""The notebook of this kit in a batch: a real audit on the emulated device, on a kernel that was forked."""

from __future__ import annotations

import json
from pathlib import Path

from audit.apps import bundle
from audit.model import store
from tests.batch import tiny


def test_a_real_audit_in_a_batch(tmp_path: Path) -> None:
    tiny.claim(tmp_path, "small")
    asked = tiny.batch(tmp_path / "small", "--out", tmp_path / "out", "--device", "emulated")
    printed, errors = asked.communicate(timeout=300)
    assert asked.returncode == 0, printed + errors
    assert "small: finished: no defect found" in printed
    record = store.read(tmp_path / "out" / "small" / "record.json")
    assert {one.probe for one in record.findings} >= {"agreement", "coverage", "memory_access"}
    assert bundle.verify(tmp_path / "out" / "small.zip").record == record
    executed = (tmp_path / "out" / "small" / "executed.ipynb").read_text()
    assert "Verdict: no defect found" in executed
    assert "every probe passed" in executed
    cells = json.loads(executed)["cells"]
    assert all(cell["execution_count"] for cell in cells if cell["cell_type"] == "code")
    assert 'href="small/report.html"' in (tmp_path / "out" / "summary.html").read_text()
