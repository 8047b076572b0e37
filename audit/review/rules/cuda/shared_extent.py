"""The rule about the extents of shared arrays."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from audit.review.constants import Constants, constants_of
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function
from audit.review.cuda_tree import operator, sides
from audit.review.launch_extents import grid_and_block
from audit.review.rule import Spot, rule
from audit.review.thread_values import COMPARISONS

_THREAD = re.compile(r"threadIdx\.([xyz])")


@rule("memory_access")
def shared_extent(reading: CudaReading) -> Iterator[Spot]:
    """Is a constant shared array indexed past its constant end?

    Silent where an extent or an index is not a plain number, and where the index is compared with anything but a
    loop's own bound.
    """
    constants = constants_of(reading)
    for kernel in reading.kernels:
        arrays = _arrays(reading, kernel, constants)
        for node in reading.inside(kernel, "subscript_expression") if arrays else ():
            base, index = node.child_by_field_name("argument"), _single(node)
            extent = arrays.get(reading.text(base)) if base is not None else None
            largest = _largest(reading, kernel, index, constants) if extent and index is not None else None
            if extent and largest is not None and largest >= extent and base is not None:
                text = f"{reading.text(base)} has {extent} elements and is indexed up to {largest}"
                yield Spot(reading.line(node), text)


def _arrays(reading: CudaReading, kernel: Function, constants: Constants) -> dict[str, int]:
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


def _largest(reading: CudaReading, kernel: Function, index: Node, constants: Constants) -> int | None:
    text = reading.text(index).replace(" ", "")
    if (number := constants.value(text)) is not None:
        return number
    if match := _THREAD.fullmatch(text):
        return None if text in _asked(reading, kernel) else _threads(reading, kernel, match[1])
    declared = reading.declarations(text, kernel)
    if len(declared) != 1 or declared[0].value is None:
        return None
    loop = reading.parent(declared[0].node)
    if loop is not None and loop.type == "for_statement":
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
    extents = [grid_and_block(reading, launch)[1]["xyz".index(axis)] for launch in launches]
    known = [extent for extent in extents if extent is not None]
    return min(known) - 1 if known and len(known) == len(extents) else None


def _last_of_loop(reading: CudaReading, loop: Node, name: str, constants: Constants) -> int | None:
    """Return the last value of `for (int i = ...; i < N; ++i)`."""
    condition, update = loop.child_by_field_name("condition"), loop.child_by_field_name("update")
    if condition is None or update is None or update.type != "update_expression" or "++" not in reading.text(update):
        return None
    for _, left, right in sides([condition]):
        bound = constants.value(reading.text(right))
        if bound is not None and reading.text(left) == name and operator(condition) in ("<", "<="):
            return bound - (operator(condition) == "<")
    return None


@lru_cache(maxsize=1)
def _changed(reading: CudaReading, kernel: Function) -> frozenset[str]:
    """Return what the kernel assigns to or steps, as it is written."""
    changed = reading.inside(kernel, "assignment_expression", "update_expression")
    targets = (node.child_by_field_name("left") or node.child_by_field_name("argument") for node in changed)
    return frozenset(reading.text(target) for target in targets if target is not None)
