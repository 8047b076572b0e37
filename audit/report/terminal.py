"""Output on a terminal: every line is printed here, so that no text of others moves a cursor."""

from __future__ import annotations

import argparse
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
    encoding = stream.encoding or "utf-8"
    for one in lines or ("",):
        shown = sanitizer.row(one, limit=MOST_CHARACTERS).rstrip()
        stream.write(shown.encode(encoding, "replace").decode(encoding) + "\n")
    stream.flush()


def warn(text: str) -> None:
    """Print one line to stderr, with the beginning of every message of the kit."""
    say(f"audit: {text}", file=sys.stderr)
