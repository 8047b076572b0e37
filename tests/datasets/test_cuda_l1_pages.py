"""What pages say of the rows of CUDA-L1 is what the committed table of rows says."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "cuda_l1"


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(BENCH)
    before = set(sys.modules)
    yield importlib.import_module("l1_pages")
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(BENCH)):
            del sys.modules[name]


def test_pages_follow_from_the_committed_rows(pages: ModuleType) -> None:
    made = pages.pages(pages.committed())
    stale = [path.name for path, text in made.items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "python bench/cuda_l1/l1_pages.py writes them again"


def test_another_state_of_a_row_is_seen_on_each_page(pages: ModuleType) -> None:
    first, *others = [row for row in pages.committed() if row["state"] == "falls back"]
    rest = [row for row in pages.committed() if row["state"] != "falls back"]
    made = pages.pages([*rest, *others, first | {"state": "own kernel"}])
    assert [path.name for path, text in made.items() if path.read_text(encoding="utf-8") == text] == []


def test_a_verdict_of_the_gpu_comes_first(pages: ModuleType) -> None:
    row = {"gpu": "wrong", "emulated": "no defect found"}
    assert pages.verdict(row) == "wrong"
    assert pages.verdict(row | {"gpu": "right so far", "emulated": "undefined"}) == "undefined"
