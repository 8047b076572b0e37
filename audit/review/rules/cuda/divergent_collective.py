"""Does a barrier or a warp exchange stand where not all of its threads arrive?

Silent on conditions that are the same for the block, on warp exchanges under conditions that hold for whole warps, and
on masks other than the full one.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from audit.review.cuda_reading import Call, CudaReading
from audit.review.cuda_source import Function
from audit.review.cuda_tree import walk
from audit.review.rule import Rule, Spot
from audit.review.thread_values import ThreadValues

_BARRIER = frozenset({"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"})
_EXCHANGE = re.compile(r"__(?:shfl(?:_up|_down|_xor)?|ballot|any|all|reduce_\w+)_sync")
_FULL = re.compile(r"0x[fF]{8}[uU]?|-1|~0[uU]?|FULL_?MASK|FULL_WARP_MASK", re.IGNORECASE)
_WARP = re.compile(r"(?:\w*warp_?size\w*|\w*WARP\w*|(?:32|64|96|128|160|192|224|256|384|512)[uU]?)", re.IGNORECASE)


def find(reading: CudaReading) -> list[Spot]:
    """Collectives under a condition, or past a return, that differs between the threads concerned."""
    spots = []
    for function in reading.source.functions:
        if function.kind == "host":
            continue
        calls = reading.calls_in(function)
        barriers = [call for call in calls if call.name in _BARRIER]
        exchanges = [call for call in calls if _EXCHANGE.fullmatch(call.name) and _full(reading, call)]
        if barriers:
            block = ThreadValues(reading, function, r"threadIdx\.[xyz]")
            spots += [_spot(call, "its block") for call in barriers if _diverges(reading, call, block, per_warp=False)]
        if exchanges:
            warp = ThreadValues(reading, function, r"threadIdx\.x", per_warp=True)
            gone = _first_return(reading, function, warp)
            spots += [
                _spot(call, "its warp")
                for call in exchanges
                if _diverges(reading, call, warp, per_warp=True) or call.node.start_byte > gone
            ]
    return spots


def _spot(call: Call, group: str) -> Spot:
    return Spot(call.line, f"{call.name} stands where not all threads of {group} arrive")


def _full(reading: CudaReading, call: Call) -> bool:
    return bool(call.arguments) and bool(_FULL.fullmatch(reading.text(call.arguments[0]).strip()))


def _diverges(reading: CudaReading, call: Call, values: ThreadValues, *, per_warp: bool) -> bool:
    """Return whether an `if` or a loop around the call has a condition that the values decide."""
    for holder in reading.ancestors(call.node, until=("function_definition", "lambda_expression")):
        if holder.type not in ("if_statement", "while_statement", "for_statement"):
            continue
        condition = holder.child_by_field_name("condition")
        if condition is None or condition.start_byte <= call.node.start_byte < condition.end_byte:
            continue
        if values.holds(condition) and not (per_warp and _whole_warps(reading, condition)):
            return True
    return False


def _whole_warps(reading: CudaReading, condition: Node) -> bool:
    """`threadIdx.x < 32`: a bound on a plain index that is a multiple of the warp, or named after it."""
    found = [node for node in walk(condition) if node.type == "binary_expression"]
    if len(found) != 1 or (right := found[0].child_by_field_name("right")) is None:
        return False
    return bool(_WARP.fullmatch(reading.text(right).strip()))


def _first_return(reading: CudaReading, function: Function, values: ThreadValues) -> float:
    """Past the first `if (place >= n) return;` at the top of the function, or infinity."""
    for node in reading.inside(function, "if_statement"):
        condition, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        block = reading.parent(node)
        if condition is None or then is None or block is None or block.start_byte != function.body_start:
            continue
        only = then.named_children[0] if then.type == "compound_statement" and then.named_child_count == 1 else then
        if only.type == "return_statement" and values.holds(condition) and not _whole_warps(reading, condition):
            return node.end_byte
    return float("inf")


RULE = Rule("divergent_collective", __doc__, "memory_access", find)
