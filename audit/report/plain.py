"""Text that others wrote, made safe to show: no terminal escapes, no control or direction characters."""

from __future__ import annotations

import re
import unicodedata

LINE_CHARACTERS = 1000
BLOCK_CHARACTERS = 4000
TERMINAL_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
# Control, format (direction overrides, zero widths) and lone surrogates: unseen, or able to reorder what is seen.
HIDDEN = frozenset({"Cc", "Cf", "Cs"})


def line(text: str, *, limit: int = LINE_CHARACTERS) -> str:
    """One line of visible characters, at most `limit` of them; a longer text ends in an ellipsis."""
    return _shortened(" ".join(_visible(text).split()), limit)


def block(text: str, *, limit: int = BLOCK_CHARACTERS) -> str:
    """Lines of visible characters, at most `limit` characters; line ends are kept."""
    rows = [_visible(row).rstrip() for row in TERMINAL_ESCAPE.sub("", text).splitlines()]
    return _shortened("\n".join(rows).strip("\n"), limit)


def _visible(text: str) -> str:
    kept = TERMINAL_ESCAPE.sub("", text)
    return "".join(" " if letter in "\t\n\r" else letter for letter in kept if _shown(letter))


def _shown(letter: str) -> bool:
    return letter in "\t\n\r" or unicodedata.category(letter) not in HIDDEN


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
