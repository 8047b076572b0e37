"""`audit import SOURCE…`: a claim as others publish it, as a claim folder; nothing of it is run."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.material import Given
from audit.model.errors import BadInput
from audit.report import terminal


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("source", type=Path, nargs="+", metavar="SOURCE", help="files of one claim, or one folder")
    parser.add_argument("--to", type=Path, metavar="DIR", help="the claim folder to make (default: kernels/NAME)")
    parser.add_argument("--format", choices=tuple(importers.IMPORTERS), help="where the content should not decide")
    parser.add_argument(
        "--row", type=int, metavar="N", help="the row of a table, the cell of a notebook or the workload; from 1"
    )
    parser.add_argument("--select", metavar="COLUMN=VALUE", help="the row of a table with that value")
    parser.add_argument("--unit", metavar="UNIT", help="of published times: ms, us, s or ns")
    parser.add_argument("--gpu", metavar="NAME", help="where published figures were taken, if the source does not say")
    parser.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Prints what was found, what was chosen and what is missing; returns 0 also where something is."""
    given = Given(row=options.row, select=_pair(options.select), unit=options.unit, gpu=options.gpu)
    imported = importers.read(options.source, given=given, format_=options.format)
    folder = writer.write(imported, options.to)
    terminal.say(*importers.lines(imported, folder))
    return 0


def _pair(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise BadInput(f"--select {text}: write COLUMN=VALUE, for example Task_ID=15")
    return name, value
