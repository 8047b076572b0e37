"""Does one size decide which code runs?

Silent on checks that refuse other sizes, on 0 and 1, and on comparisons for order.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_tree import operator
from audit.review.rule import Rule, Spot

_SIZE = re.compile(r"\.(?:size|numel|sizes)\(")
_REFUSAL = re.compile(r"\bthrow\b|\bTORCH_CHECK\b|\babort\b|\bexit\b")
_SMALLEST = 8  # smaller numbers are dimensions and vector widths


def find(reading: CudaReading) -> list[Spot]:
    """Equality of a tensor's size and a number in a condition that chooses."""
    spots = []
    for node in reading.nodes("binary_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator(node) not in ("==", "!=") or left is None or right is None:
            continue
        size, number = (left, right) if right.type == "number_literal" else (right, left)
        if number.type != "number_literal" or not _large(reading.text(number)) or not reading.in_host(node):
            continue
        if _is_size(reading, size) and _chooses(reading, node):
            spots.append(Spot(reading.line(node), f"{reading.written(node)} chooses what runs by one size"))
    return spots


def _large(text: str) -> bool:
    digits = re.fullmatch(r"(\d+)[uUlL]*", text)
    return digits is not None and int(digits[1][:12]) >= _SMALLEST


def _is_size(reading: CudaReading, node: Node) -> bool:
    if node.type == "identifier":
        value = reading.only_value(reading.text(node))
        return value is not None and bool(_SIZE.search(reading.text(value).replace(" ", "")))
    return bool(_SIZE.search(reading.text(node).replace(" ", "")))


def _chooses(reading: CudaReading, node: Node) -> bool:
    """Return whether the comparison decides an `if` that does not throw, or a `?:`."""
    for holder in reading.ancestors(node, until=("function_definition", "compound_statement", "call_expression")):
        if holder.type == "conditional_expression":
            return True
        if holder.type == "if_statement":
            then = holder.child_by_field_name("consequence")
            return then is not None and not _refuses(reading, then)
    return False


@lru_cache(maxsize=64)
def _refuses(reading: CudaReading, then: Node) -> bool:
    return _REFUSAL.search(reading.source.masked, then.start_byte, then.end_byte) is not None


RULE = Rule("fixed_shape", __doc__, "agreement", find)
