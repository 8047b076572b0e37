"""Does an operator or a layer of the library compute part of the result?

Silent outside `forward` and the functions it is built from, on allocation, copies and views, and on functions of an
extension that the file builds.
"""

from __future__ import annotations

import ast

from audit.review.operators import operator_name
from audit.review.python_reading import FunctionNode, PythonReading
from audit.review.rule import Rule, Spot

_LAYERS = (
    "torch.nn.Linear",
    "torch.nn.Bilinear",
    "torch.nn.Conv",
    "torch.nn.LSTM",
    "torch.nn.GRU",
    "torch.nn.RNN",
    "torch.nn.MultiheadAttention",
    "torch.nn.Transformer",
    "torch.nn.BatchNorm",
    "torch.nn.LayerNorm",
    "torch.nn.GroupNorm",
    "torch.nn.InstanceNorm",
    "torch.nn.RMSNorm",
)

_BUILDER = "torch.utils.cpp_extension."


def find(reading: PythonReading) -> list[Spot]:
    """Operators, `@` and layers in the functions that compute."""
    layers = _held(reading, _LAYERS)
    own = _held(reading, (_BUILDER,))
    return [spot for function in reading.functions for spot in _of_function(reading, function, layers, own)]


def _of_function(reading: PythonReading, function: FunctionNode, layers: set[str], own: set[str]) -> list[Spot]:
    if function.name == "__init__":
        return []
    spots = []
    for node in ast.walk(function):
        if reading.function(node) is not function:
            continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            spots.append(Spot(node.lineno, "@ computes part of the result in the library"))
        elif isinstance(node, ast.Call):
            written = reading.name(node)
            if written.rpartition(".")[0] in own:
                continue
            name = f"{written}()" if written in layers else operator_name(reading, node)
            spots += [Spot(node.lineno, f"{name} computes part of the result in the library")] if name else []
    return spots


def _held(reading: PythonReading, makers: tuple[str, ...]) -> set[str]:
    """Return the names bound to a call of one of the makers: attributes as `self.linear`, variables as `extension`."""
    return {
        name
        for node in reading.nodes(ast.Assign)
        if isinstance(node.value, ast.Call) and reading.name(node.value).startswith(makers)
        for name in map(reading.name, node.targets)
    }


RULE = Rule("library_operator", __doc__, "kernels_ran", find)
