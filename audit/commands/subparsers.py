"""The type of what `add` gets, which argparse keeps private."""

from __future__ import annotations

import argparse
from typing import Protocol


class Subparsers(Protocol):
    """What argparse's `add_subparsers` returns."""

    def add_parser(self, name: str, *, help: str) -> argparse.ArgumentParser:
        """A parser for one command."""
