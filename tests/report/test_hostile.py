"""Text written by others, through every text field of a record: it shows as text and does nothing."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from audit.model import Record, sanitizer
from audit.report import content, figures, html, markdown
from audit.report.formats import COMMENT_CHARACTERS, FORMATS
from audit.report.messages import LANGUAGES
from audit.report.view import Code, Link
from tests.conftest import some
from tests.report.fixture import triangular

HOSTILE = (
    "<script>alert(1)</script> | `tick` ``two`` ![x](http://evil.example/p.png) [l](javascript:x) "
    "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x07 \u202eodd\u2066 \"quote' onload=x\n# heading\n- item\n"
    "```\nfence\n</details></pre><img src=x onerror=y> "
    "$\\frac$ www.evil.example @someone #1 &lt; {{ 7*7 }} <!-- "
)
KEPT = {"sha256", "url", "file", "name", "role", "precision",
        "probe", "target", "outcome", "grade", "state", "fidelity", "emulated_by",
        "published", "kind", "dtype", "mode", "confidence", "variant", "order"}  # fmt: skip


def poisoned(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: poisoned(entry, name) for name, entry in value.items()}
    if isinstance(value, list):
        return [poisoned(entry, key) for entry in value]
    return HOSTILE if isinstance(value, str) and key not in KEPT else value


def hostile_record() -> Record:
    document = poisoned(triangular().model_dump(mode="json", by_alias=True))
    document["claim"]["statement"]["source"]["url"] = f"javascript:alert(1) {HOSTILE}"
    document["device"]["name"] = HOSTILE
    for number, finding in enumerate(document["findings"]):
        finding["evidence"][f"<b>{HOSTILE}</b>"] = HOSTILE
        if number % 2:
            finding["probe"], finding["target"] = HOSTILE, "claimed"
    for speedup in document["claim"]["statement"]["speedup"]:
        speedup["gpu"] = HOSTILE
    for finding in document["findings"]:
        finding["target"] = HOSTILE if finding["probe"] == "floor" else finding["target"]
    for rung in document["ladder"]:
        rung["variant"] = rung["role"] = HOSTILE if rung["variant"] == "no_op" else rung["variant"]
    return Record.model_validate(document, strict=False)


MADE = {(name, language) for name in ("md", "html", "comment", "openreview") for language in LANGUAGES}
MARKDOWN = sorted((name, language) for name, language in MADE if name != "html")


@pytest.fixture(scope="module")
def texts() -> dict[tuple[str, str], str]:
    record = hostile_record()
    view = content.build(record, figures.draw(record))
    return {(name, language): FORMATS[name].make(view, language).decode() for name, language in MADE}


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_tag_or_attribute_of_theirs_reaches_the_html(texts: dict[tuple[str, str], str], language: str) -> None:
    parser = Tags()
    parser.feed(texts["html", language])
    assert not {tag for tag, _ in parser.found} & {"script", "b", "iframe", "link"}
    assert all((attrs["href"] or "").startswith("#") for tag, attrs in parser.found if tag == "a")
    assert not [name for _, attrs in parser.found for name in attrs if name.startswith("on")]
    drawn = [attrs for tag, attrs in parser.found if tag in ("svg", "rect", "circle", "path", "text", "tspan")]
    names = {"role", "aria-label", "viewbox", "style", "x", "y", "width", "height", "cx", "cy", "r", "d", "font-size",
             "font-weight", "text-anchor"}  # fmt: skip
    assert drawn and all(attrs.keys() <= names for attrs in drawn)
    assert not [tag for tag, _ in parser.found if tag == "img"]


@pytest.mark.parametrize("made", MARKDOWN, ids="-".join)
def test_nothing_of_theirs_is_markup_in_the_markdown(texts: dict[tuple[str, str], str], made: tuple[str, str]) -> None:
    outside = texts[made]
    assert not re.findall(r"<[^>\n]*>", outside)
    assert not re.search(r"(?<!\\)\]\((?!figures/)", outside)
    assert "://" not in outside
    assert not re.search(r"(?<!\\)`tick", outside)
    assert not re.search(r"@\w|(?<!&)#\d|\bwww\.", outside)
    assert not re.search(r"(?m)^(# heading|- item)", outside)


@pytest.mark.parametrize("language", LANGUAGES)
def test_tables_keep_their_columns(texts: dict[tuple[str, str], str], language: str) -> None:
    for block in some(re.findall(r"(?:^\|.*\n)+", texts["md", language], re.M)):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_the_short_forms_stay_short(texts: dict[tuple[str, str], str]) -> None:
    for language in LANGUAGES:
        assert 500 < len(texts["comment", language]) <= COMMENT_CHARACTERS
        assert 1000 < len(texts["openreview", language]) <= 4_800


def test_no_control_or_direction_character_is_left(texts: dict[tuple[str, str], str]) -> None:
    for text in some(texts.values()):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]", text)


def test_templates_do_not_run_what_they_print(texts: dict[tuple[str, str], str]) -> None:
    for text in texts.values():
        assert all("49" not in shown for shown in re.findall(r"\{\{.*?\}\}", text))
    assert "{{ 7*7 }}" in texts["html", "ja"]


@pytest.mark.parametrize(
    ("address", "linked"),
    [
        ("https://example.org/a-b?c=d", True),
        ("javascript:alert(1)", False),
        ("https://example.org/\"onclick='x'", False),
        ("data:text/html,x", False),
        ("https://example.org/> <img>", False),
    ],
)
def test_only_plain_web_addresses_become_links(address: str, linked: bool) -> None:
    assert (markdown.link(address) == f"<{address}>") is linked
    assert ("<a " in html.link(address)) is linked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("- item", r"\- item"),
        ("1. one", r"1\. one"),
        ("<b>", "&lt;b&gt;"),
        ("x\ny", "x y"),
        ("http://x.y", "http&#58;//x.y"),
        ("\x1b[1mbold\x1b[0m", "bold"),
        ("a_b*c", r"a\_b\*c"),
        (r"a\b \[", r"a&#92;&#8203;b &#92;&#8203;\["),
    ],
)
def test_escape(text: str, shown: str) -> None:
    assert markdown.escape(text) == shown


def test_code_falls_back_to_escaped_text() -> None:
    assert markdown.value(Code("a_b.cu")) == "`a_b.cu`"
    assert markdown.value(Code("a`b")) == r"a\`b"
    assert markdown.value(Link("ftp://x")) == "ftp&#58;//x"


def test_long_text_is_cut_with_an_ellipsis() -> None:
    assert sanitizer.line("x" * 5000).endswith("…")
    assert len(sanitizer.line("x" * 5000)) == sanitizer.LINE_CHARACTERS
    assert len(sanitizer.block("x\n" * 5000)) <= sanitizer.BLOCK_CHARACTERS
