"""View → GitHub-flavoured Markdown. Every value is escaped unless a filter of this file made it."""

from __future__ import annotations

import html
import re

from audit.model import sanitizer
from audit.report.templating import environment
from audit.report.view import Block, Code, Link, Report, Table

SPECIAL = re.compile(r"([`*_\[\]|~$#!])")
SIMPLE = re.compile(r"[A-Za-z0-9_.,:=+/ -]*[A-Za-z0-9_=]")
ZERO_WIDTH = "&#8203;"
BACKSLASH = f"&#92;{ZERO_WIDTH}"
"""Before a bracket or `begin` a notebook would take the plain one for the start of a formula."""
OPEN = ("verdict", "rating")
"""The sections that a comment shows unfolded."""


class Safe(str):
    """Markdown made here, not to be escaped again."""

    __slots__ = ()


def render(report: Report, *, figures: str = "", template: str = "report.md.j2") -> str:
    """The Markdown text; `figures` is the folder of the PNGs, relative to it, empty where they are told in words."""
    text = _ENVIRONMENT.get_template(template).render(report=report, figures=Safe(figures), open=OPEN)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def value(shown: object) -> Safe:
    """Any value as Markdown that renders as exactly its visible characters."""
    if isinstance(shown, Safe):
        return shown
    if isinstance(shown, Code):
        return code(shown)
    if isinstance(shown, Link):
        return link(shown)
    return escape(str(shown))


def escape(text: str) -> Safe:
    """One line without Markdown, HTML, links, mentions or references in it."""
    told = sanitizer.line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    told = SPECIAL.sub(r"\\\1", told.replace("\\", BACKSLASH)).replace("://", "&#58;//").replace("@", f"@{ZERO_WIDTH}")
    told = re.sub(r"\\#(?=\d)", rf"\\#{ZERO_WIDTH}", told)
    told = re.sub(r"(?i)\b(www)\.", r"\1&#46;", told)
    told = re.sub(r"^([-+=])", r"\\\1", told)
    return Safe(re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", told))


def code(text: str) -> Safe:
    """A code span where nothing in it can end one; else escaped text."""
    told = sanitizer.line(text)
    return Safe(f"`{told}`") if SIMPLE.fullmatch(told) and not told.startswith(" ") else escape(told)


def link(text: str) -> Safe:
    """A link for a plain web address; anything else stays text."""
    told = sanitizer.line(text)
    return Safe(f"<{told}>") if sanitizer.ADDRESS.fullmatch(told) else escape(told)


def fence(text: Block) -> Safe:
    """A fenced block whose fence is longer than any run of backticks in it."""
    told = sanitizer.block(text)
    longest = max((len(run) for run in re.findall("`+", told)), default=0)
    mark = "`" * max(3, longest + 1)
    return Safe(f"{mark}text\n{told}\n{mark}")


def tag(text: str) -> Safe:
    """One line inside an HTML tag, where Markdown is not read; mentions and references would still be."""
    told = html.escape(sanitizer.line(text)).replace("@", f"@{ZERO_WIDTH}")
    return Safe(re.sub(r"(?<!&)#(?=\d)", f"#{ZERO_WIDTH}", told))


def table(shown: Table) -> Safe:
    """A pipe table."""
    rule = " | ".join("---:" if place in shown.numeric else "---" for place in range(len(shown.columns)))
    rows = [" | ".join(value(cell) for cell in row) for row in (shown.columns, *shown.rows)]
    lines = [rows[0], rule, *rows[1:]]
    return Safe("\n".join(f"| {line} |" for line in lines))


_ENVIRONMENT = environment(autoescape=False, finalize=value)
_ENVIRONMENT.filters |= {"fence": fence, "made": Safe, "tag": tag, "table": table}
