"""The task of a notebook as a file: the statements that its inputs and its reference need."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection

from audit.claims.importers.notebook_builds import Called, Compared
from audit.claims.importers.notebook_script import Script, Statement
from audit.claims.python_text import free_names

HEAD = (
    "# Taken from the notebook by `audit import`: the statements that inputs and reference need, as they stand there.\n"
)
MOVES = ("contiguous", "cuda", "to", "clone", "detach", "cpu")
"""Methods that copy a tensor or leave it as it is."""


def task_text(script: Script, called: Called, compared: Compared) -> str | None:
    """Return a source with `get_inputs` and `reference`.

    None where two arguments of the kernel are the same name, or the reference needs more tensors than those arguments.

    Definitions, imports and constants stand at the top level, what makes the arguments in `get_inputs`.
    """
    names = [one.id if isinstance(one, ast.Name) else f"argument_{place}" for place, one in enumerate(called.arguments)]
    if not names or len(set(names)) < len(names):
        return None
    made = ast.List(elts=list(called.arguments), ctx=ast.Load())
    before, of_reference = script.needed(made, called.place), script.needed(compared.reference, compared.place)
    wanted = [script.statements[number] for number in sorted(before | of_reference)]
    alone = _standing_alone(wanted)
    making = [number for number in sorted(before) if not script.statements[number].binds <= alone]
    more = {name for number in of_reference - before for name in script.statements[number].binds} - alone
    same = _same_tensors(script, called, making)
    reference = _Renamed(same).visit(compared.reference)
    if more or not free_names(reference) <= {*names, *alone} | _unbound(script, reference):
        return None
    top = [one for one in wanted if one.binds <= alone]
    inputs = textwrap.indent("\n".join(_shown(script.statements[number]) for number in making), " " * 4)
    returned, listed = ", ".join(map(ast.unparse, called.arguments)), ", ".join(names)
    return (
        f"{HEAD}"
        + "\n".join(map(_shown, top))
        + f"\n\n\ndef get_inputs():\n{inputs}\n    return [{returned}]\n"
        + f"\n\ndef reference({listed}):\n    return {ast.unparse(reference)}\n"
    )


def _shown(statement: Statement) -> str:
    decorators = [f"@{ast.unparse(one)}" for one in getattr(statement.node, "decorator_list", [])]  # stand before it
    return "\n".join([f"# cell {statement.cell.number}", *decorators, textwrap.dedent(statement.text)])


def _same_tensors(script: Script, called: Called, making: Collection[int]) -> dict[str, str]:
    """Return other names of the arguments: `x` where an argument is `y = x.contiguous().cuda()`."""
    found: dict[str, str] = {}
    for number in making:
        node = script.statements[number].node
        if not isinstance(node, ast.Assign):
            continue
        target, value = node.targets[0], node.value
        several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts)
        pairs = zip(target.elts, value.elts, strict=True) if several else [(target, value)]  # type: ignore[attr-defined]
        for one, of in pairs:
            if isinstance(one, ast.Name) and one.id in map(_name, called.arguments) and (name := _moved(of)):
                found.setdefault(name, one.id)
    return {name: one for name, one in found.items() if name not in map(_name, called.arguments)}


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _moved(node: ast.expr) -> str:
    """Return the name of what is copied or left as it is; empty for another expression."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MOVES:
        node = node.func.value
    return _name(node)


def _unbound(script: Script, node: ast.AST) -> set[str]:
    """Return the names of an expression that no statement binds, as those of Python itself."""
    bound = {name for statement in script.statements for name in statement.binds}
    return free_names(node) - bound


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Return the name of the argument."""
        return ast.copy_location(ast.Name(self._names.get(node.id, node.id), node.ctx), node)


def _standing_alone(statements: Collection[Statement]) -> set[str]:
    """Return names bound by definitions, imports and constants alone: nothing that draws numbers or needs a device."""
    names = {name for statement in statements for name in statement.binds}
    while True:
        made = {name for one in statements if not _plain(one.node, names) for name in one.binds}
        if not names & made:
            return names
        names -= made


def _plain(statement: ast.stmt, alone: Collection[str]) -> bool:
    """Return whether a statement stands alone if those names do."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return True
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if value is None or isinstance(value, ast.Lambda):
        return value is not None
    nodes = list(ast.walk(value))
    loaded = {node.id for node in nodes if isinstance(node, ast.Name)}
    return loaded <= set(alone) and not any(isinstance(node, ast.Call) for node in nodes)
