"""The Python cells of a notebook as one script in order: a name is what the last statement before it binds it to."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit.claims.importers.notebook_cells import Cell, plain
from audit.claims.python_text import bound_by, free_names
from audit.review.python_tree import calls_of

COMPARED = ("allclose", "isclose", "assert_close", "assert_allclose", "equal")
_DEFINED = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_DEPTH, MOST = 8, 64
"""Names that an expression is followed through, and statements that make the value of one."""


@dataclass(frozen=True)
class Statement:
    """A statement with its cell; it may stand within a function that takes nothing, which is read as if run. Where its
    text does not stand there, it is `written` by us: the default of a parameter."""

    cell: Cell
    node: ast.stmt
    written: bool = False

    @cached_property
    def binds(self) -> set[str]:
        """The names that it binds."""
        return bound_by(self.node)

    @cached_property
    def takes(self) -> set[str]:
        """The names that it takes from around it."""
        return free_names(self.node)

    @property
    def text(self) -> str:
        """Return it as it stands in its cell."""
        segment = ast.get_source_segment(plain(self.cell.text), self.node, padded=True)
        return ast.unparse(self.node) if self.written or segment is None else segment

    def replaces(self, name: str) -> bool:
        """Return whether nothing of an earlier value of that name is left behind it."""
        plain = isinstance(self.node, ast.Assign) or (
            isinstance(self.node, ast.AnnAssign) and self.node.value is not None
        )
        return isinstance(self.node, _DEFINED) or (plain and name not in self.takes)


class Script:
    """The statements of those cells, numbered from 0; the place of an expression is the number of its statement."""

    def __init__(self, several: list[Cell]) -> None:
        trees = [(cell, node) for cell in several if cell.tree is not None for node in cell.tree.body]
        self.statements = [Statement(cell, *one) for cell, node in trees for one in _as_run(node)]
        self._binding: dict[str, list[int]] = {}
        for place, statement in enumerate(self.statements):
            for name in statement.binds:
                self._binding.setdefault(name, []).append(place)

    def nodes(self, first: int = 0) -> Iterator[tuple[int, ast.AST]]:
        """Yield every node from that statement on with its place."""
        for place, statement in enumerate(self.statements[first:], start=first):
            for node in ast.walk(statement.node):
                yield place, node

    def binding(self, name: str, place: int) -> list[int]:
        """Return the statements before a place that make the value of a name there, the last first; at most `MOST`."""
        every = self._binding.get(name, [])
        last = bisect_left(every, place)
        before = every[max(0, last - MOST) : last][::-1]
        end = next((at for at, number in enumerate(before) if self.statements[number].replaces(name)), len(before))
        return before[: end + 1]

    def names_made_of(self, place: int) -> Iterator[tuple[int, set[str]]]:
        """Yield every later place with the names whose value there depends on what that statement binds."""
        made = set(self.statements[place].binds)
        for number, statement in enumerate(self.statements[place + 1 :], start=place + 1):
            yield number, made
            depends = not statement.takes.isdisjoint(made)
            kept = {name for name in statement.binds & made if not statement.replaces(name)}
            made = (made - statement.binds) | kept | (statement.binds if depends else set())

    def needed(self, node: ast.AST, place: int) -> set[int]:
        """Return the statements that an expression at a place needs, through all their bindings."""
        seen: set[int] = set()
        queue: list[tuple[ast.AST, int]] = [(node, place)]
        while queue:
            inner, at = queue.pop()
            for name in free_names(inner):
                for number in self.binding(name, at):
                    if number not in seen:
                        seen.add(number)
                        of = self.statements[number].node
                        queue.append((of, at if isinstance(of, _DEFINED) else number))
        return seen

    def resolved(self, node: ast.expr, place: int) -> tuple[ast.expr, int]:
        """Return an expression with its place, or the one that the name it is was bound to."""
        for _ in range(_DEPTH):
            made = self.binding(node.id, place) if isinstance(node, ast.Name) else []
            statement = self.statements[made[0]].node if len(made) == 1 else None
            if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
                break
            node, place = statement.value, made[0]
        return node, place

    def value(self, node: ast.expr | None, place: int, given: Mapping[str, ast.expr] | None = None) -> Any:
        """Return what a text, a number or a list of them is at a place; None where constants do not decide it. `given`
        are the parameters of the function that it stands in."""
        return _Values(self, given or {}).of(node, place, _DEPTH)


class _Values:
    def __init__(self, script: Script, given: Mapping[str, ast.expr]) -> None:
        self._script, self._given = script, given

    def of(self, node: ast.expr | None, place: int, depth: int) -> Any:  # noqa: PLR0911  # a case a kind of node
        match node:
            case _ if depth < 0:
                return None
            case ast.Constant():
                return node.value
            case ast.Name(id=name) if name in self._given:
                return _Values(self._script, {}).of(self._given[name], place, depth - 1)
            case ast.Name(id=name):
                return self._named(name, place, depth)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return [self.of(one, place, depth) for one in elements]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _joined(self.of(left, place, depth), self.of(right, place, depth))
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.of(body if self.of(test, place, depth) else other, place, depth)
            case ast.Call(func=ast.Attribute(value=inner, attr="strip"), args=[], keywords=[]):
                text = self.of(inner, place, depth)
                return text.strip() if isinstance(text, str) else None
        return None

    def _named(self, name: str, place: int, depth: int) -> Any:
        value = None
        for number in reversed(self._script.binding(name, place)):
            match self._script.statements[number].node:
                case ast.Assign(targets=[ast.Name()], value=node) | ast.AnnAssign(target=ast.Name(), value=node):
                    value = self.of(node, number, depth - 1)
                case ast.AugAssign(target=ast.Name(), op=ast.Add(), value=node):
                    value = _joined(value, self.of(node, number, depth - 1))
                case _:
                    return None
        return value


def _joined(one: Any, other: Any) -> Any:
    return one + other if isinstance(one, str) and isinstance(other, str) else None


def _as_run(node: ast.stmt) -> list[tuple[ast.stmt, bool]]:
    """Return the statements of a function that compares results and takes nothing but defaults, behind those, and
    whether we wrote each; of another statement that one alone."""
    if not isinstance(node, ast.FunctionDef) or not any(calls_of(node, COMPARED)):
        return [(node, False)]
    taken = [*node.args.posonlyargs, *node.args.args]
    if len(node.args.defaults) < len(taken) or node.args.kwonlyargs or node.args.vararg or node.args.kwarg:
        return [(node, False)]
    pairs = zip(taken, node.args.defaults, strict=True)
    made = [ast.parse(f"{one.arg} = {ast.unparse(default)}").body[0] for one, default in pairs]
    run = [one for one in node.body if not isinstance(one, ast.Return)]
    return [*((one, True) for one in made), *((one, False) for one in run), (node, False)]
