"""The one way to a terminal: whatever is printed has passed here, so that no text of others moves a cursor."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn, TextIO

from audit.model import sanitizer

MOST_CHARACTERS = 8000
"""Of a line: a row of a wide table, and no more."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose messages quote an argument without what is unseen in it."""

    def error(self, message: str) -> NoReturn:
        """Ends the program with code 2."""
        super().error(sanitizer.line(message))


def say(*lines: str, file: TextIO | None = None) -> None:
    """Prints each text as one line of visible characters; what the terminal's encoding lacks becomes "?"."""
    stream = file or sys.stdout
    encoding = stream.encoding or "utf-8"
    for one in lines or ("",):
        stream.write(
            sanitizer.row(one, limit=MOST_CHARACTERS).rstrip().encode(encoding, "replace").decode(encoding) + "\n"
        )
    stream.flush()


def warn(text: str) -> None:
    """One line to stderr, as every message of the kit begins."""
    say(f"audit: {text}", file=sys.stderr)
