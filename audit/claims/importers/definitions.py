"""A definition as flashinfer-bench and SOL-ExecBench write it: axes, inputs, outputs and a reference in Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.claims.importers import definition_axes
from audit.claims.importers.entries import plain_name, variable
from audit.claims.importers.imported import Original
from audit.claims.importers.material import Material
from audit.model.errors import BadInput

FRACTIONS = ("float64", "float32", "float16", "bfloat16")
OTHERS = ("float8_e4m3fn", "float8_e5m2", "int64", "int32", "int16", "int8", "bool")
Document = dict[str, Any]


@dataclass(frozen=True)
class Tensor:
    """An input or output: names of its axes (None: a number), its dtype."""

    name: str
    axes: tuple[str, ...] | None
    dtype: str


@dataclass(frozen=True)
class Definition:
    """What is computed.

    Attributes:
        name: of the definition.
        axes: every axis with its expression in our names, empty for one that a workload gives; in order.
        inputs, outputs: in order.
        reference: the source with `run`.
        generator: the function of it that makes the inputs, if one is named.
        constrained: whether the axes are held to each other.
        stated: the JSON it was read from.
    """

    name: str
    axes: tuple[tuple[str, str], ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    reference: str
    generator: str | None
    constrained: bool
    stated: Original

    @property
    def variables(self) -> list[str]:
        """The axes that a workload gives."""
        return [name for name, expression in self.axes if not expression]

    def elements(self, sizes: Mapping[str, int]) -> int | None:
        """How many elements all tensors have together; None where an axis cannot be told."""
        known: dict[str, int] = {}
        for name, expression in self.axes:
            value = sizes.get(name) if not expression else definition_axes.evaluated(expression, known)
            if value is None:
                return None
            known[variable(name)] = value
        shapes = [one.axes for one in (*self.inputs, *self.outputs) if one.axes is not None]
        return sum(math.prod(known[variable(axis)] for axis in axes) for axes in shapes)


def is_definition(document: Any) -> bool:
    """Whether a JSON document is a definition of either benchmark."""
    return isinstance(document, dict) and {"axes", "inputs", "outputs"} <= set(document) and "spec" not in document


def read(material: Material, at: str, document: Document) -> Definition:
    """The definition. Raises BadInput naming the key that is malformed."""
    axes = definition_axes.read(document["axes"], at)
    known = {name for name, _ in axes}
    inputs, outputs = (_tensors(document[key], known, f"{at}: {key}") for key in ("inputs", "outputs"))
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
    """The file a definition stood in, or its line of a file of lines."""
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
