"""An audit in one cell: one bar that moves while a person watches, else plain lines; all of them stay in the log."""

from __future__ import annotations

import io
import re
import sys
from types import SimpleNamespace

import pytest

from audit.apps import notebook
from audit.apps.notebook.form import Bar
from audit.apps.notebook.results import Log, folded
from audit.model.errors import BadInput
from audit.report.progress import Progress


class Cell(SimpleNamespace):
    """What a notebook's cell shows, as `IPython.display` puts it there."""

    def __init__(self) -> None:
        super().__init__(shown=[], updates=[], HTML=str)

    def display(self, one: object, **_: object) -> SimpleNamespace:
        self.shown.append(str(one))
        return SimpleNamespace(update=lambda other: self.updates.append(str(other)))


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    known = Cell()
    monkeypatch.setitem(sys.modules, "IPython.display", known)  # type: ignore[arg-type]
    return known


def test_one_bar_moves_through_all_stages(cell: Cell) -> None:
    progress = Progress(io.StringIO(), watch=Bar())
    progress.plan(("build", "verify"))
    for name in ("build", "verify"):
        with progress.stage(name):
            pass
    assert len(cell.shown) == 1
    assert "<b>▶ build</b> · verify" in cell.shown[0]
    assert any("✓ build" in one and "<b>▶ verify</b>" in one for one in cell.updates)
    assert "✓ build" in cell.updates[-1] and "✓ verify" in cell.updates[-1]


@pytest.mark.parametrize("watched", [True, False])
def test_lines_are_kept_and_shown_live_where_nobody_sees_a_bar(watched: bool) -> None:
    live = io.StringIO()
    log = Log(None if watched else live)
    log.write("a line with ``` and </details>\n")
    assert live.getvalue() == ("" if watched else "a line with ``` and </details>\n")
    result = folded(log)
    assert result.startswith("<details><summary>Log of the audit</summary>")
    assert re.search(r"\n(````+)text\na line with ``` and </details>\n\1\n", result), "no line can end the fold"


def test_an_audit_that_breaks_off_leaves_its_log(cell: Cell, tmp_path: object) -> None:
    with pytest.raises(BadInput, match=r"missing\.cu"):
        notebook.run(notebook.KernelForm.read(kernel="missing.cu", reference="missing.py", out=str(tmp_path)))
    assert [one.splitlines()[0] for one in cell.shown] == ["<details><summary>Log of the audit</summary>"]
