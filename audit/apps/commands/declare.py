"""From the signature of a command to its arguments: a parameter's type, default and `Arg` are all argparse needs.

Positional parameters are arguments and keyword-only ones options. A `bool` is a flag, a tuple takes one value or more,
or none where it is an argument with a default; an option given twice takes the values of both. An option without a
default must be given. An underscore at the end keeps a name apart from one of Python's.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from audit.build.device import CHOICES


@dataclass(frozen=True)
class Arg:
    """The help of a parameter; `read` makes the value of the text where the parameter's type does not, `also` are other
    names of an option."""

    help: str
    metavar: str | None = None
    choices: Sequence[str] | None = None
    read: Callable[[str], Any] | None = None
    also: Sequence[str] = ()


Device = Annotated[str, Arg("where the kernels run (default: auto)", choices=CHOICES)]


def declare(parser: argparse.ArgumentParser, command: Callable[..., int]) -> None:
    """Adds an argument for each parameter of the command, under the parameter's name."""
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in signature(command).parameters.items():
        kind, arg = get_args(hints[name])
        options = _options(kind, arg)
        if parameter.kind is not Parameter.KEYWORD_ONLY:
            several = {} if parameter.default is Parameter.empty else {"nargs": "*", "default": parameter.default}
            parser.add_argument(name, **options | several)
        elif parameter.default is Parameter.empty:
            parser.add_argument(_flag(name), dest=name, required=True, **options)
        else:
            parser.add_argument(_flag(name), *arg.also, dest=name, default=parameter.default, **options)


def flags(command: Callable[..., int]) -> list[str]:
    """Return the options of a command."""
    return [_flag(name) for name, one in signature(command).parameters.items() if one.kind is Parameter.KEYWORD_ONLY]


class _More(argparse.Action):
    """Take the values of an option that is given again as more of them."""

    def __call__(self, _: Any, found: argparse.Namespace, values: Any, __: str | None = None) -> None:
        before = getattr(found, self.dest)
        setattr(found, self.dest, values if before is self.default else [*before, *values])


def _flag(name: str) -> str:
    return f"--{name.rstrip('_').replace('_', '-')}"


def _options(kind: Any, arg: Arg) -> dict[str, Any]:
    if kind is bool:
        return {"help": arg.help, "action": "store_true"}
    inner = [one for one in get_args(kind) if one not in (type(None), Ellipsis)]
    several = {"nargs": "+", "action": _More} if get_origin(kind) is tuple else {}
    shown = {"metavar": arg.metavar, "choices": arg.choices}
    read = arg.read or (inner[0] if inner else kind)
    return {"help": arg.help, "type": read, **several, **{key: value for key, value in shown.items() if value}}
