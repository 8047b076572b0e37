"""The formats: how long they may be, what they leave out and say so, the names of their files, and the PDF."""

from __future__ import annotations

import functools
import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from audit import judge, report
from audit.apps import cli
from audit.model import Record
from audit.model.errors import BadInput
from audit.report import content, evidence, figures, formats, outcome
from audit.report.formats import COMMENT_CHARACTERS, FORMATS, OPENREVIEW_CHARACTERS, Form, beginning, chosen
from audit.report.messages import LANGUAGES, Recorded, message, shape, wordings
from audit.report.translation import worded
from tests.conftest import opened
from tests.report.fixture import triangular

PUBLISHED = sorted((Path(report.__file__).parents[2] / "reports").rglob("record.json"))
RECORDS: dict[str, Record] = {
    path.parent.name: opened(path) for path in PUBLISHED if path.parts[-3] == "triangular_mm"
} | {"small": triangular()}


@functools.cache
def page_of(path: Path, name: str, language: str) -> str:
    return made(opened(path), name, language)


def made(record: Record, name: str, language: str) -> str:
    return FORMATS[name].make(content.build(record, ()), language).decode()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", RECORDS)
def test_the_comment_is_page_one_and_names_the_attachment(name: str, language: str) -> None:
    text = made(RECORDS[name], "comment", language)
    assert len(text) <= COMMENT_CHARACTERS
    assert "data:" not in text and "![" not in text and "|" not in text
    assert len(re.findall(r"^## ", text, re.M)) == 2
    assert FORMATS["html"].file(language) in text and "record.json" in text
    assert "audit run triangular_mm" in text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: f"{path.parents[1].name}-{path.parent.name}")
def test_a_comment_keeps_verdict_evidence_ratio_and_command(path: Path, language: str) -> None:
    record = opened(path)
    text, whole = page_of(path, "comment", language), page_of(path, "md", language)
    assert len(text) <= COMMENT_CHARACTERS
    for line in re.findall(r"^> .*$", whole, re.M):
        assert line in text
    assert len(evidence_of(text)) == len(evidence_of(whole)) == len(outcome.pieces(record))
    for mine, theirs in zip(evidence_of(text), evidence_of(whole), strict=True):
        assert mine == theirs or (theirs.startswith(mine.rstrip("…")) and len(mine) > 100)
    for key in ("answer.result", "answer.ratio", "verdict.speed", "verdict.not_tested"):
        name = wordings()[key][language]
        assert (f"- **{name}**: " in text) == (f"- **{name}**: " in whole), name
    assert [one for one in re.findall(r"`(audit (?:run|check) [^`]+)`", whole) if one not in text] == []


def evidence_of(text: str) -> list[str]:
    """The points under the verdict, before the facts."""
    under = re.search(r"\n> \*\*.+\n\n((?:(?:- (?!\*\*).+)?\n)*)", text)
    missing = tuple(f"- {word}: " for word in wordings()["template.missing"].values())
    return [line for line in (under[1] if under else "").splitlines() if line and not line.startswith(missing)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: f"{path.parents[1].name}-{path.parent.name}")
def test_a_published_report_is_two_pages(path: Path, language: str) -> None:
    record = opened(path)
    text = page_of(path, "md", language)
    lines = text.splitlines()
    titles = [number for number, line in enumerate(lines) if line.startswith("## ")]
    assert titles[2] <= 60, "page one: the verdict and how to reproduce it"
    assert len(lines) <= 300
    page = "\n".join(lines[: titles[2]])
    assert record.claim.statement.name in page
    if record.verdict.result and record.verdict.result.places:
        place = record.verdict.result.places[0]
        assert record.device.name in page or "emulated" in page or "エミュレート" in page
        assert all(f"{size:,}" in page for size in (place.shape or {}).values())
    assert not re.search(r"\b(convict|accus|thief|cleared)", text)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: f"{path.parents[1].name}-{path.parent.name}")
