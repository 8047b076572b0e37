"""Output on a terminal: every line is printed here, so that no text of others moves a cursor."""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import NoReturn, TextIO

from audit.model import sanitizer

MOST_CHARACTERS = 8000
"""The most characters of a line: a row of a wide table fits."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose messages quote an argument without its unseen characters."""

    def error(self, message: str) -> NoReturn:
        """End the program with code 2."""
        super().error(sanitizer.line(message))


def say(*lines: str, file: TextIO | None = None) -> None:
    """Print each text as one line of visible characters; a letter that the encoding lacks becomes "?"."""
    stream = file or sys.stdout
    for one in lines or ("",):
        stream.write(_shown(one, stream, limit=MOST_CHARACTERS) + "\n")
    stream.flush()


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
