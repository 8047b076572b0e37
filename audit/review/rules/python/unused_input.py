"""Is there an input or a parameter of the model that nothing reads?

Silent on names that start with an underscore, on stubs, on `*args`, and in classes that hand out all their parameters.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import FunctionNode, PythonReading
from audit.review.rule import Rule, Spot, names

_METADATA = frozenset(
    ["shape", "size", "numel", "dim", "ndim", "dtype", "device", "stride", "is_cuda", "is_contiguous", "requires_grad"]
)
_LIKE = frozenset({"torch.empty_like", "torch.zeros_like", "torch.ones_like", "torch.full_like"})
_HELD = ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Linear", "torch.nn.Conv", "torch.nn.BatchNorm")
_ALL = names("parameters named_parameters children modules state_dict buffers __dict__ _parameters _modules")


def find(reading: PythonReading) -> list[Spot]:
    """Inputs of `forward` and parameters made in `__init__`."""
    spots = [spot for entry in reading.entries for spot in _inputs(reading, entry)]
    return spots + [spot for node in reading.nodes(ast.ClassDef) for spot in _held(reading, node)]


def _inputs(reading: PythonReading, entry: FunctionNode) -> list[Spot]:
    if not any(isinstance(each, ast.Return) and each.value is not None for each in ast.walk(entry)):
        return []
    read = {
        node.id
        for node in ast.walk(entry)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and not _metadata(reading, node)
    }
    hidden = any(isinstance(node, ast.Name) and node.id in ("locals", "vars") for node in ast.walk(entry))
    unread = [
        name for name in reading.parameters(entry) if name not in read and not name.startswith("_") and not hidden
    ]
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
    attributes = [each for each in ast.walk(node) if isinstance(each, ast.Attribute)]
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    if any(each.attr in _ALL for each in attributes) or names & {"getattr", "vars"}:
        return []
    if not any(isinstance(each, FunctionNode) and each.name == "forward" for each in node.body):
        return []
    read = {each.attr for each in attributes if isinstance(each.ctx, ast.Load)}
    made = {
        target.attr: target.lineno
        for each in ast.walk(node)
        if isinstance(each, ast.Assign) and reading.name(each.value).startswith(_HELD)
        for target in each.targets
        if isinstance(target, ast.Attribute) and reading.name(target).startswith("self.")
    }
    return [Spot(line, f"self.{name} is made and never read") for name, line in made.items() if name not in read]


RULE = Rule("unused_input", __doc__, "dead_inputs", find)
