"""Every published report is what its record gives: rendered again, its text is the same, figure for figure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit import claims, judge, report
from audit.model import SCHEMA, Record, SourceFile, store
from tests.conftest import part, some

ROOT = Path(__file__).resolve().parents[1] / "reports"
RECORDS = sorted(ROOT.rglob("record.json"))
EMBEDDED = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+")


def text_of(page: Path) -> str:
    """The page without its pictures, whose bytes depend on the version that drew them."""
    return EMBEDDED.sub("picture", page.read_text(encoding="utf-8"))


@pytest.fixture(params=RECORDS, ids=[str(path.parent.relative_to(ROOT)) for path in RECORDS])
def published(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path.parent


def test_there_are_published_records() -> None:
    assert RECORDS


@pytest.mark.parametrize("path", part(RECORDS), ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_text_derives_from_the_record(path: Path, tmp_path: Path) -> None:
    published = path.parent
    files = report.render(judge.opened(published / "record.json"), tmp_path)
    for name in ("report.md", "report.html"):
        assert text_of(published / name) == text_of(tmp_path / name), name
    for picture in (file for file in files if file.suffix == ".png"):
        assert (published / picture.relative_to(tmp_path)).read_bytes().startswith(b"\x89PNG")


def test_verdict_and_ladder_derive_from_findings_and_samples(published: Path) -> None:
    """A record of an older schema stays as its run wrote it; what is shown of it is judged by the rules of today."""
    stored = store.read(published / "record.json")
    record = judge.as_judged_now(stored)
    assert judge.ladder(record.claim.statement, record.findings, record.measurements) == record.ladder
    verdict = judge.judge(record)
    if stored.schema_ == SCHEMA:
        assert verdict == stored.verdict
    else:
        assert record.verdict == verdict.model_copy(update={"first_judged": stored.verdict.name})


def test_the_sources_audited_are_the_ones_here(published: Path) -> None:
    """The statement by its content, since a comment or a word of `claim.toml` may be another; the rest by hash.

    A repair that joined the claim later is left out.
    """
    record: Record = store.read(published / "record.json")
    folder = claims.load(record.claim.statement.name)
    now = folder.audited
    read = [one.file for one in record.claim.sources if (folder.path / one.file).is_file()]  # headers of the claim too
    found = (*now.sources, *(SourceFile.of(file, (folder.path / file).read_bytes()) for file in read))
    current = {source.file: source.sha256 for source in found if source.file != claims.STATEMENT}
    audited = {source.file: source.sha256 for source in record.claim.sources if source.file != claims.STATEMENT}
    assert audited.items() <= current.items(), "a source changed since this report: run the audit again on that device"
    known = tuple(one for one in now.statement.variant if one.file in audited)
    then = now.statement.model_copy(update={"variant": known})
    assert {one.role for one in now.statement.variant if one not in known} <= {"repair"}
    assert record.claim.statement == then, "the claim changed since this report: run the audit again"


def test_nothing_published_names_a_place_on_a_machine(published: Path) -> None:
    for path in some(published.rglob("*")):
        if path.suffix in (".json", ".md", ".html"):
            assert not re.search(r"/(home|root|work|tmp|opt)/[a-z.]", text_of(path)), path.name
