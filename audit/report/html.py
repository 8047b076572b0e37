"""View → one self-contained HTML file: inline style, inline figures, no script, no network."""

from __future__ import annotations

import base64

from markupsafe import Markup

from audit.model import sanitizer
from audit.report.messages import of_templates
from audit.report.svg import svg
from audit.report.templating import environment
from audit.report.view import Block, Code, Link, Quoted, Report


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
    return sanitizer.line(str(shown))


def link(address: str) -> str:
    """Return a link that sends no referrer, for a plain web address; other text stays text."""
    if not sanitizer.ADDRESS.fullmatch(address):
        return address
    return Markup('<a href="{0}" rel="noopener noreferrer nofollow">{0}</a>').format(address)


def picture(png: bytes) -> Markup:
    """Return a PNG as an inline address."""
    return Markup("data:image/png;base64,") + base64.b64encode(png).decode("ascii")


_ENVIRONMENT = environment(autoescape=True, finalize=value)
_ENVIRONMENT.filters |= {"picture": picture, "svg": svg}
