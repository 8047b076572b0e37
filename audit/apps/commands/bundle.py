"""`audit bundle RECORD|FOLDER`: all an audit rests on, in one zip."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit.apps.bundle import make, verify
from audit.report import terminal


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("place", type=Path, metavar="RECORD|FOLDER", help="a record.json, or the folder it lies in")
    parser.add_argument(
        "--claim", type=Path, metavar="DIR", help="the claim's folder, if `audit list` does not name it"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the zip (default: named after the folder, beside it)")
    parser.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Prints the path and, once the bundle has been verified, its SHA-256."""
    path = make(options.place, claim=options.claim, out=options.out)
    terminal.say(f"{path}: sha256 {verify(path).sha256}")
    return 0
