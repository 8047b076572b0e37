"""Drawings: words in lines, an axis, an SVG that is the same everywhere, and colours that the style sheet has."""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import pytest

from audit import report
from audit.model import Finding, Record
from audit.report import content, figures, html
from audit.report.drawing import WIDE, Box, Dot, Drawing, Paint, Scale, Stroke, Words
from audit.report.figures import maps, raster
from audit.report.formats import Form
from audit.report.translation import translated
from tests.conftest import some
from tests.report.fixture import triangular
from tests.report.test_times import raced, sized

CSS = (Path(report.__file__).parent / "templates" / "report.css").read_text(encoding="utf-8")
HOSTILE = "</text><script>alert(1)</script> \" onload='x' & \u202eodd \x1b[31m"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one", ("one",)),
        ("one two three", ("one two", "three")),
        ("zero-initialised", ("zero-", "initialise…")),
        ("unbreakablelongname", ("unbreakabl", "elongname")),
        ("初期化のみを変更した", ("初期化のみ", "を変更した")),
        ("one two three four five", ("one two", "three four…")),
        ("", ()),
    ],
)
def test_words_are_broken_where_a_reader_expects_it(text: str, lines: tuple[str, ...]) -> None:
    assert Words(0, 0, text, size=10, wide=59, most=2).lines(text) == lines


def test_a_scale_keeps_its_ends_and_its_order() -> None:
    scale = Scale(0.5, 200, 10, 410)
    assert (scale.at(0.5), scale.at(200)) == (10, 410)
    assert (scale.at(1e-9), scale.at(1e9)) == (10, 410), "what lies outside stands at the end"
    assert scale.at(10) == pytest.approx((scale.at(1) + scale.at(100)) / 2)


@pytest.mark.parametrize(("low", "high"), [(0.5, 200), (1e-6, 1e6), (0.9, 2.2), (1e-12, 1e12), (3, 4000)])
def test_an_axis_has_some_ticks_and_not_many(low: float, high: float) -> None:
    words = [part.text for part in Scale(low, high, 0, WIDE, unit="x").axis(0, "label") if isinstance(part, Words)]
    assert words[-1] == "label" and 1 <= len(words) - 1 <= 7
    assert len(set(words)) == len(words)


def test_an_svg_is_well_formed_whatever_its_words() -> None:
    parts = (
        Box(0, 0, 9, 9, "warm", "soft", True),
        Stroke((0, 0), (5, 5), "text", 2, True),
        Dot(1, 1, 2, "page", "cool"),
        Words(0, 20, HOSTILE, bold=True),
        Words(0, 60, "two lines of words", wide=80, most=2),
    )
    text = str(html.svg(Drawing(80, parts), HOSTILE))
    root = ElementTree.fromstring(text)
    assert [child.tag for child in root] == ["rect", "path", "circle", "text", "text"]
    assert "".join(root[3].itertext()).startswith("</text><script>alert(1)</script>")
    assert " ".join("".join(root[4].itertext()).split()) == "two lines of words"
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e]", text)


def test_every_colour_is_in_the_style_sheet_for_light_dark_and_paper_and_in_the_pictures() -> None:
    names = set(get_args(Paint)) - {"none"}
    assert set(raster.COLOURS) == {*names, "none"}
    blocks = re.findall(r":root \{(.*?)\}", CSS, re.S)
    assert len(blocks) == 3
    for block in blocks:
        assert names <= set(re.findall(r"--([a-z-]+):", block))
    light = dict(re.findall(r"--([a-z-]+): (#\w+);", blocks[0]))
    assert all(raster.COLOURS[name] == light[name] for name in get_args(Paint) if name != "none")
    assert dict(re.findall(r"--([a-z-]+): (#\w+);", blocks[2])) == light, "paper is light"


