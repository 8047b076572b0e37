"""What a notebook shows of a claim and of a record: source and hash, what ablations change, verdict, ladder."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from audit import claims, judge
from audit.apps import notebook
from audit.apps.notebook.shown import table
from audit.model import Record
from audit.report.compare import measured
from audit.report.messages import milliseconds

REPORTS = Path(__file__).resolve().parents[2] / "reports"


@pytest.fixture(scope="module")
def h100() -> Record:
    return judge.opened(REPORTS / "triangular_mm/h100/record.json")


def test_the_claimed_source_with_its_hash() -> None:
    folder = claims.load("triangular_mm")
    result = notebook.source(folder)
    text = (folder.path / "claimed.cu").read_text(encoding="utf-8")
    assert text.rstrip() in result
    assert f"SHA-256 `{hashlib.sha256(text.encode()).hexdigest()}`" in result
    assert "our reconstruction of the published mechanism, compiled unmodified" in result
    assert notebook.source(claims.load("controls")) == "This folder holds no claimed kernel."


def test_what_each_variant_of_ours_changes() -> None:
    folder = claims.load("triangular_mm")
    result = notebook.changes(folder)
    rows = [line for line in result.splitlines() if line.startswith("| ")]
    ours = [one.file for one in folder.claim.variant if one.role in ("ablation", "repair")]
    assert len(rows) == 2 + len(ours)
    (grid,) = [line for line in rows if "ablation\\_grid2d.cu" in line]
    assert "2-D grid" in grid
    removed, added = (int(cell) for cell in grid.strip("| ").split("|")[-2:])
    assert 0 < removed <= 20
    assert 0 < added <= 20
    assert re.findall(r"<summary>(.*) against claimed\.cu</summary>", result) == ours
    (shown,) = re.findall(r"ablation_grid2d\.cu against .*?```diff\n(.*?)\n```", result, re.DOTALL)
    signs = [line[0] for line in shown.splitlines()]
    assert (signs.count("-"), signs.count("+")) == (removed, added)
    assert notebook.changes(claims.load("controls")) == "None."


def test_the_card_and_the_ladder(h100: Record, tmp_path: Path) -> None:
    card = notebook.card(h100)
    assert "**Verdict: wrong.** The kernel audited does not compute the stated result." in card
    assert "- Write coverage: 1 of 4,096 rows written" in card
    assert "- **Honest speed**: none for the claimed kernel, which did not pass." in card
    ladder = notebook.ladder(h100, tmp_path)
    assert "| claimed |" in ladder
    (split,) = [rung for rung in h100.ladder if rung.variant == "wmma_split"]
    assert f"| {milliseconds(split.median_ms)} | {measured(h100, 'wmma_split')} |" in ladder, "a ratio beside its time"
    assert len((tmp_path / "ladder.csv").read_text(encoding="utf-8").splitlines()) == 1 + len(h100.ladder)
    assert "NOT MEASURED" in ladder


def test_words_of_others_are_shown_and_not_rendered(record: Record) -> None:
    verdict = record.verdict.model_copy(update={"root_cause": "<b>*bold*</b> | [x](https://x.y)"})
    card = notebook.card(record.model_copy(update={"verdict": verdict}))
    assert "bold" in card and "<b>" not in card
    assert "://" not in card
    assert table(("A",), [("a | b",)]).splitlines()[-1] == "| a \\| b |"


def test_the_card_and_the_figures_are_in_the_language_of_the_form(h100: Record) -> None:
    card = notebook.card(h100, "ja")
    assert card.startswith("### 監査報告: ") and "誤り" in card
    alts = [repr(one) for one in notebook.figures(h100, "ja")]
    assert len(alts) == 7 and any("高速化率を対数軸で示した棒グラフです" in one for one in alts)
