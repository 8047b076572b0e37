"""Does a number that counts calls decide what a call does?

Silent on counters that are only counted, on remainders of a count, and on flags that are set once.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading, Variable
from audit.review.rule import Rule, Spot, names

_NUMBER = re.compile(r"\b(?:int|unsigned|long|short|size_t|u?int(?:8|16|32|64)_t|atomic\w*)\b")
_FIXED = names("const constexpr __shared__ __constant__ extern")
_DECISIONS = ("condition_clause", "conditional_expression", "for_statement", "while_statement", "switch_statement")


def find(reading: CudaReading) -> list[Spot]:
    """Conditions on a static number that calls step."""
    spots = []
    for variable in reading.variables:
        if not _counts(reading, variable):
            continue
        asked = [node for node in _mentions(reading, variable) if _decides(reading, node)]
        if asked and any(_steps(reading, node) for node in _mentions(reading, variable)):
            line = reading.line(asked[0])
            spots.append(Spot(line, f"{variable.name} counts calls and decides what a call does"))
    return spots


def _counts(reading: CudaReading, variable: Variable) -> bool:
    if not reading.outlives_calls(variable) or _FIXED & set(re.findall(r"\w+", variable.declared)):
        return False
    return bool(_NUMBER.search(variable.type_text)) and "*" not in variable.declared


def _mentions(reading: CudaReading, variable: Variable) -> list[Node]:
    own = reading.function(variable.node)
    found = reading.mentions.get(variable.name, []) if own is None else reading.mentioned(variable.name, own)
    return [node for node in found if reading.in_host(node)]


def _decides(reading: CudaReading, node: Node) -> bool:
    holders = list(reading.ancestors(node, until=("function_definition", "compound_statement", "expression_statement")))
    remainder = any(each.type == "binary_expression" and each.children[1].type == "%" for each in holders)
    return not remainder and any(each.type in _DECISIONS for each in holders)


def _steps(reading: CudaReading, node: Node) -> bool:
    parent = reading.parent(node)
    if parent is None or parent.type == "update_expression":
        return parent is not None
    left = parent.child_by_field_name("left") if parent.type == "assignment_expression" else None
    return left == node and "++" not in reading.text(node) and parent.child_count == 3 and _moves(reading, parent)


def _moves(reading: CudaReading, assignment: Node) -> bool:
    """`n += 1` and `n = n + 1`."""
    left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
    operator = assignment.children[1].type
    return operator in ("+=", "-=") or bool(left and right and reading.text(left) in reading.names_in(right))


RULE = Rule("call_counter", __doc__, "repeat", find)
