"""A text that is everything at once, the stories it is put into, and what an output that holds must look like."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from audit.apps.batch.state import Attempt, End, ItemState, RunState
from audit.model import sanitizer
from audit.report import markdown

HOSTILE = (
    "<script>alert(1)</script> | `tick` ``two`` ![x](http://evil.example/p.png) [l](javascript:x) "
    "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x07 \x9b2J \u202eodd\u2066 ze\u200bro\ufeff \u3164\ufe0f \"quote' "
    "onload=x\r\n# heading\n- item\n> said\n---\n```\nfence\n</details></pre></style></textarea><img src=x onerror=y> "
    "$\\frac{a}$ \\(x\\) \\begin{x} www.evil.example @someone #1 &lt; {{ 7*7 }} {% if %} <!-- ]]> "
    "\u2028=cmd|' /C calc'!A0"
)
NAMES = ("=1+1", "../../etc/passwd", "\x1b[2J", "a\nb", "<b>mine</b>", "[x](http://evil.example)", "\u202egnp.exe")
"""What a file, a GPU or a kernel may be called."""
BROKEN = (*NAMES, HOSTILE, "\ud800", "x" * 100_000, "\0")


def unseen(text: str, *, allowed: str = "\n") -> set[str]:
    """The characters of an output that nobody sees, or that move what is seen."""
    return {letter for letter in text if letter not in allowed and not sanitizer.is_seen(letter)}


class Page(HTMLParser):
    """The elements of a page with the names of their attributes, and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[tuple[str, tuple[str, ...]]] = set()
        self.leads: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps one element."""
        self.elements.add((tag, tuple(sorted(name for name, _ in attrs))))
        places = (value or "" for name, value in attrs if name in ("href", "src", "srcset", "action", "style"))
        self.leads |= {place for place in places if not place.startswith("data:image/png;base64,")}


def marked_up(text: str) -> list[str]:
    """What in a Markdown text is a mark of somebody else's: tags, links, images, mentions, formulas, headings."""
    outside = re.sub(r"(?ms)^(`{3,})\w*$.*?^\1$", "", text)
    found = re.findall(r"<(?!/?(?:details|summary|b|code)>)[^>\n]*>", outside)
    found += re.findall(r"(?<!\\)\]\((?!figures/)[^)\n]*", outside)
    found += re.findall(r"@\w|(?<!&)#\d|\bwww\.|://", outside)
    found += re.findall(r"(?<![\\>])\$|\\\\?\(|\\\\?begin", outside)
    return found + re.findall(r"(?m)^(?:#+ heading|- item|> said)", outside)


def columns_of(text: str) -> list[set[int]]:
    """For every table of a Markdown text, how many bars its lines have."""
    tables = re.findall(r"(?:^\|.*\n?)+", text, re.M)
    return [{len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()} for block in tables]


def batch(text: str) -> tuple[RunState, list[ItemState]]:
    """A batch of five items whose every text is that one."""
    end = End(returncode=0, seconds=1.0)
    failed = Attempt(stage="notebook", outcome="failed", reasons=(text,), end=end, started_utc="2026-11-21T00:00:01")
    finished = failed.model_copy(update={"outcome": "finished", "verdict": "wrong", "reasons": ()})
    settled = Attempt(stage="lint", outcome="settled", verdict=text, reasons=(text,))
    passed = Attempt(stage="review", outcome="no answer", reasons=(text,), hints=1)
    out = Attempt(stage="lint", outcome="left out", verdict=text, reasons=(text,))
    items = [
        ItemState(item=f"{text}{place}", sha256="0" * 64, attempts=attempts)
        for place, attempts in enumerate(((failed,), (failed, finished), (settled,), (passed,), (out,)))
    ]
    return RunState(collection=text, items=5, seed=1, notes=(text,)), items


def poisoned(value: Any, text: str, kept: frozenset[str], key: str = "") -> Any:
    """A JSON document with every text but those under the keys kept replaced."""
    if isinstance(value, dict):
        return {name: poisoned(entry, text, kept, name) for name, entry in value.items()}
    if isinstance(value, list):
        return [poisoned(entry, text, kept, key) for entry in value]
    return text if isinstance(value, str) and key not in kept else value


def shown(text: str) -> str:
    """The text as Markdown."""
    return str(markdown.value(text))
