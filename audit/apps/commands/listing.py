"""`audit list`: the claims that can be audited."""

from __future__ import annotations

import argparse

from audit import claims
from audit.report import terminal


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the command, which has no arguments."""
    parser.set_defaults(command=execute)


def execute(_: argparse.Namespace) -> int:
    """Prints a line a claim."""
    known = claims.names()
    width = max(map(len, known), default=0)
    for name in known:
        claim = claims.load(name).claim
        terminal.say(f"{name:<{width}} {len(claim.variant)} variants  {claim.title}")
    return 0
