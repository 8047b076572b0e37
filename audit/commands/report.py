"""`audit report RECORD`: the report of a record, rendered again."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit import report
from audit.commands.subparsers import Subparsers
from audit.model import store


def add(commands: Subparsers) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("report", help="render the report of a record again")
    parser.add_argument("record", type=Path, metavar="RECORD", help="a record.json")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the report (default: beside the record)")
    parser.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Prints the files written."""
    for file in report.render(store.read(options.record), options.out or options.record.parent):
        print(file)
    return 0
