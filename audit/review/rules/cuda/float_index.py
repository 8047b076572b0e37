"""A rule about indices that are worked out in float32, which holds not every integer above 2^24.

By numpy's float32, `(sqrtf(8.0f * i + 1.0f) - 1.0f) * 0.5f` gives the right row of a triangle up to row 4,607, and the
next row at the end of nearly every row after it. A root one step lower, as the approximate one of --use_fast_math may
be, gives the row before at the first element of every row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from audit.review.cuda_grammar import operator, walk
from audit.review.cuda_reading import Call, CudaReading, Variable
from audit.review.cuda_source import Function
from audit.review.rule import Spot, names, rule
from audit.review.values import ThreadValues

_ROOTS = names("sqrt sqrtf __fsqrt_rn __fsqrt_rd __fsqrt_ru __fsqrt_rz __frsqrt_rn rsqrtf")
_INTEGER = re.compile(r"(?:(?:unsigned|signed|long|short|int|char|size_t|u?int\d+_t|index_t|std::\w*int\w*)\s*)+")
_SINGLE = re.compile(r"(?:\d\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fF]\b|\bfloat\b|__int2float_\w+|__uint2float_\w+|\w+f\s*\(")
_DOUBLE = re.compile(r"\bdouble\b|(?<![\w.])(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
_PLACES = (r"blockIdx\.[xyz]", r"threadIdx\.[xyz]")
_LOADS = frozenset({"subscript_expression", "pointer_expression"})
_STEPS = ("update_expression", "assignment_expression")
_ROUNDS = 4


@rule("agreement")
def float_index(reading: CudaReading) -> list[Spot]:
    """Is an index the square root of another one in float32, which holds not every integer above 16,777,216?

    Silent where the root is taken in double, on roots of loaded values and of numbers of blocks or threads alone, and
    where the index is stepped, set again or compared afterwards, since that may correct it.
    """
    return [spot for function in reading.source.functions if function.kind != "host" for spot in _of(reading, function)]


def _of(reading: CudaReading, function: Function) -> Iterator[Spot]:
    roots = [call for call in reading.calls_in(function) if call.name in _ROOTS and call.arguments]
    if not roots:
        return
    places = [ThreadValues(reading, function, builtin, alike=_LOADS, quotients=False) for builtin in _PLACES]
    variables = reading.variables_in(function)
    single = {one.name for one in variables if one.type_text == "float"}
    found = [
        one for one in roots if _is_single(reading, one, single) and all(x.holds(one.arguments[0]) for x in places)
    ]
    carrying = _carrying(reading, variables, found)
    for one in variables:
        if one.value is None or not _INTEGER.fullmatch(one.type_text):
            continue
        root = _root_in(reading, one.value, found, carrying)
        if root is not None and not _corrected(reading, function, one):
            text = f"index {one.name} comes from {reading.written(root.node)} in float32"
            yield Spot(one.line, f"{text}: it may be one off above 16,777,216 (2^24), with --use_fast_math below too")


def _carrying(reading: CudaReading, variables: list[Variable], roots: list[Call]) -> dict[str, Call]:
    """Return the variables of real numbers that are computed from a root, by name, with that root."""
    known: dict[str, Call] = {}
    real = [(one.name, one.value) for one in variables if one.value and not _INTEGER.fullmatch(one.type_text)]
    for _ in range(_ROUNDS if roots else 0):
        for name, value in real:
            root = None if name in known else _root_in(reading, value, roots, known)
            known |= {} if root is None else {name: root}
    return known


def _is_single(reading: CudaReading, root: Call, single: Iterable[str]) -> bool:
    if root.name != "sqrt":
        return True
    words = reading.written(root.arguments[0])
    if _DOUBLE.search(words):
        return False
    return _SINGLE.search(words) is not None or not reading.names_in(root.arguments[0]).isdisjoint(single)


def _root_in(reading: CudaReading, value: Node, roots: list[Call], carrying: dict[str, Call]) -> Call | None:
    inside = (one for one in roots if value.start_byte <= one.node.start_byte and one.node.end_byte <= value.end_byte)
    named = (carrying[name] for name in sorted(reading.names_in(value)) if name in carrying)
    return next(inside, None) or next(named, None)


def _corrected(reading: CudaReading, function: Function, index: Variable) -> bool:
    """Return whether the index is stepped, set again, or compared, as by a loop to the right row."""
    for node in reading.inside(function, *_STEPS):
        target = node.child_by_field_name("left") or node.child_by_field_name("argument")
        if target is not None and reading.text(target) == index.name:
            return True
    return any(_multiplies(reading, node, index.name) for node in reading.inside(function, "binary_expression"))


def _multiplies(reading: CudaReading, node: Node, name: str) -> bool:
    """Return whether a comparison has a product of the index on a side."""
    products = (each for each in walk(node) if each.type == "binary_expression" and operator(each) == "*")
    return operator(node) in ("<", ">", "<=", ">=") and any(name in reading.names_in(each) for each in products)
