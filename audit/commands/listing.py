"""`audit list`: the claims that can be audited."""

from __future__ import annotations

import argparse

from audit import claims
from audit.commands.subparsers import Subparsers


def add(commands: Subparsers) -> None:
    """Declares the command, which has no arguments."""
    commands.add_parser("list", help="the claims that can be audited").set_defaults(command=execute)


def execute(_: argparse.Namespace) -> int:
    """Prints a line a claim."""
    for name in claims.names():
        claim = claims.load(name).claim
        print(f"{name:<20} {len(claim.variant)} variants  {claim.title}")
    return 0
