"""The files: the same bytes twice, nothing from outside, small, and figures that can be read."""

import io
import re
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image

from audit import judge, report
from audit.model import Record, Verdict
from audit.report import figures
from audit.report.figures import raster
from audit.report.formats import Form
from tests.conftest import some
from tests.report.fixture import measured, triangular

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    report.render(triangular(), folder)
    return folder


def test_files_written(tmp_path: Path) -> None:
    files = report.render(triangular(), tmp_path)
    names = [str(file.relative_to(tmp_path)) for file in files]
    pictures = [f"figures/{name}.png" for name in ("coverage", "errors", "ablation", "floors")]
    assert names == ["report.md", "report.html", *pictures]
    assert all(file.is_file() for file in files)


@pytest.mark.parametrize(
    ("place", "order"),
    [
        ("side_stream/emulated", ("Missing for a verdict", "Seen so far", "Write coverage: all 3,500 elements")),
        ("diag_matmul/emulated", ("Write coverage: all 2,520 elements", "Missing for a verdict")),
    ],
)
def test_a_page_begins_with_what_is_missing_where_nothing_is_decided(
    place: str, order: tuple[str, ...], tmp_path: Path
) -> None:
    record = judge.opened(ROOT / "reports" / place / "record.json")
    report.render(record, tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    places = [page.index(words) for words in order]
    assert places == sorted(places)
    decided = record.verdict.name != "undecided"
    assert (text.index("- Missing: ") > text.index("- Write coverage: ")) == decided
    assert ("Seen so far" in page) == (not decided)


@pytest.mark.parametrize(
    ("record", "form"),
    [(triangular(), Form()), (measured(triangular()), Form("ja", ("md", "html", "comment", "openreview")))],
    ids=["english", "every text format"],
)
def test_the_same_record_gives_the_same_bytes(record: Record, form: Form, tmp_path: Path) -> None:
    first = report.render(record, tmp_path / "one", form)
    raster.png.cache_clear()
    second = report.render(record, tmp_path / "two", form)
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]


def test_figures_of_an_earlier_report_do_not_stay(tmp_path: Path) -> None:
    report.render(triangular(), tmp_path)
    empty = triangular().model_copy(update={"findings": (), "ladder": (), "verdict": Verdict(name="incomplete")})
    report.render(empty, tmp_path)
    assert list((tmp_path / "figures").iterdir()) == []


def test_the_html_refers_to_nothing_outside(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    outside = [link for link in re.findall(r'\bhref="([^"]*)"', text) if not link.startswith("#")]
    assert outside == [triangular().claim.statement.source.url]
    assert all(address.startswith("data:image/png;base64,") for address in re.findall(r'\bsrc="([^"]*)"', text))
    assert not re.search(r"<(script|link|iframe|object|embed|form|base)\b|@import|url\(|srcset|\son\w+=", text)


def test_the_html_is_accessible(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert '<html lang="en">' in text
    assert "prefers-color-scheme: dark" in text
    levels = [int(level) for level in re.findall(r"<h([1-6])\b", text)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert text.count("<table>") == text.count("<caption>") > 5
    assert all(re.search(r'alt="[^"]{40,}"', image) for image in re.findall(r"<img[^>]*>", text))
    assert not re.search(r"<th(?! scope)\b", text)
    names = re.findall(r'\bid="([^"]*)"', text)
    assert len(names) == len(set(names))


def test_sizes(folder: Path) -> None:
    assert (folder / "report.html").stat().st_size < 2_000_000
    assert (folder / "report.md").stat().st_size < 65_536
    assert all(file.stat().st_size < 100_000 for file in (folder / "figures").iterdir())


def test_the_markdown_has_relative_pictures_and_whole_tables(folder: Path) -> None:
    text = (folder / "report.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\n]*\]\(([^)]*)\)", text)
    assert sorted(pictures) == ["figures/ablation.png", "figures/coverage.png"], "the floors are folded in the HTML"
    assert all((folder / picture).is_file() for picture in pictures)
    assert "data:" not in text
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1, block


def test_pictures_are_opaque_and_carry_no_software_name(folder: Path) -> None:
    for file in some((folder / "figures").iterdir()):
        picture = Image.open(io.BytesIO(file.read_bytes()))
        assert "Software" not in picture.info
        assert picture.convert("RGBA").getchannel("A").getextrema() == (255, 255)
        assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


def test_alternative_texts_say_the_numbers() -> None:
    alts = {figure.name: figure.alt for figure in figures.draw(triangular())}
    assert "claimed: 1 of 255 rows" in alts["coverage"]
    assert "only 2-D grid: Claim first: right, Reference first: right." in alts["ablation"]
    assert "Reference first: right only because the reference ran first" in alts["ablation"]
    assert "T4: 0.267 ms reported" in alts["floors"]
    assert "A100: ratio only" in alts["floors"]


@pytest.mark.parametrize("broken", [None, [], [[]], [[0.5], [0.5, 1.0]], [["x"]], [[2.0]], "map"])
def test_a_map_that_is_none_draws_nothing(broken: object) -> None:
    record = triangular()
    maps = {"map": broken, "worst": {"shape": {"N": 255}, "map": broken}}
    found = [one.model_copy(update={"evidence": {**one.evidence, **maps}}) for one in record.findings]
    drawn = figures.draw(record.model_copy(update={"findings": tuple(found)}))
    assert [figure.name for figure in drawn] == ["ablation", "floors"]
