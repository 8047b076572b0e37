"""Does the host look at the values of a tensor to choose what runs?

Silent on values that are only passed on to a kernel.
"""

from __future__ import annotations

from audit.review.cuda_reading import Call, CudaReading
from audit.review.rule import Rule, Spot

_READS = frozenset(["item", "allclose", "equal", "is_nonzero", "isclose"])
_MOST = 100  # mentions of one variable
_DECISIONS = ("if_statement", "conditional_expression", "while_statement", "switch_statement")


def find(reading: CudaReading) -> list[Spot]:
    """Values that decide, directly or through one variable."""
    asked = [call for call in reading.calls if call.name in _READS and reading.in_host(call.node) and _of_tensor(call)]
    spots = []
    for call in asked:
        if _decides(reading, call):
            spots.append(Spot(call.line, f"{call.name} reads a tensor's values and decides what runs"))
    return spots


def _of_tensor(call: Call) -> bool:
    return call.receiver is not None or call.scope in ("at", "torch")


def _decides(reading: CudaReading, call: Call) -> bool:
    for holder in reading.ancestors(
        call.node, until=("function_definition", "compound_statement", "lambda_expression")
    ):
        if holder.type in _DECISIONS:
            condition = holder.child_by_field_name("condition")
            return condition is not None and condition.start_byte <= call.node.start_byte < condition.end_byte
        if holder.type == "init_declarator" and (name := holder.child_by_field_name("declarator")):
            function = reading.function(call.node)
            used = reading.mentioned(reading.text(name), function)[:_MOST] if function else []
            return any(
                (condition := each.child_by_field_name("condition")) is not None
                and condition.start_byte <= node.start_byte < condition.end_byte
                for node in used
                for each in reading.ancestors(node, until=("function_definition", "compound_statement"))
                if each.type in _DECISIONS
            )
    return False


RULE = Rule("value_dispatch", __doc__, "distributions", find)
