"""Drawing → SVG inside an HTML page: no id, no script, no font; colours are those of the page, light or dark."""

from __future__ import annotations

from markupsafe import Markup

from audit.model import sanitizer
from audit.report.drawing import LINE, Box, Dot, Drawing, Paint, Part, Stroke, Words

SHEET = '<svg viewBox="-4 0 {} {}" role="img" aria-label="{}">\n'
RECT = '<rect x="{}" y="{}" width="{}" height="{}" style="{}"/>\n'
CIRCLE = '<circle cx="{}" cy="{}" r="{}" style="{}"/>\n'
PATH = '<path d="M{} {}L{} {}" style="{}"/>\n'
TEXT = '<text x="{}" y="{}" font-size="{}" text-anchor="{}"{} style="{}">'
NEXT = '<tspan x="{}" y="{}">{}</tspan>'
CENTRED = 0.35
"""From the middle of a line down to its baseline, as a share of the height of its letters."""


def svg(drawing: Drawing, alt: str) -> Markup:
    """Return the element; a text of others stays text."""
    head = Markup(SHEET).format(_n(drawing.wide + 8), _n(drawing.tall), sanitizer.line(alt))
    return head + Markup().join(map(_part, drawing.parts)) + Markup("</svg>")


def _part(part: Part) -> Markup:
    if isinstance(part, Box):
        numbers = map(_n, (part.left, part.top, part.wide, part.tall))
        return Markup(RECT).format(*numbers, _fill(part.fill) + _edge(part.edge, 1, dashed=part.dashed))
    if isinstance(part, Stroke):
        return Markup(PATH).format(*map(_n, (*part.start, *part.end)), _edge(part.paint, part.thick, part.dashed))
    if isinstance(part, Dot):
        return Markup(CIRCLE).format(*map(_n, (part.x, part.y, part.radius)), _fill(part.fill) + _edge(part.edge, 1.6))
    return _words(part)


def _words(part: Words) -> Markup:
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