def test_verdict_number_shape_and_device_stand_in_the_first_card_and_are_not_folded(path: Path, language: str) -> None:
    record = opened(path)
    page = page_of(path, "html", language)
    before, card_, after = page.partition('<div class="card ')
    assert card_ and "<details" not in before, "nothing has to be opened to see it"
    assert before.count("<section") == 1 and before.count("<h2") == 1, "no other section stands above"
    card = html.unescape(re.sub(r"<[^>]+>", " ", after.partition("</div>")[0])).replace("\xa0", " ")
    devices = [one.name for one in (record.device, *record.secondary_devices)]
    said_of = {
        one: one if language == "en" else worded(Recorded(one), language) for one in (record.verdict.name, *devices)
    }
    assert said_of[record.verdict.name] in card
    assert any(said_of[one] in card for one in devices)
    assert any(shape(one) in card for one in evidence.tested_shapes(record))
    said = [number for piece in outcome.pieces(record) for number in numbers(piece)]
    assert said and set(said) <= set(numbers(card)), "every number of the evidence"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", RECORDS)
def test_the_openreview_form_fits_and_is_complete(name: str, language: str) -> None:
    text = made(RECORDS[name], "openreview", language)
    assert len(text) <= OPENREVIEW_CHARACTERS
    assert not re.search(r"<[a-z/]|!\[|data:", text)
    wanted = {
        "en": ["Verdict", "Strengths", "Weaknesses", "Questions to the authors", "Limitations of this audit", "Rating",
               "How to reproduce", "Right of reply"],
        "ja": ["判定", "長所", "短所", "著者への質問", "この監査の限界", "評点", "再現手順", "反論の機会"],
    }  # fmt: skip
    assert re.findall(r"^## (.+)$", text, re.M) == wanted[language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_short_forms_hold_no_number_that_the_report_does_not(language: str) -> None:
    record = RECORDS["h100"]
    whole = set(numbers(made(record, "html", language)))
    for name in ("comment", "openreview"):
        left = "more are in the full report|ほか [\\d,]+ 件は、報告の完全版"
        lines = [line for line in made(record, name, language).splitlines() if not re.search(left, line)]
        assert set(numbers("\n".join(lines))) <= whole, name


def numbers(text: str) -> list[str]:
    return re.findall(r"\d[\d,]*(?:\.\d+)?", text)


def test_what_a_review_form_leaves_out_is_counted() -> None:
    record = RECORDS["h100"]
    whole = next(one for one in content.build(record, ()).sections if one.slug == "limitations")
    section = made(record, "openreview", "en").partition("## Limitations of this audit")[2].partition("##")[0]
    left = re.search(r"([\d,]+) more are in the full report and its record", section)
    shown = len(re.findall(r"^- ", section, re.M)) - 1
    assert left is not None
    assert shown + int(left[1]) == len(whole.bullets)


def test_a_comment_is_cut_whatever_its_size() -> None:
    record = triangular()
    many = tuple(one.model_copy(update={"summary": "@" * 900}) for one in record.findings) * 20
    text = made(record.model_copy(update={"findings": many}), "comment", "en")
    assert 1_000 < len(text) <= COMMENT_CHARACTERS


def test_the_page_about_reports_names_every_format_and_limit() -> None:
    page = (Path(report.__file__).parents[2] / "docs" / "reports.md").read_text(encoding="utf-8")
    for name, one in FORMATS.items():
        assert f"| `{name}` | `{one.file('en')}`, `{one.file('ja')}` |" in page
    for limit in (COMMENT_CHARACTERS, OPENREVIEW_CHARACTERS):
        assert f"at most {limit:,} characters" in page
    assert {f"`{path.name}`" for path in (Path(report.__file__).parent / "texts" / "ja").iterdir()} <= set(
        re.findall(r"`\w+\.toml`", page)
    )
    for scale in {*outcome.SUPPORT.values()}:
        assert message(f"rating.{scale}") in page


def test_names_of_files() -> None:
    names = {FORMATS[name].file(language) for name in FORMATS for language in LANGUAGES}
    assert names == {
        "report.md", "report.ja.md", "report.html", "report.ja.html", "comment.md", "comment.ja.md",
        "openreview.md", "openreview.ja.md", "report.pdf", "report.ja.pdf",
    }  # fmt: skip


def test_both_languages_stand_beside_each_other(tmp_path: Path) -> None:
    empty = triangular().model_copy(update={"findings": (), "ladder": ()})
    for language in LANGUAGES:
        report.render(empty, tmp_path, Form(language, ("md", "comment")))
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {"report.md", "report.ja.md", "comment.md", "comment.ja.md", "figures"}


@pytest.mark.parametrize("names", ["docx", "md,docx", ""])
def test_an_unknown_format_names_the_known_ones(names: str) -> None:
    with pytest.raises(BadInput, match="known: md, html, comment, openreview, pdf"):
        chosen(name for name in names.split(",") if name)


def test_the_command_writes_what_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "report",
        str(PUBLISHED[0]),
        "--out",
        str(tmp_path),
        "--lang",
        "ja",
        "--formats",
        "openreview, comment",
    ]
    assert cli.main(arguments) == 0
    written = [Path(line).name for line in capsys.readouterr().out.splitlines()]
    assert written[:2] == ["openreview.ja.md", "comment.ja.md"]
    assert cli.main([*arguments[:-1], "word"]) == 2


