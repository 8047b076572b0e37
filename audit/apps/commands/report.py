"""`audit report RECORD`: the report of a record, rendered again."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit import judge, report
from audit.report import terminal
from audit.report.catalogue import LANGUAGES
from audit.report.formats import DEFAULT, FORMATS, Form, chosen


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("record", type=Path, metavar="RECORD", help="a record.json")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the report (default: beside the record)")
    add_form(parser)
    parser.set_defaults(command=execute)


def add_form(parser: argparse.ArgumentParser) -> None:
    """Declares the language and the formats of a report."""
    names = f"of {', '.join(FORMATS)} (default: {','.join(DEFAULT)})"
    parser.add_argument("--lang", default="en", choices=LANGUAGES, help="language of the report (default: en)")
    parser.add_argument("--formats", default=",".join(DEFAULT), metavar="LIST", help=f"formats, with commas: {names}")


def form(options: argparse.Namespace) -> Form:
    """What the options ask for.

    Raises:
        BadInput: a format is unknown, or needs a browser and none is installed.
    """
    return Form(options.lang, chosen(name.strip() for name in options.formats.split(",") if name.strip()))


def execute(options: argparse.Namespace) -> int:
    """Prints the files written."""
    wanted = form(options)
    for file in report.render(judge.opened(options.record), options.out or options.record.parent, wanted):
        terminal.say(str(file))
    return 0
