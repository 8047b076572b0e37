"""Output on a terminal: every line is printed here, so that no text of others moves a cursor."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from typing import TYPE_CHECKING, NoReturn, TextIO

from audit.model import sanitizer

if TYPE_CHECKING:
    from audit.report.view import Tone

MOST_CHARACTERS = 8000
"""The most characters of a line: a row of a wide table fits."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose messages quote an argument without its unseen characters."""

    def error(self, message: str) -> NoReturn:
        """End the program with code 2."""
        super().error(sanitizer.line(message))


def say(*lines: str, file: TextIO | None = None, mark: tuple[str, Tone] | None = None) -> None:
    """Print each text as one line of visible characters; a letter that the encoding lacks becomes "?".

    `mark` is a word in the lines and its tone, by which it is coloured on a terminal.
    """
    stream = file or sys.stdout
    for one in lines or ("",):
        shown = _shown(one, stream, limit=MOST_CHARACTERS)
        stream.write((_coloured(shown, *mark) if mark and _takes_colour(stream) else shown) + "\n")
    stream.flush()


COLOURS: dict[Tone, str] = {"fails": "31", "holds": "32", "open": "33"}
"""SGR parameters (ECMA-48): red, green, yellow."""


def _takes_colour(stream: TextIO) -> bool:
    """Return whether it is a terminal that shows colours, and the user has not asked for none (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def _coloured(line: str, word: str, tone: Tone) -> str:
    before, found, after = line.rpartition(word)
    return f"{before}\x1b[{COLOURS[tone]}m{found}\x1b[0m{after}" if found else line


def rewrite(text: str, *, file: TextIO) -> None:
    """Show the text in place of the terminal's last line, cut to its width; an empty text clears the line."""
    limit = shutil.get_terminal_size().columns - 1
    file.write(_CLEARED + (_shown(text, file, limit=limit) if text else ""))
    file.flush()


_CLEARED = "\r\x1b[K"


def _shown(text: str, stream: TextIO, *, limit: int) -> str:
    encoding = stream.encoding or "utf-8"
    return sanitizer.row(text, limit=limit).rstrip().encode(encoding, "replace").decode(encoding)


def warn(text: str) -> None:
    """Print one line to stderr, with the beginning of every message of the kit."""
    say(f"audit: {text}", file=sys.stderr)
