"""The backward claims of docs/your_own_kernel.md, audited as they stand there, and with one gradient wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import audit

pytestmark = pytest.mark.audits

TEXT = (Path(__file__).resolve().parents[1] / "docs/your_own_kernel.md").read_text(encoding="utf-8")
SECTION = TEXT[TEXT.index("## Backward passes") :].partition("\n## From Python")[0]
(REFERENCE, KERNEL_PY), (KERNEL_CU,) = (
    re.findall(rf"```{kind}\n(.*?)```", SECTION, re.DOTALL) for kind in ("python", "cuda")
)


@pytest.mark.parametrize(
    ("file", "text", "verdict"),
    [
        ("kernel.cu", KERNEL_CU, "no defect found"),
        ("kernel.py", KERNEL_PY, "no defect found"),
        ("kernel.py", KERNEL_PY.replace("g * a * s,", "g * s,"), "wrong"),
    ],
    ids=["cuda", "autograd function", "a wrong gradient"],
)
def test_gradients_are_further_outputs(tmp_path: Path, file: str, text: str, verdict: str) -> None:
    (tmp_path / "reference.py").write_text(REFERENCE, encoding="utf-8")
    (tmp_path / file).write_text(text, encoding="utf-8")
    record = audit.check(tmp_path / file, tmp_path / "reference.py", tolerance=1e-5, device="emulated", seed=3)
    assert record.verdict.name == verdict, record.verdict.reasons
