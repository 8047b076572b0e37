"""`docs/python_variants.md` says what the code does not support."""

from __future__ import annotations

from pathlib import Path

from audit.build.python.emulated import ONLY_ON_A_GPU, OTHER_COMPILERS
from audit.build.python.load import MODEL, MODEL_SEED

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "python_variants.md").read_text(encoding="utf-8")


def test_every_construct_stands_in_the_table_with_its_sentence() -> None:
    rows = [line.strip("|").split(" | ") for line in TEXT.splitlines() if line.startswith("| `torch.")]
    assert {row[0].strip(" `"): row[1].strip() for row in rows} == ONLY_ON_A_GPU


def test_names_and_seed_are_those_of_the_code() -> None:
    assert all(name in TEXT for name in OTHER_COMPILERS.values())
    assert f"class `{MODEL}`" in TEXT
    assert f"torch.manual_seed({MODEL_SEED})" in TEXT