def grey(colour: str) -> float:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_right_wrong_and_inherited_stay_apart_in_grey() -> None:
    for block in some(re.findall(r":root \{(.*?)\}", CSS, re.S)):
        known = dict(re.findall(r"--([a-z-]+): (#\w+);", block))
        levels = sorted(grey(known[name]) for name in ("warm", "cool", "pale"))
        assert min(after - before for before, after in pairwise(levels)) > 10


def test_figures_speak_the_language_of_the_page() -> None:
    view = content.build(sized(), figures.draw(sized()))
    text = html.render(translated(view, "ja"))
    shown = [" ".join("".join(root.itertext()).split()) for root in map(ElementTree.fromstring, svgs(text))]
    assert len(shown) == len(figures.NAMES) - 1
    assert any("H100 について公表された値" in one and "この段階で失われる分" in one for one in shown)
    assert any("参照実装が先" in one and "正しい" in one for one in shown)
    assert not any(re.search(r"\b(wrong|right|published|claim first)\b", one, re.I) for one in shown)


def test_the_figures_of_a_page_have_no_names_that_could_collide(tmp_path: Path) -> None:
    report.render(sized(), tmp_path, Form("en", ("html",)))
    found = svgs((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert len(found) == len(figures.NAMES) - 1
    assert not any(re.search(r"\b(id|class|href|clip-path)=|url\(", one) for one in found)


def test_a_map_of_too_many_pieces_stays_a_picture() -> None:
    board = [[float((row + column) % 2) for column in range(24)] for row in range(24)]
    record = triangular()
    found = tuple(with_map(one, board) for one in record.findings)
    drawn, usual = maps.coverage(record.model_copy(update={"findings": found})), maps.coverage(record)
    assert drawn is not None and drawn.drawing is None and drawn.png.startswith(b"\x89PNG")
    assert usual is not None and usual.drawing is not None


def with_map(one: Finding, board: list[list[float]]) -> Finding:
    if one.probe != maps.COVERAGE:
        return one
    return one.model_copy(update={"evidence": {**one.evidence, "map": board}})


def test_a_map_shows_each_share_where_it_is() -> None:
    finding = Finding.model_validate({"probe": "coverage", "target": "k", "outcome": "fail", "grade": "proved",
                                      "summary": "s", "evidence": {"map": [[0.0, 1.0], [0.5, 0.5]]}})  # fmt: skip
    drawn = maps.drawn([(finding, "k", "half")], alt="a", caption="c").drawing
    assert drawn is not None
    half = maps.SIDE / 2
    cells = [(one.left, one.wide, one.tall, one.fill) for one in drawn.parts
             if isinstance(one, Box) and one.tall >= half and one.fill in ("cool", "mid")]  # fmt: skip
    assert cells == [(half, half, half, "cool"), (0, 2 * half, half, "mid")]


def test_a_wrong_result_has_a_map_beside_that_of_a_right_one() -> None:
    record = triangular()
    drawn = maps.errors(record)
    assert drawn is not None and drawn.drawing is not None
    assert "N = 255" in drawn.alt and "claimed: 32,385 of 65,025 elements wrong" in drawn.alt
    assert ": 0 of 65,025 elements wrong" in drawn.alt, "of the variant that passed"
    cells = [one for one in drawn.drawing.parts if isinstance(one, Box) and one.top >= 24 + maps.HEAD]
    claimed = [one for one in cells if one.left < maps.SIDE]
    wrong = sum(one.wide * one.tall for one in claimed if one.fill == "warm")
    assert wrong == pytest.approx(maps.SIDE**2 * 63 / 128), "the cells below the diagonal"
    other = [one for one in cells if one not in claimed]
    assert {one.fill for one in other} == {"cool", "none"}, "all of it right"


def test_a_map_of_several_outputs_names_its_own() -> None:
    record = triangular()
    found = tuple(
        one.model_copy(update={"evidence": {**one.evidence, "worst": {**one.evidence["worst"], "output": 2}}})
        if isinstance(one.evidence.get("worst"), dict)
        else one
        for one in record.findings
    )
    drawn = maps.errors(record.model_copy(update={"findings": found}))
    assert drawn is not None
    assert "claimed: 32,385 of 65,025 elements wrong in all outputs; map: output 2" in drawn.caption


@pytest.mark.parametrize(
    ("seen", "told", "sides"),
    [
        ({"elements": 300, "elements_written": 128, "rows": 1, "rows_written": 1}, "128 of 300 elements",
         "elements 0 to 299"),
        ({"elements": 300, "elements_written": 0, "rows": 1, "rows_written": 0}, "0 of 300 elements",
         "elements 0 to 299"),
        ({"elements": 90, "elements_written": 18, "rows": 15, "rows_written": 3}, "3 of 15 rows",
         "15 rows, 6 columns"),
        ({"elements": 90, "elements_written": 89, "rows": 15, "rows_written": 15}, "89 of 90 elements",
         "15 rows, 6 columns"),
        ({"elements": 80, "elements_written": 72, "rows": 9, "rows_written": 8, "output": 1}, "72 of 80 elements",
         "72 of 80 elements written in all outputs; map: output 1"),
    ],
)  # fmt: skip
def test_a_map_is_worded_by_the_shape_of_the_output(seen: dict[str, int], told: str, sides: str) -> None:
    drawn = maps.coverage(with_coverage(**seen))
    assert drawn is not None and drawn.drawing is not None
    words = [one.text for one in drawn.drawing.parts if isinstance(one, Words)]
    assert any(one.startswith(f"{told} written") for one in words) and sides in words
    assert f"claimed: {told} written" in drawn.caption


def test_a_single_element_has_no_map() -> None:
    assert maps.coverage(with_coverage(elements=1, elements_written=0, rows=1, rows_written=0)) is None


def with_coverage(**seen: int) -> Record:
    """A record whose claimed kernel wrote that much, and no other."""
    record = triangular()
    found = [one for one in record.findings if (one.probe, one.target) == ("coverage", "claimed")]
    evidence = {key: value for key, value in found[0].evidence.items() if key == "map"}
    return record.model_copy(update={"findings": (found[0].model_copy(update={"evidence": evidence | seen}),)})


def test_a_right_result_and_a_record_without_a_map_have_no_picture_of_what_is_wrong() -> None:
    assert maps.errors(triangular(defects=False)) is None
    older = triangular()
    found = tuple(
        one.model_copy(update={"evidence": {key: value for key, value in one.evidence.items() if key != "worst"}})
        for one in older.findings
    )
    assert maps.errors(older.model_copy(update={"findings": found})) is None


def test_the_picture_of_what_is_wrong_stands_on_page_one_where_all_is_written() -> None:
    record = triangular()
    written = tuple(one for one in record.findings if one.probe != maps.COVERAGE)
    for findings, name in ((record.findings, maps.COVERAGE), (written, maps.ERRORS)):
        changed = record.model_copy(update={"findings": findings})
        (verdict, *_) = content.build(changed, figures.draw(changed)).sections
        assert [one.name for one in verdict.figures] == [name]


def test_the_same_drawing_is_the_same_svg_in_any_number_of_pages() -> None:
    one = next(figure for figure in figures.draw(raced()) if figure.name == "waterfall")
    assert one.drawing is not None
    again = next(figure for figure in figures.draw(raced()) if figure.name == "waterfall")
    assert html.svg(one.drawing, one.alt) == html.svg(again.drawing or one.drawing, again.alt)


def test_paints_are_no_words_to_be_translated() -> None:
    from audit.report.view import MARKS

    for shape in (Box, Stroke, Dot, Words):
        names = {field.name for field in fields(shape) if field.type in ("Paint", "Anchor")}
        assert names and all((shape.__name__, name) in MARKS for name in names)


def svgs(text: str) -> list[str]:
    return re.findall(r"<svg.*?</svg>", text, re.S)
