"""The script of a notebook: where its kernel is built, called and compared, and the task of it as a file."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from audit.claims.importers.notebook_cells import Cell, CudaText, plain
from audit.claims.python_text import bound_by
from audit.review.python_tree import last_name

BUILDERS = ("load", "load_inline")
COMPARED = ("allclose", "assert_close", "assert_allclose", "isclose")
TIMED = ("do_bench", "timeit", "Timer")
_Taken = tuple[str, set[str], int]
"""A statement as it stands, the names it binds, its cell."""
HEAD = (
    "# Taken from the notebook by `audit import`: the statements that inputs and reference need, as they stand there.\n"
)


@dataclass(frozen=True)
class Extension:
    """An extension: the cell, the variable that holds it or one named function of it, and the call that builds it."""

    cell: int
    variable: str
    call: ast.Call
    function: str = ""

    @property
    def inline(self) -> bool:
        """Whether it is built from texts."""
        return last_name(self.call.func) == "load_inline"

    def argument(self, name: str, place: int | None = None) -> ast.expr | None:
        """Return a named argument of the call, or the one at that place."""
        named = next((keyword.value for keyword in self.call.keywords if keyword.arg == name), None)
        return named or (self.call.args[place] if place is not None and len(self.call.args) > place else None)


@dataclass(frozen=True)
class Called:
    """A call of the kernel: the function's name and the arguments."""

    cell: int
    function: str
    arguments: tuple[ast.expr, ...]


class Script:
    """The Python cells of a notebook as one script, in order."""

    def __init__(self, several: list[Cell]) -> None:
        self.statements = [(cell, node) for cell in several if cell.tree is not None for node in cell.tree.body]

    def nodes(self) -> Iterator[tuple[int, ast.AST]]:
        """Yield every node with the number of its cell."""
        for cell, statement in self.statements:
            for node in ast.walk(statement):
                yield cell.number, node

    def built(self) -> list[Extension]:
        """Return every extension that a cell binds to a name, itself or a function of it as `load(...).forward`."""
        found = []
        for cell, node in self.nodes():
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                taken = node.value if isinstance(node.value, ast.Attribute) else None
                value, function = (taken.value, taken.attr) if taken is not None else (node.value, "")
                if isinstance(value, ast.Call) and last_name(value.func) in BUILDERS:
                    found.append(Extension(cell, node.targets[0].id, value, function))
        return found

    def called(self, built: Extension) -> Called | None:
        """Return the first call of one of its functions, also through another name for it."""
        aliases = {built.variable: built.function}
        for cell, node in self.nodes():
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                function = self._function(node.value, aliases)
                if function:
                    aliases[node.targets[0].id] = function
            if isinstance(node, ast.Call) and (function := self._function(node.func, aliases)) and not node.keywords:
                return Called(cell, function, tuple(node.args))
        return None

    def needed(self, node: ast.AST) -> set[str]:
        """Return the names that an expression needs, through all their bindings."""
        seen: set[str] = set()
        queue = [node]
        while queue:
            for each in ast.walk(queue.pop()):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id not in seen:
                    seen.add(each.id)
                    queue += self._bindings.get(each.id, [])
        return seen

    @cached_property
    def _bindings(self) -> dict[str, list[ast.AST]]:
        found: dict[str, list[ast.AST]] = {}
        for _, statement in self.statements:
            for name in bound_by(statement):
                found.setdefault(name, []).append(statement)
        return found

    def reference(self, built: Extension) -> tuple[int, ast.expr] | None:
        """Return the reference expression: the other side of a comparison, else the other timed expression."""
        for cell, call in self.calls(COMPARED):
            sides = [self.resolved(one) for one in call.args[:2]]
            ours = [built.variable in self.needed(one) for one in sides]
            if sorted(ours) == [False, True]:
                return cell, sides[ours.index(False)]
        for cell, call in self.calls(TIMED):
            body = call.args[0].body if call.args and isinstance(call.args[0], ast.Lambda) else None
            if body is not None and built.variable not in self.needed(body):
                return cell, body
        return None

    def calls(self, names: Iterable[str]) -> Iterator[tuple[int, ast.Call]]:
        """Yield every call of such a name with its cell, name by name."""
        for name in names:
            for cell, node in self.nodes():
                if isinstance(node, ast.Call) and last_name(node.func) == name:
                    yield cell, node

    def resolved(self, node: ast.expr) -> ast.expr:
        """Return an expression, or the one that the name it is was bound to last."""
        for _ in range(4):
            if not isinstance(node, ast.Name):
                break
            pairs = [(each.targets[0], each.value) for _, each in self.statements if isinstance(each, ast.Assign)]
            bound = [value for target, value in pairs if isinstance(target, ast.Name) and target.id == node.id]
            if not bound:
                break
            node = bound[-1]
        return node

    def _function(self, node: ast.expr, aliases: dict[str, str]) -> str:
        """Return the function of the extension that an expression names; empty for another."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.attr if aliases.get(node.value.id) == "" else ""
        return aliases.get(node.id, "") if isinstance(node, ast.Name) else ""


def build_of(text: CudaText, built: list[Extension]) -> Extension | None:
    """Return the extension that is built from a text: the one that names its variable or its file, or the only one."""
    for one in built:
        for keyword in (*one.call.args, *(each.value for each in one.call.keywords)):
            for node in ast.walk(keyword):
                if isinstance(node, ast.Name) and node.id == text.name:
                    return one
                if isinstance(node, ast.Constant) and node.value == text.text:
                    return one
                if isinstance(node, ast.Constant) and text.file and str(node.value).endswith(text.file):
                    return one
    return built[0] if len(built) == 1 else None


def task_text(script: Script, called: Called, reference: ast.expr) -> str | None:
    """Return a source with `get_inputs` and `reference`.

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
        decorators = [f"@{ast.unparse(one)}" for one in getattr(statement, "decorator_list", [])]  # stand before it
        shown = "\n".join([f"# cell {cell.number}", *decorators, segment])
        (top if bound_by(statement) & alone else making).append((shown, bound_by(statement), cell.number))
    before = script.needed(ast.Tuple(elts=[*called.arguments], ctx=ast.Load()))
    inputs = [one for one, bound, cell in making if bound & before and cell <= called.cell]
    if any(bound & script.needed(reference) - before for _, bound, _ in making):
        return None
    body = textwrap.indent("\n".join(inputs), " " * 4)
    listed = ", ".join(names)
    return (
        f"{HEAD}" + "\n".join(one for one, _, _ in top) + f"\n\n\ndef get_inputs():\n{body}\n    return [{listed}]\n"
        f"\n\ndef reference({listed}):\n    return {ast.unparse(reference)}\n"
    )


def _standing_alone(statements: list[ast.stmt]) -> set[str]:
    """Return names bound by definitions, imports and constants alone: nothing that draws numbers or needs a device."""
    names = {name for statement in statements for name in bound_by(statement)}
    while True:
        made = {name for one in statements if not _plain(one, names) for name in bound_by(one)}
        if not names & made:
            return names
        names -= made


def _plain(statement: ast.stmt, alone: set[str]) -> bool:
    """Return whether a statement stands alone if those names do."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return True
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if value is None or isinstance(value, ast.Lambda):
        return value is not None
    nodes = list(ast.walk(value))
    loaded = {node.id for node in nodes if isinstance(node, ast.Name)}
    return loaded <= alone and not any(isinstance(node, ast.Call) for node in nodes)
