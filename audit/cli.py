"""The command line: `audit COMMAND`; the commands are the files of `audit/commands/`.

Exit codes: 0 the audit ended, whatever its verdict; 1 the audit itself failed; 2 bad input.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from audit import __version__, terminal
from audit.commands import COMMANDS
from audit.errors import AuditError, BadInput


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except BadInput as error:
        terminal.warn(str(error))
        return 2
    except AuditError as error:
        terminal.warn(f"the audit itself failed: {error}")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = terminal.Parser(prog="audit", description="Audit published GPU-kernel speedup claims.")
    parser.add_argument("--version", action="version", version=f"audit {__version__}")
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(subparsers)
    return parser


if __name__ == "__main__":
    sys.exit(main())
