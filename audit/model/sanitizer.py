"""The text sanitizer: untrusted text without terminal escapes, control, direction or unseen characters."""

from __future__ import annotations

import re
import unicodedata

BLANKS = "\t\n\r\u2028\u2029"
"""Hidden characters that a reader sees as a blank."""
LINE_CHARACTERS = 1000
BLOCK_CHARACTERS = 4000
READ = 16
"""So many times the limit are looked at: of a text of megabytes only the beginning is read."""
TERMINAL_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
# Control, format (direction overrides, zero widths), lone surrogates and what is no character: unseen, or able to
# reorder what is seen.
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks without a shape: DerivedCoreProperties.txt of Unicode 14, Default_Ignorable_Code_Point."""
MOST_MARKS = 4
"""Marks over one letter; written languages need three, a pile of them covers the lines above and below."""
ADDRESS = re.compile(r"https?://[A-Za-z0-9._~/%?=&#:+-]+")
"""A web address that may be a link: nothing in it ends an attribute or a Markdown link."""
PILE = re.compile(rf"([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{{{MOST_MARKS}}})"
                  r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")  # fmt: skip


def line(text: str, *, limit: int = LINE_CHARACTERS) -> str:
    """Return one line of visible characters, at most `limit` of them; a longer text ends in an ellipsis."""
    return _shortened(" ".join(_visible(text[: READ * limit]).split()), limit, whole=len(text) <= READ * limit)


def row(text: str, *, limit: int = LINE_CHARACTERS) -> str:
    """As `line`, but blanks stay as they are: a line whose columns were set by us."""
    return _shortened(_visible(text[: READ * limit]), limit, whole=len(text) <= READ * limit)


def block(text: str, *, limit: int = BLOCK_CHARACTERS) -> str:
    """Return lines of visible characters, at most `limit` characters; line ends are kept."""
    rows = [_visible(row).rstrip() for row in TERMINAL_ESCAPE.sub("", text[: READ * limit]).splitlines()]
    return _shortened("\n".join(rows).strip("\n"), limit, whole=len(text) <= READ * limit)


def visible(text: str) -> str:
    """Return a source text with hidden characters named in place, `⟨U+202E⟩`, in the order a compiler reads."""
    return "".join(letter if letter in "\n\t" or is_seen(letter) else f"⟨U+{ord(letter):04X}⟩" for letter in text)


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    kept = TERMINAL_ESCAPE.sub("", text)
    return PILE.sub(r"\1", kept.translate(_SHOWN))


class _Shown(dict[int, str | None]):
    """Character → as it is shown; each is looked up once."""

    def __missing__(self, code: int) -> str | None:
        letter = chr(code)
        self[code] = " " if letter in BLANKS else letter if is_seen(letter) else None
        return self[code]


_SHOWN = _Shown()


def is_seen(letter: str) -> bool:
    """Return whether a character is one that a reader sees and that moves nothing."""
    return unicodedata.category(letter) not in HIDDEN and not UNSEEN.match(letter)


def _shortened(text: str, limit: int, *, whole: bool) -> str:
    return text if whole and len(text) <= limit else text[: limit - 1].rstrip() + "…"
