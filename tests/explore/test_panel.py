"""The panel draws what is picked, and uses nothing that ipywidgets 7.7 lacks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from audit.apps.notebook import records
from audit.apps.notebook.records import Panel

TESTS = Path(__file__).resolve().parents[1]
RECORDS = {
    "h100": TESTS / "older/wmma_vs_cublas/h100/record.json",
    "emulated": TESTS.parent / "reports/wmma_vs_cublas/emulated/record.json",
}
CORE = {"Dropdown", "HBox", "HTML", "Image", "VBox"}
"""Widgets of ipywidgets itself, in 7.7 (Colab) as in 8, which need no widget manager of others."""


@pytest.fixture(scope="module")
def shown() -> Panel:
    pytest.importorskip("ipywidgets")
    return Panel(RECORDS, "h100")


def test_picking_draws(shown: Panel) -> None:
    before = shown.images["times"].value
    assert shown.picks["variant"].value == "claimed"
    shown.picks["variant"].value = "fixed_register_tiled"
    assert shown.images["times"].value != before
    assert shown.picks["device"].options == ("cuda", "emulated")
    shown.picks["device"].value = "emulated"
    assert len(shown.picks["shape"].options) == 3
    shown.picks["shape"].value = "M = 33, K = 70, N = 20"
    assert "fixed_register_tiled at M = 70, K = 33, N = 130, emulated" in shown.captions["coverage"].value
    shown.record.value = "emulated"
    assert shown.picks["variant"].value == "claimed"
    assert "NOT MEASURED" in shown.captions["times"].value


def test_only_core_widgets() -> None:
    tree = ast.parse(Path(records.__file__).read_text(encoding="utf-8"))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "widgets"
    }
    assert used <= CORE
