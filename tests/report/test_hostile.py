"""Text written by others, through every text field of a record: it shows as text and does nothing."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from audit.model import Record
from audit.report import content, figures, html, markdown, plain
from audit.report.view import Block, Code, Link
from tests.report.fixture import triangular

HOSTILE = (
    "<script>alert(1)</script> | `tick` ``two`` ![x](http://evil.example/p.png) [l](javascript:x) "
    "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x07 \u202eodd\u2066 \"quote' onload=x\n# heading\n- item\n"
    "```\nfence\n</details></pre><img src=x onerror=y> "
    "$\\frac$ www.evil.example @someone #1 &lt; {{ 7*7 }} <!-- "
)
KEPT = {"sha256", "url", "file", "name", "role", "precision",
        "probe", "target", "outcome", "grade", "state", "fidelity",
        "published", "kind", "dtype", "confidence", "variant", "order"}  # fmt: skip


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
        rung["variant"] = rung["role"] = HOSTILE if rung["variant"] == "thief" else rung["variant"]
    return Record.model_validate(document, strict=False)


@pytest.fixture(scope="module")
def texts() -> tuple[str, str]:
    record = hostile_record()
    view = content.build(record, figures.draw(record))
    return markdown.render(view, figures="figures"), html.render(view)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_no_tag_or_attribute_of_theirs_reaches_the_html(texts: tuple[str, str]) -> None:
    parser = Tags()
    parser.feed(texts[1])
    assert not {tag for tag, _ in parser.found} & {"script", "a", "b", "iframe", "link"}
    assert not [name for _, attrs in parser.found for name in attrs if name.startswith("on")]
    images = [attrs["src"] or "" for tag, attrs in parser.found if tag == "img"]
    assert images and all(source.startswith("data:image/png;base64,") for source in images)


def test_nothing_of_theirs_is_markup_in_the_markdown(texts: tuple[str, str]) -> None:
    outside = re.sub(r"(?ms)^(`{3,})text$.*?^\1$", "", texts[0])
    tags = set(re.findall(r"<[^>\n]*>", outside))
    assert tags <= {"<details>", "<summary>", "</summary>", "</details>"}
    assert not re.search(r"(?<!\\)\]\((?!figures/)", outside)
    assert "://" not in outside
    assert not re.search(r"(?<!\\)`tick", outside)
    assert not re.search(r"@\w|(?<!&)#\d|\bwww\.", outside)
    assert not re.search(r"(?m)^(# heading|- item)", outside)


def test_tables_keep_their_columns(texts: tuple[str, str]) -> None:
    for block in re.findall(r"(?:^\|.*\n)+", texts[0], re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_no_control_or_direction_character_is_left(texts: tuple[str, str]) -> None:
    for text in texts:
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]", text)


def test_templates_do_not_run_what_they_print(texts: tuple[str, str]) -> None:
    assert all("49" not in re.findall(r"\{\{.*?\}\}", text)[0] for text in texts)


def test_a_fence_outlasts_the_backticks_in_a_log() -> None:
    text = markdown.fence(Block("a\n`````\nb\x1b[31m"))
    assert text.splitlines() == ["``````text", "a", "`````", "b", "``````"]


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
    ],
)
def test_escape(text: str, shown: str) -> None:
    assert markdown.escape(text) == shown


def test_code_falls_back_to_escaped_text() -> None:
    assert markdown.value(Code("a_b.cu")) == "`a_b.cu`"
    assert markdown.value(Code("a`b")) == r"a\`b"
    assert markdown.value(Link("ftp://x")) == "ftp&#58;//x"


def test_long_text_is_cut_with_an_ellipsis() -> None:
    assert plain.line("x" * 5000).endswith("…")
    assert len(plain.line("x" * 5000)) == plain.LINE_CHARACTERS
    assert len(plain.block("x\n" * 5000)) <= plain.BLOCK_CHARACTERS
