"""`audit compare RECORD…`: one claim on several GPUs, side by side."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit.commands.subparsers import Subparsers
from audit.model import store
from audit.report import compare


def add(commands: Subparsers) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("compare", help="records of one claim from several GPUs, side by side")
    parser.add_argument("records", type=Path, nargs="+", metavar="RECORD", help="record.json files of one claim")
    parser.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Prints the table."""
    print(compare.compare([store.read(path) for path in options.records]), end="")
    return 0
