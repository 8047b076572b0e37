"""Rewrite casts and shifts that are undefined in C++ but not on a GPU: a float out of an integer's range, a count out
of a width.

It covers device functions that the grammar can read; not macros, conversions without a cast, or `<<=`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from audit.build.emulated.edits import Edit
from audit.review.cuda_grammar import nodes_of
from audit.review.cuda_source import CudaSource

_KINDS = frozenset({"cast_expression", "call_expression", "binary_expression"})
_INTEGER = re.compile(
    r"(?:(?:const|unsigned|signed|long|short|int|char)\s+)*(?:unsigned|signed|long|short|int|char|uint|ushort|uchar"
    r"|(?:std\s*::\s*)?(?:u?int(?:8|16|32|64)_t|size_t|ptrdiff_t))"
)


def edits(source: CudaSource) -> Iterator[Edit]:
    """Yield calls around the operand of such a cast and the left operand of a shift."""
    found = nodes_of(source.tree, _KINDS)
    for node, above in (each for kind in sorted(_KINDS) for each in found[kind]):
        function = source.function_at(node.start_byte)
        if function is not None and function.kind != "host" and not node.has_error:
            yield from _EDITS[node.type](source, node, above[-1])


def _cast(source: CudaSource, node: Node, around: Node) -> Iterator[Edit]:
    written, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    of_size = around.type == "sizeof_expression"
    if written is not None and value is not None and not of_size and (integer := _integer(source, written)):
        yield Edit(node.start_byte, value.start_byte, f"::cuemu::cast<{integer}>(")
        yield Edit(node.end_byte, node.end_byte, ")")


def _call(source: CudaSource, node: Node, _: Node) -> Iterator[Edit]:
    """Rewrite `static_cast<int>(x)` and `int(x)`."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None or arguments.named_child_count != 1:
        return
    if function.type == "primitive_type" and (integer := _integer(source, function)):
        yield Edit(function.start_byte, function.end_byte, f"::cuemu::cast<{integer}>")
    name, given = function.child_by_field_name("name"), function.child_by_field_name("arguments")
    if name is None or given is None or source.masked[name.start_byte : name.end_byte] != "static_cast":
        return
    if given.named_child_count == 1 and (only := given.named_child(0)) is not None and _integer(source, only):
        yield Edit(name.start_byte, name.end_byte, "::cuemu::cast")


def _shift(source: CudaSource, node: Node, around: Node) -> Iterator[Edit]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = node.child_by_field_name("operator")
    if left is None or right is None or sign is None or sign.type not in ("<<", ">>") or right.type == "number_literal":
        return
    compared = around.type == "binary_expression" and "<" in source.masked[around.start_byte : node.start_byte]
    if sign.type == ">>" and (compared or left.type == "number_literal"):  # may end template arguments
        return
    yield Edit(left.start_byte, left.start_byte, "::cuemu::shifted(")
    yield Edit(left.end_byte, left.end_byte, ")")


def _integer(source: CudaSource, node: Node) -> str:
    """Return the type of a node if it is an integer type, else an empty text."""
    text = " ".join(source.masked[node.start_byte : node.end_byte].split())
    return text if _INTEGER.fullmatch(text) else ""


_EDITS = {"cast_expression": _cast, "call_expression": _call, "binary_expression": _shift}
