"""Rewrite device functions where C++ on a host means something else: casts and shifts out of range, and launch bounds.

A float out of an integer's range and a count out of a width are undefined in C++ and not on a GPU. That covers device
functions that the grammar can read; not macros, conversions without a cast, or `<<=`. Launch bounds are enforced by a
GPU's driver and ignored by a host compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from audit.build.emulated.edits import Edit
from audit.review.cuda_source import CudaSource
from audit.review.token_scan import LONGEST, blank_directives, matching

_INTEGER = re.compile(
    r"(?:(?:const|unsigned|signed|long|short|int|char)\s+)*(?:unsigned|signed|long|short|int|char|uint|ushort|uchar"
    r"|(?:std\s*::\s*)?(?:u?int(?:8|16|32|64)_t|size_t|ptrdiff_t))"
)


def arithmetic(source: CudaSource) -> Iterator[Edit]:
    """Yield calls around the operand of such a cast and the left operand of a shift."""
    for node in (each for kind in _EDITS for each in source.walked.nodes[kind]):
        function = source.function_at(node.start_byte)
        if function is not None and function.kind != "host" and not node.has_error:
            yield from _EDITS[node.type](source, node, source.walked.parents[node.id])


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


_EDITS = {"binary_expression": _shift, "call_expression": _call, "cast_expression": _cast}


_BOUNDS = re.compile(r"\b__launch_bounds__\s*\(")
_NEXT = re.compile(r"[;({]")
_LONGEST_HEAD = 8 * LONGEST


def launch_bounds(source: CudaSource) -> Iterator[Edit]:
    """Yield a check at the start of each kernel with bounds. Kernels are found by brackets alone: a check in the body
    of another kernel would refuse right launches."""
    if not _BOUNDS.search(source.masked):
        return
    flat = blank_directives(source.masked)
    uses: dict[str, list[int]] = {}
    for word in re.finditer(r"\w+", flat) if source.macros else ():
        uses.setdefault(word.group(), []).append(word.end())
    for match in _BOUNDS.finditer(source.masked):
        closing = matching(source.masked, match.end() - 1)
        if not match.end() < closing < match.end() + LONGEST:
            continue
        bounds = re.sub(r"(?:\\?\s)+", " ", source.code[match.end() : closing]).strip()
        macro = source.macro_at(match.start())
        if not bounds:
            continue
        if macro and _body(source.masked, closing + 1, macro.end, bounds) < 0:  # a macro that is an annotation
            ends = () if macro.parameters else uses.pop(macro.name, ())
            starts = [_body(flat, use, len(flat), bounds) for use in ends]
        else:
            starts = [_body(source.masked, closing + 1, len(source.masked), bounds)]
        for start in starts:
            if start >= 0:
                yield Edit(start, start, f" ::cuemu::launch_bounds({bounds});")


def _body(masked: str, start: int, end: int, bounds: str) -> int:
    """Return the start of the body of the function with this head; -1 if there is none or a parameter hides a name."""
    parameters, first, end = "", start, min(end, start + _LONGEST_HEAD)
    while (found := _NEXT.search(masked, start, min(end, start + LONGEST))) and found.group() == "(":
        start = matching(masked, found.start()) + 1
        parameters = masked[found.end() : start - 1]
        if not 0 < start < first + _LONGEST_HEAD:
            return -1
    hidden = set(re.findall(r"\b(\w+)\b\s*(?:,|\Z)", parameters)) & set(re.findall(r"\w+", bounds))
    return found.end() if found and found.group() == "{" and not hidden else -1
