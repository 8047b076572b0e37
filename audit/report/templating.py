"""Where the templates lie and how strictly they are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).with_name("templates")


def environment(*, autoescape: bool, finalize: Callable[[object], object]) -> Environment:
    """Every value a template prints passes `finalize` first; a name nobody set is an error."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=autoescape,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
