"""The task of a notebook as a file of its own: the statements its inputs and its reference need, as they stand."""

from __future__ import annotations

import ast

from audit.claims.importers.notebook_calls import Called, Script
from audit.claims.importers.notebook_cells import plain
from audit.claims.importers.python_text import bound_by

_Taken = tuple[str, set[str], int]
"""A statement as it stands, the names it binds, its cell."""
HEAD = (
    "# Taken from the notebook by `audit import`: the statements that inputs and reference need, as they stand there.\n"
)


def text(script: Script, called: Called, reference: ast.expr) -> str | None:
    """A source with `get_inputs` and `reference`.

    None where an argument of the kernel is no plain name, or the reference needs more tensors than those arguments.

    Definitions, imports and integer constants stand at the top level, what makes the arguments in `get_inputs`.
    """
    names = [argument.id for argument in called.arguments if isinstance(argument, ast.Name)]
    if len(names) < len(called.arguments) or len(set(names)) < len(names) or not names:
        return None
    needed = script.needed(ast.Tuple(elts=[*called.arguments, reference], ctx=ast.Load()))
    alone = _standing_alone([statement for _, statement in script.statements])
    top: list[_Taken] = []
    making: list[_Taken] = []
    for cell, statement in script.statements:
        if not bound_by(statement) & needed or isinstance(statement, ast.Expr):
            continue
        segment = ast.get_source_segment(plain(cell.text), statement, padded=True) or ""
        shown = "\n".join([f"# cell {cell.number}", _whole(statement, segment)])
        (top if bound_by(statement) & alone else making).append((shown, bound_by(statement), cell.number))
    before = _before(script, names)
    inputs = [one for one, bound, cell in making if bound & before and cell <= called.cell]
    if any(bound & script.needed(reference) - before for _, bound, _ in making):
        return None
    body = "\n".join(_indented(one) for one in inputs)
    listed = ", ".join(names)
    return (
        f"{HEAD}" + "\n".join(one for one, _, _ in top) + f"\n\n\ndef get_inputs():\n{body}\n    return [{listed}]\n"
        f"\n\ndef reference({listed}):\n    return {ast.unparse(reference)}\n"
    )


def _before(script: Script, names: list[str]) -> set[str]:
    """The names that the arguments are made of, themselves among them."""
    return {*names, *script.needed(ast.Tuple(elts=[ast.Name(name, ast.Load()) for name in names], ctx=ast.Load()))}


def _standing_alone(statements: list[ast.stmt]) -> set[str]:
    """Names bound by definitions, imports and constants alone: nothing that draws numbers or needs a device."""
    names = {name for statement in statements for name in bound_by(statement)}
    while True:
        made = {name for one in statements if not _plain(one, names) for name in bound_by(one)}
        if not names & made:
            return names
        names -= made


def _plain(statement: ast.stmt, alone: set[str]) -> bool:
    """Whether a statement stands alone if those names do."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return True
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if value is None or isinstance(value, ast.Lambda):
        return value is not None
    nodes = list(ast.walk(value))
    loaded = {node.id for node in nodes if isinstance(node, ast.Name)}
    return loaded <= alone and not any(isinstance(node, ast.Call) for node in nodes)


def _whole(statement: ast.stmt, segment: str) -> str:
    """The segment with the decorators of a definition, which stand before it."""
    decorators = getattr(statement, "decorator_list", [])
    return "\n".join([*(f"@{ast.unparse(one)}" for one in decorators), segment])


def _indented(segment: str) -> str:
    return "\n".join(f"    {line}" if line.strip() else line for line in segment.splitlines())
