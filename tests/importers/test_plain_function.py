"""The function of pointers in docs/your_own_kernel.md, bound as it says there, and with a wrong bound."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit.apps import cli
from audit.model import store

pytestmark = pytest.mark.audits

TEXT = (Path(__file__).resolve().parents[2] / "docs/your_own_kernel.md").read_text(encoding="utf-8")
SECTION = TEXT[TEXT.index("## A plain C function of pointers") :].partition("\n## Backward")[0]
SOLVE, BINDING, REFERENCE = (
    re.findall(rf"```{kind}\n(.*?)```", SECTION, re.DOTALL)[0] for kind in ("cuda", "cpp", "python")
)


@pytest.mark.parametrize(("bound", "verdict"), [("i < n", "no defect found"), ("i < n - 1", "wrong")])
def test_a_function_of_pointers_is_bound_by_a_file_beside_it(bound: str, verdict: str, tmp_path: Path) -> None:
    texts = {"solve.cu": SOLVE.replace("i < n", bound), "binding.cpp": BINDING, "reference.py": REFERENCE}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = [str(tmp_path / name) for name in texts]
    command = [
        "check",
        *files,
        "--tolerance",
        "1e-5",
        "--device",
        "emulated",
        "--seed",
        "3",
        "--out",
        str(tmp_path / "out"),
    ]
    assert cli.main(command) == 0
    record = store.read(next(tmp_path.glob("out/**/record.json")))
    assert record.verdict.name == verdict, record.verdict.reasons
