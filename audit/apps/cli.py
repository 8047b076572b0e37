"""The command line: `audit COMMAND`, with the table of `audit/apps/commands/`.

Exit codes: 0 the audit ended, whatever its verdict; 1 the audit itself failed; 2 bad input, or an import that lacks
what an audit needs; 3 the verdict is one that `--fail-on` names; 130 it was interrupted; 141 nobody reads its output.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from audit import __version__
from audit.apps.commands import COMMANDS, FIRST
from audit.model.errors import AuditError, BadInput
from audit.report import terminal

INTERRUPTED, UNREAD = 130, 141
_UNRECOGNISED = "unrecognized arguments: "


class _Parser(terminal.Parser):
    """A parser that says where files stand: argparse takes none behind an option of a command."""

    def error(self, message: str) -> NoReturn:
        """End the program with code 2."""
        behind = message.startswith(_UNRECOGNISED) and not message.startswith(f"{_UNRECOGNISED}-")
        super().error(f"{message}; files and names stand before the options" if behind else message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads wait for work by spinning
    given = sys.argv[1:] if arguments is None else arguments
    options = vars(_parser(next((one for one in given if not one.startswith("-")), "")).parse_args(arguments))
    command: Callable[..., int] = options.pop("command")
    try:
        return command(**options)
    except BadInput as error:
        terminal.warn(str(error))
        return 2
    except AuditError as error:
        terminal.warn(f"the audit itself failed: {error}")
        return 1
    except BrokenPipeError:  # `head` has seen enough; what is still buffered goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    except KeyboardInterrupt:
        terminal.warn("interrupted; a report written so far says incomplete")
        return INTERRUPTED


def _parser(chosen: str) -> argparse.ArgumentParser:
    """The parser with the arguments of the chosen command; of the others only names and help are needed."""
    parser = _Parser(prog="audit", description="Audit published GPU-kernel speedup claims.", **_end(FIRST))
    parser.add_argument("--version", action="version", version=f"audit {__version__}")
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, known in COMMANDS.items():
        command = subparsers.add_parser(name, help=known.help, description=known.help, **_end(known.examples))
        if name == chosen:
            from audit.apps.commands.declare import declare

            module, _, function = known.place.partition(":")
            started = getattr(import_module(f"audit.apps.{module}"), function)
            declare(command, started)
            command.set_defaults(command=started)
    if chosen and chosen not in COMMANDS and (near := difflib.get_close_matches(chosen, COMMANDS, n=1)):
        parser.error(f"there is no command {chosen}; did you mean {near[0]}?")
    return parser


def _end(examples: tuple[str, ...]) -> dict[str, Any]:
    """The options of a parser whose help ends with examples, a line each."""
    lines = ("example:" if len(examples) == 1 else "examples:", *(f"  {one}" for one in examples))
    return {"epilog": "\n".join(lines), "formatter_class": argparse.RawDescriptionHelpFormatter}


if __name__ == "__main__":
    sys.exit(main())
