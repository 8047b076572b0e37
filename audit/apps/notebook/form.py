"""The form of a notebook: the fields a person fills in, which are also its papermill parameters; checked strictly."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, ValidationError

from audit.model.base import Frozen
from audit.model.errors import BadInput

LEAST_ROUNDS, MOST_ROUNDS = 12, 120
QUOTE = ": in a parameters file quote it, for unquoted 2.10 is read as 2.1 and 12e4567 may be a number"
INJECTED = "# Parameters"
"""First line of the cell that papermill puts behind the form."""


class Form(Frozen):
    """The fields of one notebook."""

    @classmethod
    def read(cls, **fields: Any) -> Self:
        """The form, once every field is known and of its type. Raises BadInput: the first field that is not, in one
        sentence."""
        for name in injected(_cells()):
            if name not in cls.model_fields:
                raise BadInput(f"parameter {name}: unknown; known: {', '.join(cls.model_fields)}")
        try:
            return cls(**fields)
        except ValidationError as error:
            first = error.errors()[0]
            text = f"parameter {first['loc'][0]}: {first['msg']}; it is {first['input']!r}"
            number = first["type"] == "string_type" and isinstance(first["input"], int | float)
            raise BadInput(f"{text}{QUOTE if number else ''}") from error


class WritingForm(Form):
    """The fields of a notebook that writes files.

    An empty `out` means a folder under `out/`; an empty `copy_to` means no copy; without `interactive` nothing is
    offered for download and nothing is asked for.
    """

    out: str = ""
    copy_to: str = ""
    interactive: bool = True


class AuditForm(WritingForm):
    """The fields of a notebook that runs audits; with `network_off` these, and the notebook of one, have no network."""

    device: Literal["auto", "cuda", "emulated"] = "auto"
    language: Literal["en", "ja"] = "en"
    network_off: bool = False


class OneAuditForm(AuditForm):
    """The fields of a notebook that runs one audit.

    `rounds` is the least number of rounds a timing session takes, in each of which every callable is timed in a new
    order; a `seed` of 0 draws one. `NOTEBOOK` is the notebook whose form it is.
    """

    NOTEBOOK: ClassVar[str]
    rounds: int = Field(default=LEAST_ROUNDS, ge=LEAST_ROUNDS, le=MOST_ROUNDS)
    seed: int = Field(default=0, ge=0)


def folder(form: WritingForm, name: str) -> Path:
    """The folder of the results; `name` is used where the form leaves it open."""
    return Path(form.out or f"out/{name}")


def injected(cells: Sequence[str]) -> list[str]:
    """The names that papermill set, from the cells a kernel has run: papermill takes unknown ones and only warns."""
    return [
        target.id
        for cell in cells
        if cell.startswith(INJECTED)
        for statement in ast.parse(cell).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    ]


def _cells() -> Sequence[str]:
    """The cells this kernel has run; none outside a notebook, where nothing has imported IPython."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return () if shell is None else list(shell.user_ns.get("In", ()))
