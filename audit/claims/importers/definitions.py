"""A definition as flashinfer-bench and SOL-ExecBench write it: axes, inputs, outputs and a reference in Python.

A solution may write into tensors of the outputs that it is given: our lines around it make them.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.claims.importers import entries
from audit.claims.importers.entries import plain_name, variable
from audit.claims.importers.facts import Original
from audit.claims.importers.material import Material
from audit.model.claim import MOST_SIZE
from audit.model.errors import BadInput
from audit.review.python_constants import OPERATORS

FRACTIONS = ("float64", "float32", "float16", "bfloat16")
OTHERS = ("float8_e4m3fn", "float8_e5m2", "int64", "int32", "int16", "int8", "bool")
Document = dict[str, Any]
MOST_EXPONENT = 16
_BINARY = OPERATORS | {
    ast.Mod: operator.mod,
    ast.Pow: lambda base, exponent: base**exponent if 0 <= exponent <= MOST_EXPONENT else 0,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}


@dataclass(frozen=True)
class Tensor:
    """An input or output: names of its axes (None: a number), its dtype."""

    name: str
    axes: tuple[str, ...] | None
    dtype: str


@dataclass(frozen=True)
class Definition:
    """The computation of a task."""

    name: str
    axes: tuple[tuple[str, str], ...]  # each with its expression in our names, empty for one that a workload gives
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    reference: str  # the source with `run`
    generator: str | None  # the function of it that makes the inputs, if one is named
    constrained: bool  # whether the axes are held to each other
    stated: Original  # the JSON it was read from

    @property
    def variables(self) -> list[str]:
        """The axes that a workload gives."""
        return [name for name, expression in self.axes if not expression]

    def elements(self, sizes: Mapping[str, int]) -> int | None:
        """Return the number of elements of all tensors together; None where an axis is unknown."""
        tensors = [one for one in (*self.inputs, *self.outputs) if one.axes is not None]
        shapes = [shape for one in tensors if (shape := self.shape_of(one, sizes)) is not None]
        return sum(map(math.prod, shapes)) if len(shapes) == len(tensors) else None

    def shape_of(self, tensor: Tensor, sizes: Mapping[str, int]) -> tuple[int, ...] | None:
        """Return the shape of a tensor at those sizes; None for a number, and where an axis is unknown."""
        known: dict[str, int] = {}
        for name, expression in self.axes:
            value = sizes.get(name) if not expression else evaluated(expression, known)
            if value is None:
                return None
            known[variable(name)] = value
        return None if tensor.axes is None else tuple(known[variable(axis)] for axis in tensor.axes)


def is_definition(document: Any) -> bool:
    """Return whether a JSON document is a definition of either benchmark."""
    return isinstance(document, dict) and {"axes", "inputs", "outputs"} <= set(document) and "spec" not in document


def read(material: Material, at: str, document: Document) -> Definition:
    """Return the definition. Raises BadInput naming the key that is malformed."""
    axes = axes_of(document["axes"], at)
    known = {name for name, _ in axes}
    inputs, outputs = (_tensors(document[key], known, f"{at}: {key}") for key in ("inputs", "outputs"))
    if not outputs:
        raise BadInput(f"{at}: outputs: none; a definition names the result to compare")
    reference = document.get("reference")
    if not isinstance(reference, str) or not reference.strip():
        raise BadInput(f"{at}: reference: no source text; every definition has one")
    generator = document.get("custom_inputs_entrypoint")
    if generator is not None and not plain_name(generator):
        raise BadInput(f"{at}: custom_inputs_entrypoint: {str(generator)[:40]!r} is no name of a function")
    name = str(document.get("name") or "definition")
    constrained = bool(document.get("constraints"))
    return Definition(name, axes, inputs, outputs, reference, generator, constrained, _kept(material, at))


def _kept(material: Material, at: str) -> Original:
    """Return the file a definition stood in, or its line of a file of lines."""
    name, colon, line = at.rpartition(":")
    if not colon or not line.isdigit():
        return material.original(at, file="definition.json")
    data = material.files[name].read_bytes().splitlines()[int(line) - 1]
    return Original("definition.json", data, published_as=f"{name} line {line}")


def _tensors(stated: Any, known: set[str], where: str) -> tuple[Tensor, ...]:
    if not isinstance(stated, dict):
        raise BadInput(f"{where}: no JSON object but {type(stated).__name__}")
    found = []
    for name, one in stated.items():
        shape = one.get("shape") if isinstance(one, dict) else 0
        dtype = one.get("dtype") if isinstance(one, dict) else None
        if not plain_name(name) or dtype not in (*FRACTIONS, *OTHERS):
            raise BadInput(f"{where}: {str(name)[:40]}: no plain name, or dtype {str(dtype)[:20]} is not known here")
        if shape is not None and (not isinstance(shape, list) or not all(axis in known for axis in map(str, shape))):
            raise BadInput(
                f"{where}: {name}: shape {str(shape)[:40]} is no list of axes; known: {', '.join(sorted(known))}"
            )
        found.append(Tensor(name, None if shape is None else tuple(map(str, shape)), dtype))
    return tuple(found)


def axes_of(axes: Any, at: str) -> tuple[tuple[str, str], ...]:
    """Every axis with its expression in our names, empty for one that a workload gives, after those it is made of.
    Raises BadInput: a name or an expression that is none, or an axis made of itself."""
    if not isinstance(axes, dict):
        raise BadInput(f"{at}: axes: no JSON object but {type(axes).__name__}")
    waiting = {name: _expression(name, stated, f"{at}: axis {str(name)[:40]}") for name, stated in axes.items()}
    found: dict[str, str] = {}
    while waiting:
        ready = [name for name, (_, needs) in waiting.items() if needs <= set(found)]
        if not ready:
            raise BadInput(f"{at}: axis {next(iter(waiting))}: made of an axis that is not there, or of itself")
        found |= {name: waiting.pop(name)[0] for name in ready}
    return tuple(found.items())


def _expression(name: Any, stated: Any, where: str) -> tuple[str, set[str]]:
    """Return an axis in our names, and the axes it is made of."""
    kind = stated.get("type") if isinstance(stated, dict) else None
    if not plain_name(name) or kind not in ("const", "var", "expr"):
        raise BadInput(f"{where}: an axis has a plain name and the type const, var or expr")
    if kind == "var":
        return "", set()
    if kind == "const":
        value = stated.get("value")
        if type(value) is not int or not 0 < value < MOST_SIZE:
            raise BadInput(f"{where}: value {str(value)[:20]} is no positive integer")
        return str(value), set()
    try:
        tree = ast.parse(str(stated.get("expression")), mode="eval")
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"{where}: expression cannot be read") from error
    return _checked(tree, where)


def _checked(tree: ast.Expression, where: str) -> tuple[str, set[str]]:
    """Numbers, axes and arithmetic only; each axis under our name for it."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
            node.id = variable(node.id)
        elif isinstance(node, ast.Constant) and type(node.value) is not int:
            raise BadInput(f"{where}: expression holds something that is no integer")
        elif not isinstance(
            node, (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.expr_context, *_BINARY, *_UNARY)
        ):
            raise BadInput(f"{where}: expression holds {type(node).__name__}; known: + - * / // % ** and brackets")
    return f"int({ast.unparse(tree)})", names


