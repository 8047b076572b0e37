"""Rules about the inputs and parameters of a model."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from audit.review.python_reading import PythonReading
from audit.review.python_tree import FunctionNode, inside, names_in, optional, stored_names
from audit.review.rule import Spot, names, rule
from audit.review.rules.python.operators import operator_name

_METADATA = names("shape size numel dim ndim dtype device stride is_cuda is_contiguous requires_grad")
_LIKE = frozenset({"torch.empty_like", "torch.zeros_like", "torch.ones_like", "torch.full_like"})
_HELD = ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Linear", "torch.nn.Conv", "torch.nn.BatchNorm")
_ALL = names("parameters named_parameters children modules state_dict buffers __dict__ _parameters _modules")
_ALLOCATE = frozenset(f"torch.{name}{like}" for name in ("empty", "zeros", "ones", "full") for like in ("", "_like"))
_IN_PLACE = frozenset({"zero_", "fill_", "copy_", "random_", "normal_", "uniform_", "resize_", "set_", "index_put_"})


@rule("dead_inputs")
def unused_input(reading: PythonReading) -> list[Spot]:
    """Is there an input or a parameter of the model that nothing reads?

    Silent on names that start with an underscore, on those that are None unless given, on stubs, on `*args`, and in
    classes that hand out all their parameters.
    """
    spots = [spot for entry in reading.entries for spot in _inputs(reading, entry)]
    return spots + [spot for node in reading.nodes(ast.ClassDef) for spot in _held(reading, node)]


def _inputs(reading: PythonReading, entry: FunctionNode) -> list[Spot]:
    if not any(each.value for each in inside(entry, ast.Return)) or names_in(entry) & {"locals", "vars"}:
        return []
    loaded = (node for node in inside(entry, ast.Name) if isinstance(node.ctx, ast.Load))
    read = {node.id for node in loaded if not _metadata(reading, node)}
    read |= optional(entry)
    unread = [name for name in reading.parameters(entry) if name not in read and not name.startswith("_")]
    return [Spot(entry.lineno, f"{entry.name} takes {name} and never reads its values") for name in unread]


def _metadata(reading: PythonReading, node: ast.Name) -> bool:
    """Return whether a mention asks for sizes and types only, or stands in a check."""
    above = next(reading.ancestors(node), None)
    if isinstance(above, ast.Attribute):
        return above.attr in _METADATA
    if isinstance(above, ast.Call) and reading.name(above) in _LIKE:
        return True
    return any(isinstance(each, ast.Assert) for each in reading.ancestors(node))


def _held(reading: PythonReading, node: ast.ClassDef) -> list[Spot]:
    """Return parameters and layers that are made and never read."""
    if reading.attributes(node) & _ALL or names_in(node) & {"getattr", "vars"}:
        return []
    if not any(isinstance(each, FunctionNode) and each.name == "forward" for each in node.body):
        return []
    read = {each.attr for each in inside(node, ast.Attribute) if isinstance(each.ctx, ast.Load)}
    made = {
        target.attr: target.lineno
        for each in inside(node, ast.Assign)
        if reading.name(each.value).startswith(_HELD)
        for target in each.targets
        if isinstance(target, ast.Attribute) and reading.name(target).startswith("self.")
    }
    return [Spot(line, f"self.{name} is made and never read") for name, line in made.items() if name not in read]


@rule("dead_inputs")
def fresh_result(reading: PythonReading) -> Iterator[Spot]:
    """Is the result just allocated memory, or an input handed back?

    Silent where anything is computed into it on the way.
    """
    for entry in reading.entries:
        returns = [node for node in inside(entry, ast.Return) if node.value is not None]
        for node in returns:
            if isinstance(node.value, ast.Call) and reading.name(node.value) in _ALLOCATE:
                yield Spot(node.lineno, f"{reading.name(node.value)} is returned as allocated")
        given = reading.parameters(entry)
        plain = all(isinstance(node.value, ast.Name) and node.value.id in given for node in returns)
        if returns and plain and not any(inside(entry, ast.Call, ast.Assign, ast.AugAssign)):
            yield Spot(returns[0].lineno, "an input is returned as it came")


@rule("inputs_intact")
def input_mutation(reading: PythonReading) -> list[Spot]:
    """Is a tensor that the caller passed in changed?

    Silent where that tensor is returned, since the result is then in place by contract, and where the name was bound
    anew.
    """
    return [spot for entry in reading.entries for spot in _of_entry(reading, entry)]


def _of_entry(reading: PythonReading, entry: FunctionNode) -> list[Spot]:
    stepped = {each.target.id for each in inside(entry, ast.AugAssign) if isinstance(each.target, ast.Name)}
    bound = stored_names(ast.walk(entry)).keys() - stepped
    returned = {name for each in inside(entry, ast.Return) if each.value for name in names_in(each.value)}
    changed = _changed(reading, entry, set(reading.parameters(entry)) - bound - returned)
    return [Spot(line, f"{name}, which the caller passed in, is changed") for line, name in changed]


def _changed(reading: PythonReading, entry: FunctionNode, inputs: set[str]) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(entry):
        target: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
            known = node.func.attr in _IN_PLACE or operator_name(reading, node) is not None
            target = node.func.value if known else None
        elif isinstance(node, ast.AugAssign):
            target = node.target
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            target = node.value
        root = target.value if isinstance(target, ast.Subscript) else target
        if isinstance(root, ast.Name) and root.id in inputs:
            found.append((root.lineno, root.id))
    return found


@rule("dead_inputs")
def loose_weights(reading: PythonReading) -> list[Spot]:
    """May parameters of the model be left out without a word?

    Silent on strict loading, which is the default, and on methods that hand on to that of the class above.
    """
    spots = [
        Spot(function.lineno, f"{function.name} is replaced, so missing parameters need not show")
        for function in reading.functions
        if function.name in ("load_state_dict", "_load_from_state_dict") and "super" not in names_in(function)
    ]
    for call, name in reading.calls():
        strict = next((each.value for each in call.keywords if each.arg == "strict"), None)
        if name.endswith("load_state_dict") and isinstance(strict, ast.Constant) and strict.value is False:
            spots.append(Spot(call.lineno, "strict=False leaves out parameters without a word"))
    return spots
