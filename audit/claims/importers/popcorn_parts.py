"""A leaderboard whose submission has several functions: the results of all of them are the outputs of one call.

`reference_X(...)` of `reference.py` says what is right for the submission's one function whose name ends with `_X`; the
parameters are named as what `generate_inputs` returns. `eval.py` calls that with the sizes that `task.yml` does not
list. Facts: gpu-mode/reference-kernels, `problems/princeton` (2026).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.claims.importers import entries, published
from audit.claims.importers.facts import RMS, Missing, Original, Tolerance
from audit.claims.importers.material import Material
from audit.claims.importers.python_text import PythonText

MAKER, PREFIX = "generate_inputs", "reference_"
ADDED = "a function that calls those of the submission and returns all results"


@dataclass(frozen=True)
class Parts:
    """Files of a submission and its reference, and the functions of both with the places of their arguments.

    `sizes` are those that the `callers` of `generate_inputs` give as one constant.
    """

    submission: Original
    reference: Original
    theirs: Mapping[str, tuple[int, ...]]
    right: Mapping[str, tuple[int, ...]]
    inputs: int
    sizes: Mapping[str, int]
    callers: tuple[Original, ...]

    @property
    def choices(self) -> list[str]:
        """What the sizes are that no test lists."""
        told = ", ".join(f"{name} = {size}" for name, size in self.sizes.items())
        files = ", ".join(one.published_as for one in self.callers)
        return [f"sizes that {files} gives whatever the test: {told}"] if told else []

    def source(self, data: bytes) -> bytes:
        """Return the submission with a function that makes every call."""
        names = [f"input_{place}" for place in range(self.inputs)]
        calls = [f"{name}({', '.join(names[one] for one in places)})" for name, places in self.theirs.items()]
        line = f"def {entries.ENTRY}({', '.join(names)}):\n    return {', '.join(calls)}\n"
        return data + f"{entries.MARK}\n\n{line}".encode()

    def unlisted(self, text: PythonText, claimed: Mapping[str, int]) -> list[Missing]:
        """Return that sizes of `generate_inputs` stand nowhere, where there are such."""
        arguments = text.functions[MAKER].args
        needed = arguments.args[: len(arguments.args) - len(arguments.defaults)]
        names = [one.arg for one in needed if one.arg not in claimed]
        typed = " ".join(f"{one.arg}=64" for one in needed)
        what, how = f"task.yml does not list {', '.join(names)} of {MAKER}", "give eval.py too"
        return [Missing(what, "shapes", how, essential=True, argument=("shape", typed))] if names else []


def find(material: Material) -> Parts | None:
    """Return the one submission and its reference; None where there is none or a function has no counterpart."""
    found = (_parts(material, name, text) for name, text in material.python.items() if MAKER in text.functions)
    return next((one for one in found if one is not None), None)


def tolerance(text: PythonText) -> Tolerance | None:
    """Return the constant RTOL of the reference; None where there is none."""
    value = text.constant("RTOL")
    sentence = f"the leaderboard's own, RTOL = {value} and ATOL of reference.py; {RMS}"
    return Tolerance(float(value), sentence) if isinstance(value, float) and published.positive(value) else None


def _parts(material: Material, file: str, text: PythonText) -> Parts | None:
    names = _returned(text)
    right = {name: _places(one, names) for name, one in text.functions.items() if name.startswith(PREFIX)}
    others = {name: one for name, one in material.python.items() if name != file}
    for name, other in others.items():
        pairs = [[each for each in other.functions if each.endswith(one.removeprefix("reference"))] for one in right]
        theirs = {each[0]: _places(other.functions[each[0]], names) for each in pairs if len(each) == 1}
        if right and len(theirs) == len(right) and None not in {*right.values(), *theirs.values()}:
            kept = {key: places for key, places in right.items() if places is not None}
            own = {key: places for key, places in theirs.items() if places is not None}
            calls = {each: one for each, one in others.items() if any(one.calls(MAKER))}
            files = tuple(material.original(each) for each in calls)
            pair = material.original(name), material.original(file)
            return Parts(*pair, own, kept, len(names), _sizes(text, calls), files)
    return None


def _returned(text: PythonText) -> list[str]:
    """Return the names that `generate_inputs` returns side by side; none where it returns something else."""
    last = text.functions[MAKER].body[-1]
    values = last.value.elts if isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple) else []
    return [one.id for one in values if isinstance(one, ast.Name)]


def _places(function: ast.FunctionDef, names: list[str]) -> tuple[int, ...] | None:
    given = [one.arg for one in function.args.args]
    return tuple(names.index(one) for one in given) if {*given} <= {*names} else None


def _sizes(text: PythonText, others: Mapping[str, PythonText]) -> dict[str, int]:
    """Return the arguments of `generate_inputs` that other files give as one constant, whatever the test."""
    parameters = [one.arg for one in text.functions[MAKER].args.args]
    found: dict[str, set[Any]] = {}
    for other in others.values():
        for call in other.calls(MAKER):
            for name, value in zip(parameters, call.args, strict=False):
                found.setdefault(name, set()).add(other.value(value))
    only = {name: next(iter(values)) for name, values in found.items() if len(values) == 1}
    return {name: value for name, value in only.items() if type(value) is int and value > 0}
