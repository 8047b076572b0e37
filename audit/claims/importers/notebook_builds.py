"""Where a notebook builds its kernel, calls it, and compares or times it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from audit.claims.importers.notebook_cells import KERNEL_MARK, CudaText
from audit.claims.importers.notebook_script import COMPARED, Script
from audit.claims.python_text import free_names
from audit.review.python_tree import calls_of, last_name

BUILDERS = ("load", "load_inline")
PLACES = {"name": 0, "cpp_sources": 1, "cuda_sources": 2, "functions": 3}
"""Of the arguments of `load_inline`, the last as in torch up to 2.6."""
TIMED = ("do_bench", "timeit", "Timer")


@dataclass(frozen=True)
class Extension:
    """An extension that a statement binds to a name.

    Attributes:
        place: the statement.
        variable: the name of the extension or of one function of it, which is `function` then.
        call: the call of torch's builder, in this statement or in a function that it calls.
        given: the arguments of that function by parameter.
    """

    place: int
    variable: str
    call: ast.Call
    function: str = ""
    given: Mapping[str, ast.expr] = field(default_factory=dict)

    @property
    def inline(self) -> bool:
        """Whether it is built from texts."""
        return last_name(self.call.func) == "load_inline"

    def value(self, name: str, script: Script) -> Any:
        """Return the value of an argument; None where constants do not decide it."""
        named = next((keyword.value for keyword in self.call.keywords if keyword.arg == name), None)
        place = PLACES.get(name) if self.inline else None
        if named is None and place is not None and len(self.call.args) > place:
            named = self.call.args[place]
        return script.value(named, self.place, self.given)

    def texts(self, name: str, script: Script) -> list[str]:
        """Return the texts of an argument that is one or a list of them."""
        value = self.value(name, script)
        return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


@dataclass(frozen=True)
class Called:
    """A call of the kernel: its statement, the function's name and the arguments."""

    place: int
    function: str
    arguments: tuple[ast.expr, ...]


@dataclass(frozen=True)
class Compared:
    """What the kernel's result is compared with, or timed beside: the expression and its place. `call` compares."""

    place: int
    reference: ast.expr
    call: ast.Call | None = None


def built(script: Script) -> Iterator[Extension]:
    """Yield every extension that a statement binds to a name, itself or a function of it as `load(...).forward`."""
    wrappers = {one.node.name: one.node for one in script.statements if isinstance(one.node, ast.FunctionDef)}
    for place, node in script.nodes():
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        taken = node.value if isinstance(node.value, ast.Attribute) else None
        value, function = (taken.value, taken.attr) if taken is not None else (node.value, "")
        if not isinstance(value, ast.Call):
            continue
        name = node.targets[0].id
        if last_name(value.func) in BUILDERS:
            yield Extension(place, name, value, function)
        elif (wrapper := wrappers.get(last_name(value.func))) is not None:
            inner = list(calls_of(wrapper, BUILDERS))
            if len(inner) == 1:
                yield Extension(place, name, inner[0], function, _arguments(wrapper, value))
        elif (call := _of_another_module(value, place, script)) is not None:
            yield Extension(place, name, call, function)


def _of_another_module(call: ast.Call, place: int, script: Script) -> ast.Call | None:
    """Return the call of `load_inline` that a function of another module may make: it gets a text with a kernel, and a
    list of functions."""
    given = [*call.args, *(one.value for one in call.keywords)]
    values = [(node, script.value(node, place)) for node in given]
    texts = [node for node, value in values if isinstance(value, str) and KERNEL_MARK in value]
    lists = [node for node, value in values if isinstance(value, list) and value and all(map(_is_name, value))]
    if len(texts) != 1 or len(lists) != 1:
        return None
    keywords = [ast.keyword("cuda_sources", texts[0]), ast.keyword("functions", lists[0])]
    return ast.Call(ast.Name(BUILDERS[1], ast.Load()), [], keywords)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isidentifier()


def _arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    """Return the arguments of a call by parameter."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    found = dict(zip(reversed(names), reversed(function.args.defaults), strict=False))
    keyed = zip((one.arg for one in function.args.kwonlyargs), function.args.kw_defaults, strict=True)
    found |= {name: default for name, default in keyed if default is not None}
    found |= dict(zip(names, call.args, strict=False))
    return found | {one.arg: one.value for one in call.keywords if one.arg}


def build_of(text: CudaText, script: Script) -> Extension | None:
    """Return the extension that is built from a text: whose texts hold it, that names its file, or the only one."""
    every = list(built(script))
    for one in every:
        if any(text.text in each for each in one.texts("cuda_sources", script)):
            return one
    for one in every:
        for node in ast.walk(one.call):
            if isinstance(node, ast.Name) and node.id == text.name:
                return one
            if isinstance(node, ast.Constant) and text.file and str(node.value).endswith(text.file):
                return one
    return every[0] if len(every) == 1 else None


def called(one: Extension, script: Script) -> Called | None:
    """Return the first call of one of its functions, also through another name for it."""
    aliases = {one.variable: one.function}
    for place, node in script.nodes(one.place + 1):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, function = node.targets[0].id, _function(node.value, aliases, script, place)
            if function:
                aliases[name] = function
            elif name in aliases:
                del aliases[name]
        function = _function(node.func, aliases, script, place) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and function and not node.keywords:
            return Called(place, function, tuple(node.args))
    return None


def _function(node: ast.expr, aliases: Mapping[str, str], script: Script, place: int) -> str:
    """Return the function of the extension that an expression names; empty for another."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=function):
            return function if aliases.get(name) == "" else ""
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id=name), function]):
            named = script.value(function, place)
            return named if aliases.get(name) == "" and isinstance(named, str) else ""
        case ast.Name(id=name):
            return aliases.get(name, "")
    return ""


def compared(one: Extension, script: Script) -> Compared | None:
    """Return the other side of the first comparison of its result, else the other timed expression."""
    for found in (_comparisons, _differences):
        for place, made in script.names_made_of(one.place):
            for call, sides in found(script.statements[place].node):
                ours = [not free_names(side).isdisjoint(made) for side in sides]
                if sorted(ours) == [False, True]:
                    reference, at = script.resolved(sides[ours.index(False)], place)
                    return Compared(at, reference, call)
    for place, made in script.names_made_of(one.place):
        for call in calls_of(script.statements[place].node, TIMED):
            body = call.args[0].body if call.args and isinstance(call.args[0], ast.Lambda) else None
            if body is not None and free_names(body).isdisjoint(made):
                return Compared(place, body)
    return None


def _comparisons(statement: ast.stmt) -> Iterator[tuple[ast.Call | None, list[ast.expr]]]:
    """Yield each call that compares, with its two sides."""
    yield from ((call, call.args[:2]) for call in calls_of(statement, COMPARED) if len(call.args) >= 2)


def _differences(statement: ast.stmt) -> Iterator[tuple[ast.Call | None, list[ast.expr]]]:
    """Yield the two sides of each difference whose absolute value is taken."""
    for call in calls_of(statement, ("abs",)):
        inner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        for part in (*inner, *call.args):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub):
                yield None, [part.left, part.right]


def calls(script: Script, names: tuple[str, ...]) -> Iterator[tuple[int, ast.Call]]:
    """Yield every call of such a name with its place, name by name."""
    for name in names:
        for place, statement in enumerate(script.statements):
            yield from ((place, call) for call in calls_of(statement.node, (name,)))
