"""`audit review FILE…`: what sources alone say; nothing is built or run."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit.report import terminal
from audit.review import command


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="CUDA C++ or Python files")
    parser.add_argument("--json", action="store_true", help="print JSON instead of lines")
    parser.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Prints a line a hint, or the same as JSON."""
    found = command.reviewed(options.files)
    if options.json:
        print(command.as_json(found))
    else:
        terminal.say(*command.lines(found))
    return 0