def evaluated(expression: str, known: Mapping[str, int]) -> int | None:
    """Return the value of an expression from `axes_of`; None where it is no size."""
    try:
        value = _worth(ast.parse(expression, mode="eval").body, known)
    except (ZeroDivisionError, OverflowError, LookupError, RecursionError):
        return None
    return int(value) if 0 < value < MOST_SIZE else None


def _worth(node: Any, known: Mapping[str, int]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return known[node.id]
    if isinstance(node, ast.Call):  # of int, which `axes_of` puts around every expression
        return int(_worth(node.args[0], known))
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_worth(node.operand, known))
    return _BINARY[type(node.op)](_worth(node.left, known), _worth(node.right, known))


def into_destination(data: bytes, function: str, stated: Definition) -> bytes:
    """Return a Python source whose function writes its results into tensors that it is given last."""
    return data + f"{entries.MARK}\n\n{_destination(function, stated)}".encode()


def of_cuda(text: str, *, name: str, function: str, flags: Sequence[str], stated: Definition) -> bytes:
    """Return a CUDA source that binds such a function as a Python source."""
    built = entries.inline(text, cpp="", name=name, functions=None, flags=flags)
    return built + f"\n\n{_destination(f'_EXTENSION.{function}', stated)}".encode()


def _destination(function: str, stated: Definition) -> str:
    """Return the function that makes the destinations; shapes come from the inputs at hand."""
    names = ", ".join(one.name for one in stated.inputs)
    tensors = [one for one in stated.inputs if one.axes is not None]
    lines = ["import torch", "", "", f"def {entries.ENTRY}({names}):",
             '    """Makes each tensor that the source writes into; nothing is in it before."""']  # fmt: skip
    known: set[str] = set()
    for one in tensors:
        for place, axis in enumerate(one.axes or ()):
            if axis not in known:
                lines.append(f"    {variable(axis)} = {one.name}.shape[{place}]")
                known.add(axis)
    made = [(axis, expression) for axis, expression in stated.axes if expression and axis not in known]
    lines += [f"    {variable(axis)} = {expression}" for axis, expression in made]
    results = [f"result_{place}" for place in range(len(stated.outputs))] if len(stated.outputs) > 1 else ["result"]
    for result, one in zip(results, stated.outputs, strict=True):
        size = ", ".join(map(variable, one.axes or ()))
        lines.append(f"    {result} = torch.empty([{size}], dtype=torch.{one.dtype}, device={tensors[0].name}.device)")
    every = ", ".join(results)
    return "\n".join([*lines, f"    {function}({names}, {every})", f"    return {every}", ""])
