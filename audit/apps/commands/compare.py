"""`audit compare RECORD…`: one claim on several GPUs, side by side."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit import judge
from audit.report import compare, portability, terminal


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("records", type=Path, nargs="+", metavar="RECORD", help="record.json files of one claim")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write compare.md, compare.html and a figure there")
    parser.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Prints the table; writes the page where a folder is given."""
    records = [judge.opened(path) for path in options.records]
    terminal.say(*compare.compare(records).splitlines())
    if options.out is not None:
        written = portability.write(records, options.out)
        terminal.say("", f"wrote {', '.join(str(path) for path in written)}")
    return 0
