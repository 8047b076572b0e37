"""A `torch.autograd.Function` whose `backward` calls a kernel, as a plain function of the forward pass's arguments.

The function takes those arguments and the gradient of the result, and returns the gradients, as docs/your_own_kernel.md
has a backward pass. What `forward` saves must be its parameters, or made of their sizes and of numbers alone: then a
call of the function does the work of the backward pass and no other.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audit.claims.importers import entries
from audit.claims.importers.python_text import PythonText
from audit.model.errors import BadInput
from audit.review.python_tree import last_name

CLASS, KERNEL = "AutogradFunction", "backward_fn"
_Made = tuple[str, Any]
"""A name that forward binds, and the expression."""
_PLAIN_CALLS = {"tuple", "list", "len", "int", "float", "bool", "size", "dim", "numel"}


@dataclass(frozen=True)
class Backward:
    """The function as source, and the places among the forward pass's arguments of those that get a gradient."""

    text: str
    wanted: tuple[int, ...]


def backward(text: PythonText, *, call: str) -> Backward:
    """Return the backward pass of the class `AutogradFunction`, where the expression `call` stands for its kernel.
    Raises BadInput: there is no such class, or forward saves what it computes."""
    body = text.classes[CLASS].body if CLASS in text.classes else []
    methods = {one.name: one for one in body if isinstance(one, ast.FunctionDef)}
    for name in ("forward", "backward"):
        if name not in methods:
            raise BadInput(f"{text.where}: no class {CLASS} with {name}; write it there")
    forward, back = methods["forward"], methods["backward"]
    context, *parameters = [one.arg for one in forward.args.args]
    own = [one.arg for one in back.args.args]
    last = back.body[-1]
    if len(own) != 2 or own[1] in parameters or not isinstance(last, ast.Return) or last.value is None:
        raise BadInput(f"{text.where}: backward of {CLASS} takes ctx and one gradient and ends with a return")
    results = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    wanted = tuple(place for place, one in enumerate(results) if ast.unparse(one) != "None")
    if not wanted or len(results) != len(parameters):
        counts = f"{len(results)} gradients for {len(parameters)} arguments"
        raise BadInput(f"{text.where}: backward of {CLASS} returns {counts}; return one for each, or None")
    lines = [f"def {entries.ENTRY}({', '.join((*parameters, own[1]))}):"]
    lines += [f"    {line}" for line in _saved(text, forward, context, parameters)]
    inlined = _Inlined(own[0], call)
    lines += [f"    {ast.unparse(inlined.visit(one))}".replace("\n", "\n    ") for one in back.body[:-1]]
    lines += [f"    return {', '.join(ast.unparse(inlined.visit(results[place])) for place in wanted)}"]
    return Backward("\n".join(lines) + "\n", wanted)


def _saved(text: PythonText, forward: ast.FunctionDef, context: str, parameters: Sequence[str]) -> list[str]:
    """Return lines that bind what forward keeps in its context, and before them what that is made of."""
    lines: dict[str, None] = {}
    made: list[_Made] = []
    for node in forward.body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        value = getattr(node, "value", None)
        if isinstance(node, ast.Return) or (isinstance(value, ast.Constant) and isinstance(node, ast.Expr)):
            continue
        if isinstance(target, ast.Name):
            made.append((target.id, value))
        elif isinstance(target, ast.Attribute) and last_name(target.value) == context:
            lines |= _kept(text, target.attr, value, made, parameters)
        elif isinstance(value, ast.Call) and last_name(value.func) == "save_for_backward":
            lines |= _kept(text, "saved_tensors", ast.Tuple(value.args, ast.Load()), made, parameters)
        else:
            raise BadInput(
                f"{text.where}: line {node.lineno} of {CLASS}.forward is no plain assignment; write it as one"
            )
    return list(lines)


def _kept(text: PythonText, name: str, value: Any, made: Sequence[_Made], parameters: Sequence[str]) -> dict[str, None]:
    """Return the line that binds a kept value, behind those that it needs."""
    needed = _needed(text, value, made, parameters)
    return dict.fromkeys([*needed, f"_{name} = {ast.unparse(value)}"])


def _needed(text: PythonText, value: ast.expr, made: Sequence[_Made], parameters: Sequence[str]) -> list[str]:
    """Return lines for what a kept value is made of beside parameters. Raises BadInput: it is computed, or a parameter
    is bound anew before it."""
    lines: list[str] = []
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and last_name(node.func) not in _PLAIN_CALLS:
            raise BadInput(_computed(text, ast.unparse(node)))
        if isinstance(node, ast.Name) and node.id not in _PLAIN_CALLS:
            places = [place for place, (name, _) in enumerate(made) if name == node.id]
            if bool(places) is (node.id in parameters) or len(places) > 1:
                raise BadInput(_computed(text, node.id))
            for place in places:
                inner = made[place][1]
                lines += [*_needed(text, inner, made[:place], parameters), f"{node.id} = {ast.unparse(inner)}"]
    return lines


def _computed(text: PythonText, what: str) -> str:
    return f"{text.where}: {CLASS} keeps {what[:40]}, which forward computes; keep its arguments alone"


class _Inlined(ast.NodeTransformer):
    """Puts names in the place of the context's attributes, and the kernel in the place of `backward_fn`."""

    def __init__(self, context: str, call: str) -> None:
        self._context, self._call = context, call

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # the parser's name
        """Return what stands for an attribute."""
        if node.attr == KERNEL:
            return ast.parse(self._call, mode="eval").body
        if last_name(node.value) == self._context and isinstance(node.value, ast.Name):
            return ast.Name(f"_{node.attr}", node.ctx)
        return self.generic_visit(node)
