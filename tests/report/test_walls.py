"""The report says which sandbox limits held around claimed code and why others did not."""

from __future__ import annotations

import re

import pytest

from audit.model import Record, SandboxLimit
from audit.report import content, markdown, provenance
from audit.report.translation import translated

MISSING = "processes of the same user can be reached"


def with_walls(record: Record, missing: str = "processes") -> Record:
    walls = tuple(SandboxLimit(name=name, up=name != missing, why=MISSING if name == missing else "")
                  for name in provenance.DOES)  # fmt: skip
    return record.model_copy(update={"environment": record.environment.model_copy(update={"sandbox": walls})})


def test_every_wall_has_a_row_and_a_missing_one_its_reason(record: Record) -> None:
    text = markdown.render(content.build(with_walls(record), []))
    for name, does in provenance.DOES.items():
        assert re.search(rf"`{name}`.*{re.escape(does)}.*(stands|missing)", text), name
    assert f"missing: {MISSING}" in text


def test_in_japanese_too(record: Record) -> None:
    text = markdown.render(translated(content.build(with_walls(record), []), "ja"))
    assert "同じユーザーのプロセスに触れられます" in text and MISSING not in text


def test_a_record_from_before_says_nothing_of_walls(record: Record) -> None:
    assert "Sandbox around" not in markdown.render(content.build(record, []))


@pytest.mark.parametrize(("missing", "costs"), [("files", True), ("metadata", True), ("processes", False)])
def test_where_files_of_others_can_be_changed_the_limits_say_so(record: Record, missing: str, costs: bool) -> None:
    page = content.build(with_walls(record, missing), [])
    text = f"Claimed code could change files of other builds and audits on this machine ({missing})"
    assert (text in markdown.render(page)) == costs
    assert ("ほかのビルドや監査のファイルを変更できた" in markdown.render(translated(page, "ja"))) == costs
