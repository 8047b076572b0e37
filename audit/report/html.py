"""View → one self-contained HTML file: inline style, inline figures, no script, no network."""

from __future__ import annotations

import base64
import re

from markupsafe import Markup

from audit.model import sanitizer
from audit.report.drawing import LINE, WIDE, Box, Dot, Drawing, Paint, Part, Stroke, Words
from audit.report.markdown import environment
from audit.report.messages import of_templates
from audit.report.view import Block, Code, Link, Quoted, Report

SHEET = '<svg viewBox="-4 0 {} {}" role="img" aria-label="{}">\n'
RECT = '<rect x="{}" y="{}" width="{}" height="{}" style="{}"/>\n'
CIRCLE = '<circle cx="{}" cy="{}" r="{}" style="{}"/>\n'
PATH = '<path d="M{} {}L{} {}" style="{}"/>\n'
TEXT = '<text x="{}" y="{}" font-size="{}" text-anchor="{}"{} style="{}">'
NEXT = '<tspan x="{}" y="{}">{}</tspan>'
TIED = re.compile(r"(?<=\d) (?=(?:ms|s|%)\b|%)| (?== \d)|(?<= =) (?=\d)")
"""Blanks where no line ends: between a number and its unit, and around the sign of a size."""
CENTRED = 0.35
"""From the middle of a line down to its baseline, as a share of the height of its letters."""


def render(report: Report, *, template: str = "report.html.j2", **shown: object) -> str:
    """Return the HTML text; another template extends that of a report and shows more values by their names."""
    return _ENVIRONMENT.get_template(template).render(report=report, words=of_templates(report.language), **shown)


def value(shown: object) -> object:
    """Return any value with its visible characters only; jinja2 escapes it unless it is markup made here."""
    if isinstance(shown, Markup):
        return shown
    if isinstance(shown, Code):
        return Markup("<code>{}</code>").format(sanitizer.line(shown))
    if isinstance(shown, Block):
        return sanitizer.block(shown)
    if isinstance(shown, Quoted):
        return Markup('<span lang="en">{}</span>').format(sanitizer.line(shown))
    if isinstance(shown, Link):
        return link(sanitizer.line(shown))
    return TIED.sub("\u00a0", sanitizer.line(str(shown)))


def link(address: str) -> str:
    """Return a link that sends no referrer, for a plain web address; other text stays text."""
    if not sanitizer.ADDRESS.fullmatch(address):
        return address
    return Markup('<a href="{0}" rel="noopener noreferrer nofollow">{0}</a>').format(address)


def picture(png: bytes) -> Markup:
    """Return a PNG as an inline address."""
    return Markup("data:image/png;base64,") + base64.b64encode(png).decode("ascii")


def svg(drawing: Drawing, alt: str) -> Markup:
    """Return a drawing as an SVG element without id, script or font; its colours are those of the page."""
    head = Markup(SHEET).format(_n(WIDE + 8), _n(drawing.tall), sanitizer.line(alt))
    return head + Markup().join(map(_svg_part, drawing.parts)) + Markup("</svg>")


def _svg_part(part: Part) -> Markup:
    if isinstance(part, Box):
        numbers = map(_n, (part.left, part.top, part.wide, part.tall))
        return Markup(RECT).format(*numbers, _fill(part.fill) + _edge(part.edge, 1, dashed=part.dashed))
    if isinstance(part, Stroke):
        return Markup(PATH).format(*map(_n, (*part.start, *part.end)), _edge(part.paint, part.thick, part.dashed))
    if isinstance(part, Dot):
        return Markup(CIRCLE).format(*map(_n, (part.x, part.y, part.radius)), _fill(part.fill) + _edge(part.edge, 1.6))
    return _svg_words(part)


def _svg_words(part: Words) -> Markup:
    lines = part.lines(sanitizer.line(part.text))
    places = [part.first(len(lines)) + (place * LINE + CENTRED) * part.size for place in range(len(lines))]
    weight = Markup(' font-weight="bold"') if part.bold else ""
    head = Markup(TEXT).format(_n(part.x), _n(places[0] if places else part.y), _n(part.size), part.anchor, weight,
                               _fill(part.paint))  # fmt: skip
    spans = (Markup(NEXT).format(_n(part.x), _n(y), line) for y, line in zip(places[1:], lines[1:], strict=True))
    return head + Markup(" ").join([Markup.escape("".join(lines[:1])), *spans]) + Markup("</text>\n")


def _fill(paint: Paint) -> str:
    return "fill:none" if paint == "none" else f"fill:var(--{paint})"


def _edge(paint: Paint, thick: float, dashed: bool = False) -> str:
    if paint == "none":
        return ""
    return f";stroke:var(--{paint});stroke-width:{_n(thick)}" + (";stroke-dasharray:4 3" if dashed else "")


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


_ENVIRONMENT = environment(autoescape=True, finalize=value)
_ENVIRONMENT.filters |= {"picture": picture, "svg": svg}
