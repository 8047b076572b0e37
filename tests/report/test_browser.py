"""The HTML report as a browser shows it: both languages, light and dark, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from audit import report
from audit.report import figures, formats
from audit.report.formats import Form
from tests.report.devtools import Page
from tests.report.test_times import sized

pytestmark = pytest.mark.skipif(formats.browser() is None, reason="no Chromium or Chrome is installed")
VIEWS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
CONTRAST = """
(() => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => {
    const [r, g, b] = numbers(colour).slice(0, 3).map(v => v / 255).map(
      v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = node => {
    for (let one = node; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (numbers(colour)[3] !== 0) return colour;
    }
  };
  const ratios = [...document.querySelectorAll('p, li, dt, dd, td, th, h1, h2, h3, a, code, caption, figcaption')]
    .filter(node => node.textContent.trim())
    .map(node => [light(getComputedStyle(node).color), light(behind(node))])
    .map(([ink, paper]) => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05));
  return [ratios.length, Math.min(...ratios)];
})()
"""
OUTSIDE = """
[...document.querySelectorAll('body *')].filter(node => {
  const box = node.getBoundingClientRect();
  return box.width && box.right > document.documentElement.clientWidth + 1 && !node.closest('.scroll');
}).map(node => node.tagName + ' ' + node.textContent.slice(0, 60))
"""


WORDS = """
(() => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => {
    const [r, g, b] = numbers(colour).slice(0, 3).map(v => v / 255).map(
      v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const inside = (point, box) =>
    point.x >= box.left && point.x <= box.right && point.y >= box.top && point.y <= box.bottom;
  const page = getComputedStyle(document.body).backgroundColor;
  return [...document.querySelectorAll('svg')].flatMap((svg, figure) => {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map(node => [node, node.getBoundingClientRect()]);
    return texts.map(([node, box], place) => {
      const middle = {x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2};
      const under = [...svg.querySelectorAll('rect')].filter(rect => getComputedStyle(rect).fill !== 'none'
        && inside(middle, rect.getBoundingClientRect())).at(-1);
      const pair = [light(getComputedStyle(node).fill), light(under ? getComputedStyle(under).fill : page)];
      const meets = other => box.left + 1 < other.right && other.left + 1 < box.right
        && box.top + box.height / 4 < other.bottom && other.top + box.height / 4 < box.bottom;
      const over = texts.slice(place + 1).filter(([, other]) => meets(other)).map(([other]) => other.textContent);
      const size = node.getAttribute('font-size') * frame.width / svg.viewBox.baseVal.width;
      return {figure, text: node.textContent, over: over.join(), size,
        outside: box.left < frame.left - 1 || box.right > frame.right + 1,
        contrast: (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)};
    });
  });
})()
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with Page(tmp_path_factory.mktemp("profile")) as one:
        yield one


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("report")
    for language in ("en", "ja"):
        report.render(sized(), made, Form(language, ("html",)))
    return made


@pytest.fixture(scope="module", params=["report.html", "report.ja.html"])
def opened(request: pytest.FixtureRequest, page: Page, folder: Path) -> Page:
    page.open(folder / request.param)
    return page


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_nothing_runs_out_of_the_window(opened: Page, width: int, scheme: str) -> None:
    opened.show(width=width, scheme=scheme)
    opened.value("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert opened.value("document.documentElement.clientWidth") == width
    assert opened.value("document.documentElement.scrollWidth") <= width
    assert opened.value(OUTSIDE) == []


def test_on_a_phone_every_cell_of_a_short_table_is_in_sight_under_its_heading(opened: Page) -> None:
    opened.show(width=390, scheme="light")
    cells = "[...document.querySelectorAll('#checked td')].filter(one => one.textContent)"
    assert opened.value(f"{cells}.length") > 10
    assert opened.value(f"{cells}.every(one => one.getBoundingClientRect().right <= 390)")
    heads = "[...document.querySelectorAll('#checked thead th')].slice(1).map(one => one.textContent)"
    names = "[...document.querySelectorAll('#checked tbody tr')].at(0).querySelectorAll('td')"
    assert opened.value(f"[...{names}].map(one => one.dataset.name)") == opened.value(heads)


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_colours_follow_the_reader_and_keep_their_contrast(opened: Page, width: int, scheme: str) -> None:
    opened.show(width=width, scheme=scheme)
    colour = opened.value("getComputedStyle(document.body).backgroundColor")
    assert colour == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}[scheme]
    count, least = opened.value(CONTRAST)
    assert count > 500
    assert least >= 4.5


def test_paper_is_white_and_holds_everything(opened: Page) -> None:
    opened.value("document.querySelectorAll('details').forEach(one => one.open = false)")
    opened.show(width=720, scheme="dark", media="print")
    assert opened.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.value("document.documentElement.scrollWidth") <= 720
    assert opened.value("[...document.querySelectorAll('.scroll')].every(one => one.scrollWidth <= one.clientWidth)")
    folded = "[...document.querySelectorAll('details')].map(one => one.offsetHeight - one.firstChild.offsetHeight)"
    heights = opened.value(folded)
    assert len(heights) > 4 and min(heights) > 5
    opened.show(width=720, scheme="light")
    assert max(opened.value(folded)) < 40


def test_nothing_is_logged_and_nothing_fetched(opened: Page) -> None:
    logged = [event for event in opened.events if event.get("method") in ("Log.entryAdded", "Runtime.consoleAPICalled",
                                                                          "Runtime.exceptionThrown")]  # fmt: skip
    asked = [event["params"]["request"]["url"] for event in opened.events
             if event.get("method") == "Network.requestWillBeSent"]  # fmt: skip
    assert not logged
    assert asked and all(url.startswith(("file:", "data:")) for url in asked)
    assert len([url for url in asked if url.startswith("file:")]) == 1


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_figures_can_be_read_and_their_words_do_not_overlap(opened: Page, width: int, scheme: str) -> None:
    opened.show(width=width, scheme=scheme)
    opened.value("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = opened.value(WORDS)
    assert {one["figure"] for one in found} == set(range(len(figures.NAMES) - 1)), "of all figures but the sizes"
    assert not [one["text"] for one in found if one["outside"]]
    assert not [(one["text"], one["over"]) for one in found if one["over"]]
    assert min(one["size"] for one in found) >= 9
    assert min(one["contrast"] for one in found) >= 4.5


def test_words_of_a_figure_can_be_selected(opened: Page) -> None:
    opened.value("getSelection().selectAllChildren(document.querySelector('#verdict svg'))")
    assert "fixed_grid2d" in opened.value("getSelection().toString()")


def test_figures_are_there_and_the_page_has_its_landmarks(opened: Page) -> None:
    assert opened.value("[...document.querySelectorAll('svg')].length") == len(figures.NAMES) - 1
    named = "[...document.querySelectorAll('svg')].every(one => one.role === 'img' && one.ariaLabel.length > 40)"
    assert opened.value(named)
    assert not opened.value("document.querySelectorAll('svg [id], svg script, svg [href], img').length")
    for landmark in ("body > header", "body > nav[aria-label]", "body > main", "body > footer"):
        assert opened.value(f"document.querySelectorAll('{landmark}').length") == 1, landmark
    targets = "[...document.querySelectorAll('nav a')].every(one => document.getElementById(one.hash.slice(1)))"
    assert opened.value("document.querySelectorAll('nav a').length") > 10
    assert opened.value(targets)


def test_a_language_is_marked_and_has_faces_of_its_own(opened: Page) -> None:
    language = opened.value("document.documentElement.lang")
    faces = opened.value("getComputedStyle(document.body).fontFamily")
    assert ("Noto Sans CJK JP" in faces) is (language == "ja")
    assert opened.value("document.title").startswith({"en": "Audit: ", "ja": "監査報告: "}[language])
