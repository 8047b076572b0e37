"""View → GitHub-flavoured Markdown. Every value is escaped unless a filter of this file made it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from audit.model import sanitizer
from audit.report.messages import of_templates
from audit.report.view import Code, Link, Report, Table

TEMPLATES = Path(__file__).with_name("templates")
SPECIAL = re.compile(r"[`*_\[\]|~$#!\\]")
SPAN = re.compile(r"(?! )[^`|\\$]+(?<! )")
"""What a code span shows as it is: a backtick ends one, a bar ends the cell around it, a notebook reads formulas."""
ZERO_WIDTH = "&#8203;"
BACKSLASH = f"&#92;{ZERO_WIDTH}"
"""A notebook takes a plain backslash before a bracket or `begin` for the start of a formula."""


class Safe(str):
    """Markdown made here, not to be escaped again."""

    __slots__ = ()


def made(columns: tuple[str, ...], rows: Iterable[Iterable[str]], *numeric: int) -> str:
    """Return a table whose cells are Markdown made here, and the end of its last line."""
    return f"{table(Table('', columns, tuple(tuple(map(Safe, row)) for row in rows), frozenset(numeric)))}\n"


def render(report: Report, *, figures: str = "") -> str:
    """Return the Markdown text; `figures` is the relative folder of the PNGs, empty for their descriptions instead."""
    page = _ENVIRONMENT.get_template("report.md.j2")
    text = page.render(report=report, words=of_templates(report.language), figures=Safe(figures))
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def value(shown: object) -> Safe:
    """Return any value as Markdown that renders as exactly its visible characters."""
    if isinstance(shown, Safe):
        return shown
    if isinstance(shown, Code):
        return code(shown)
    if isinstance(shown, Link):
        return link(shown)
    return escape(str(shown))


def escape(text: str) -> Safe:
    """Return one line without Markdown, HTML, links, mentions or references in it."""
    shown = sanitizer.line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    shown = SPECIAL.sub(lambda found: BACKSLASH if found[0] == "\\" else f"\\{found[0]}", shown)
    shown = shown.replace("://", "&#58;//").replace("@", f"@{ZERO_WIDTH}")
    shown = re.sub(r"\\#(?=\d)", rf"\\#{ZERO_WIDTH}", shown)
    shown = re.sub(r"(?i)\b(www)\.", r"\1&#46;", shown)
    shown = re.sub(r"^([-+=])", r"\\\1", shown)
    return Safe(re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", shown))


def code(text: str) -> Safe:
    """Return a code span where nothing in the text can end one, else escaped text."""
    shown = sanitizer.line(text)
    return Safe(f"`{shown}`") if SPAN.fullmatch(shown) else escape(shown)


def link(text: str) -> Safe:
    """Return a link for a plain web address; other text stays text."""
    shown = sanitizer.line(text)
    return Safe(f"<{shown}>") if sanitizer.ADDRESS.fullmatch(shown) else escape(shown)


def tag(text: str) -> Safe:
    """Return one line for an HTML tag, where Markdown is not read but mentions and references are."""
    shown = html.escape(sanitizer.line(text)).replace("@", f"@{ZERO_WIDTH}")
    return Safe(re.sub(r"(?<!&)#(?=\d)", f"#{ZERO_WIDTH}", shown))


def table(shown: Table) -> Safe:
    """Return a pipe table."""
    rule = " | ".join("---:" if place in shown.numeric else "---" for place in range(len(shown.columns)))
    rows = [" | ".join(value(cell) for cell in row) for row in (shown.columns, *shown.rows)]
    lines = [rows[0], rule, *rows[1:]]
    return Safe("\n".join(f"| {line} |" for line in lines))


def fenced(text: str, language: str) -> Safe:
    """Return a fenced block that no text can end."""
    fence = "`" * (3 + max(map(len, re.findall("`+", text)), default=0))
    return Safe(f"{fence}{language}\n{text.rstrip()}\n{fence}")


def diff(lines: str) -> Safe:
    """Return the lines of a diff as a block, with their visible characters only."""
    return fenced(sanitizer.block(lines), "diff")


def environment(*, autoescape: bool, finalize: Callable[[object], object]) -> Environment:
    """Return an environment that passes every printed value to `finalize` and refuses an unset name."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=autoescape,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


_ENVIRONMENT = environment(autoescape=False, finalize=value)
_ENVIRONMENT.filters |= {"made": Safe, "table": table, "diff": diff}
