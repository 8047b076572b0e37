"""`audit verify BUNDLE`: is a bundle whole, and does its verdict follow from its samples; builds and runs nothing."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit.apps.bundle import Unsound, verify
from audit.report import terminal


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="a zip that `audit bundle` made")
    parser.add_argument("--sha256", metavar="HEX", help="what the zip's SHA-256 must be, as its maker told")
    parser.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Returns 0 for a sound bundle and 1 for any other, with one sentence."""
    try:
        found = verify(options.bundle)
        if options.sha256 not in (None, found.sha256):
            raise Unsound(f"the zip has SHA-256 {found.sha256}, not the one asked for")
    except Unsound as error:
        terminal.warn(f"{options.bundle}: not sound: {error}")
        return 1
    record = found.record
    evidence = f"{len(record.findings)} findings and {sum(len(one.samples_ms) for one in record.measurements)} samples"
    terminal.say(f"{options.bundle}: sound: {len(found.manifest.files)} files as listed, sha256 {found.sha256}")
    terminal.say(f"{found.manifest.claim}: {record.verdict.name}, derived again from {evidence}")
    before = record.verdict.first_judged
    if before not in (None, record.verdict.name):
        terminal.say(f"{found.manifest.claim}: published as {before}, by the rules of its day")
    return 0
