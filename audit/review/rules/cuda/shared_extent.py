"""The rule about the extents of shared arrays."""

from __future__ import annotations

import ast
import operator as arithmetic
import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache

from tree_sitter import Node

from audit.review.arithmetic import Operations, computed, whole_number
from audit.review.cuda_reading import CudaReading, Variable
from audit.review.cuda_source import Function
from audit.review.cuda_tree import operator
from audit.review.launch_extents import grid_and_block
from audit.review.rule import Spot, rule
from audit.review.thread_values import COMPARISONS

_LITERAL = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_PLAIN = re.compile(r"[\w\s()+*/-]{1,80}")
_DEPTH = 6
_LARGEST = 1 << 64
_OPERATIONS: Operations = {
    ast.Add: arithmetic.add,
    ast.Sub: arithmetic.sub,
    ast.Mult: arithmetic.mul,
    ast.Div: lambda one, other: one // other if other else None,
}
_THREAD = re.compile(r"threadIdx\.([xyz])")


@rule("memory_access")
def shared_extent(reading: CudaReading) -> Iterator[Spot]:
    """Is a constant shared array indexed past its constant end?

    Silent where an extent or an index is not a plain number, and where the index is compared with anything but a
    loop's own bound.
    """
    constants = _Constants(reading)
    for kernel in reading.kernels:
        arrays = _arrays(reading, kernel, constants)
        for node in reading.inside(kernel, "subscript_expression") if arrays else ():
            base, index = node.child_by_field_name("argument"), _single(node)
            extent = arrays.get(reading.text(base)) if base is not None else None
            largest = _largest(reading, kernel, index, constants) if extent and index is not None else None
            if extent and largest is not None and largest >= extent and base is not None:
                text = f"{reading.text(base)} has {extent} elements and is indexed up to {largest}"
                yield Spot(reading.line(node), text)


def _arrays(reading: CudaReading, kernel: Function, constants: _Constants) -> dict[str, int]:
    """Extent of the first dimension of each shared array of the kernel."""
    found: dict[str, int] = {}
    for declared in reading.source.shared_in(kernel):
        if declared.dynamic:
            continue
        for name, dims in declared.names_and_dims:
            first = re.match(r"\[([^\[\]]+)\]", dims)
            extent = constants.value(first[1]) if first else None
            if extent:
                found[name] = extent
    return found


def _single(node: Node) -> Node | None:
    indices = node.child_by_field_name("indices")
    return indices.named_children[0] if indices is not None and indices.named_child_count == 1 else None


def _largest(reading: CudaReading, kernel: Function, index: Node, constants: _Constants) -> int | None:
    text = reading.text(index).replace(" ", "")
    if (number := constants.value(text)) is not None:
        return number
    if match := _THREAD.fullmatch(text):
        return None if text in _asked(reading, kernel) else _threads(reading, kernel, match[1])
    declared = reading.declarations(text, kernel)
    if len(declared) != 1 or declared[0].value is None:
        return None
    if loop := _loop_of(reading, declared[0]):
        once = _asked(reading, kernel)[text] == 1
        return _last_of_loop(reading, loop, text, constants) if once else None
    match = _THREAD.fullmatch(reading.text(declared[0].value).replace(" ", ""))
    if match is None or {text, match[0]} & set(_asked(reading, kernel)) or text in _changed(reading, kernel):
        return None
    return _threads(reading, kernel, match[1])


@lru_cache(maxsize=1)
def _asked(reading: CudaReading, kernel: Function) -> Counter[str]:
    """Return the names, and places such as `threadIdx.x`, that comparisons in the kernel hold, and in how many."""
    found = Counter[str]()
    for node in reading.inside(kernel, "binary_expression"):
        if operator(node) in COMPARISONS:
            text = reading.text(node).replace(" ", "")
            found.update({*re.findall(r"[A-Za-z_]\w*", text), *re.findall(r"threadIdx\.[xyz]", text)})
    return found


@lru_cache(maxsize=64)
def _threads(reading: CudaReading, kernel: Function, axis: str) -> int | None:
    """Return the largest index along an axis of the smallest launch, where every launch shows it."""
    launches = reading.source.launches_of.get(kernel.name, [])
    extents = [grid_and_block(reading.source, launch)[1]["xyz".index(axis)] for launch in launches]
    known = [extent for extent in extents if extent is not None]
    return min(known) - 1 if known and len(known) == len(extents) else None


def _loop_of(reading: CudaReading, variable: Variable) -> Node | None:
    parent = reading.parent(variable.node)
    return parent if parent is not None and parent.type == "for_statement" else None


def _last_of_loop(reading: CudaReading, loop: Node, name: str, constants: _Constants) -> int | None:
    """Return the last value of `for (int i = ...; i < N; ++i)`."""
    condition, update = loop.child_by_field_name("condition"), loop.child_by_field_name("update")
    if condition is None or update is None or update.type != "update_expression" or "++" not in reading.text(update):
        return None
    left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
    bound = constants.value(reading.text(right)) if right is not None else None
    if left is None or bound is None or reading.text(left) != name or operator(condition) not in ("<", "<="):
        return None
    return bound - (operator(condition) == "<")


@lru_cache(maxsize=1)
def _changed(reading: CudaReading, kernel: Function) -> frozenset[str]:
    """Return what the kernel assigns to or steps, as it is written."""
    changed = reading.inside(kernel, "assignment_expression", "update_expression")
    targets = (node.child_by_field_name("left") or node.child_by_field_name("argument") for node in changed)
    return frozenset(reading.text(target) for target in targets if target is not None)


class _Constants:
    """The constants of one source. A name that is defined twice, or as anything but a number, has no value."""

    def __init__(self, reading: CudaReading) -> None:
        self._reading = reading
        self._known: dict[tuple[str, int], int | None] = {}

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        reading = self._reading
        found: dict[str, list[str]] = {}
        for macro in reading.source.macros:
            body = reading.source.code[macro.body_start : macro.end].strip()
            found.setdefault(macro.name, []).append("?" if macro.parameters else body)
        for variable in reading.variables:
            fixed = re.search(r"\bconst(?:expr)?\b", variable.declared) and variable.value is not None
            text = reading.text(variable.value) if fixed and variable.value is not None else "?"
            found.setdefault(variable.name, []).append(text)
        for function in reading.source.functions:
            for parameter in function.parameters:
                found.setdefault(parameter.name, []).append("?")
        return found

    def value(self, expression: str, depth: int = 0) -> int | None:
        """Return the number an expression of sums, products and constants stands for; None where it is not plain."""
        key = (expression.strip(), depth)
        if key not in self._known:
            self._known[key] = self._value(*key)
        return self._known[key]

    def _value(self, text: str, depth: int) -> int | None:
        if literal := _LITERAL.fullmatch(text):
            return whole_number(literal[1])
        if depth > _DEPTH or not _PLAIN.fullmatch(text):
            return None
        if text.isidentifier():
            texts = self._texts.get(text, [])
            return self.value(texts[0], depth + 1) if len(texts) == 1 else None
        return self._computed(text, depth)

    def _computed(self, text: str, depth: int) -> int | None:
        values = {name: self.value(name, depth + 1) for name in re.findall(r"\b[A-Za-z_]\w*", text)}
        names = {name: value for name, value in values.items() if value is not None}
        try:
            return computed(ast.parse(text, mode="eval").body, names, _OPERATIONS, largest=_LARGEST)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