def test_a_run_refuses_a_format_before_it_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "triangular_mm", "--device", "emulated", "--lang", "ja", "--formats", "md,word"]) == 2
    assert "format word: unknown" in capsys.readouterr().err


def test_a_page_with_all_its_pictures_stays_small() -> None:
    record = RECORDS["h100"]
    view = content.build(record, figures.draw(record))
    assert 100_000 < len(FORMATS["html"].make(view, "ja")) < 400_000


@pytest.mark.parametrize(
    ("text", "most", "cut"),
    [("16,777,216 of 16,777,216 rows", 20, "16,777,216 of…"), ("short", 20, "short"), ("x" * 30, 10, "x" * 9 + "…"),
     ("行中 16,777,216 行に書き込み", 9, "行中…")],
)  # fmt: skip
def test_a_text_is_never_cut_inside_a_number(text: str, most: int, cut: str) -> None:
    assert beginning(text, most) == cut


def test_without_a_browser_a_pdf_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_BROWSER", "no-such-browser")
    assert chosen(["md", "html"]) == ("md", "html")
    with pytest.raises(BadInput, match=r"apt-get install chromium.*print report.html from any browser"):
        chosen(["pdf"])


def test_a_browser_that_prints_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = shutil.which("false")
    assert silent is not None
    monkeypatch.setenv("AUDIT_BROWSER", silent)
    with pytest.raises(Exception, match="false printed no PDF"):
        formats.pdf("<p>", made_utc="")


@pytest.mark.skipif(formats.browser() is None, reason="no Chromium or Chrome is installed")
def test_the_pdf_is_dated_as_the_record_and_holds_what_was_folded() -> None:
    record = RECORDS["small"]
    page = made(record, "html", "ja")
    pdf = formats.pdf(page, made_utc=record.environment.started_utc)
    assert pdf.startswith(b"%PDF-")
    digits = re.sub(r"\D", "", record.environment.started_utc)[:14]
    assert set(re.findall(rb"D:(\d{14})", pdf)) == {digits.encode()}
    short = formats.pdf(re.sub(r"(?s)<details.*?</details>", "", page), made_utc="")
    pages = [len(re.findall(rb"/Type\s*/Page\b", one)) for one in (pdf, short)]
    assert pages[0] > pages[1] + 1


@pytest.mark.parametrize(
    ("verdict", "scale"),
    [("wrong", "1 of 4"), ("mistimed", "1 of 4"), ("vacuous", "1 of 4"), ("overstated", "2 of 4"),
     ("confirmed", "4 of 4"), ("undecided", "no rating"), ("incomplete", "no rating")],
)  # fmt: skip
def test_the_rating_follows_from_the_verdict(verdict: str, scale: str) -> None:
    record = triangular(defects=False)
    judged = record.model_copy(update={"verdict": record.verdict.model_copy(update={"name": verdict})})
    assert outcome.support(judged).startswith(scale)


def test_undefined_behaviour_supports_a_smaller_claim() -> None:
    record = triangular()
    doubted = tuple(one.model_copy(update={"grade": "undefined"}) if one.grade == "proved" else one
                    for one in record.findings)  # fmt: skip
    changed = record.model_copy(update={"findings": doubted})
    judged = changed.model_copy(update={"verdict": judge.judge(changed)})
    assert judged.verdict.name == "undefined"
    assert outcome.support(judged).startswith("2 of 4")


def test_the_help_stays_quick() -> None:
    code = (
        "import sys, audit.apps.cli; [audit.apps.cli._parser(name) for name in audit.apps.cli.COMMANDS]; "
        "sys.exit(bool({'matplotlib', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
