"""Rules about work that the host chooses by a size or by the values of a tensor."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from audit.review.cuda_grammar import operator, sides
from audit.review.cuda_reading import Call, CudaReading, asks
from audit.review.cuda_source import Function
from audit.review.rule import Spot, rule

_SIZE = re.compile(r"\.(?:size|numel|sizes)\(")
_REFUSAL = re.compile(r"\bthrow\b|\bTORCH_CHECK\b|\babort\b|\bexit\b")
_SMALLEST = 8  # smaller numbers are dimensions and vector widths
_READS = frozenset(["item", "allclose", "equal", "is_nonzero", "isclose"])
_MOST = 100  # mentions of one variable
_DECISIONS = ("if_statement", "conditional_expression", "while_statement", "switch_statement")


@rule("agreement")
def fixed_shape(reading: CudaReading) -> Iterator[Spot]:
    """Does one size decide which code runs?

    Silent where other sizes are refused, on 0 and 1, and on comparisons for order.
    """
    for node, left, right in sides(reading.nodes("binary_expression")):
        size, number = (left, right) if right.type == "number_literal" else (right, left)
        if operator(node) not in ("==", "!=") or number.type != "number_literal":
            continue
        digits = re.fullmatch(r"(\d+)[uUlL]*", reading.text(number))
        if digits is None or int(digits[1][:12]) < _SMALLEST or not reading.in_host(node):
            continue
        if _is_size(reading, size) and _chooses(reading, node) and not _others_refused(reading, node, size):
            yield Spot(reading.line(node), f"{reading.written(node)} chooses what runs by one size")


def _is_size(reading: CudaReading, node: Node) -> bool:
    value = reading.only_value(reading.text(node)) if node.type == "identifier" else node
    return value is not None and bool(_SIZE.search(reading.text(value).replace(" ", "")))


def _chooses(reading: CudaReading, node: Node) -> bool:
    """Return whether the comparison decides an `if` that does not throw, or a `?:`."""
    for holder in reading.ancestors(node, until=("function_definition", "compound_statement", "call_expression")):
        if holder.type == "conditional_expression":
            return True
        if holder.type == "if_statement":
            then = holder.child_by_field_name("consequence")
            return then is not None and not _refuses(reading, then)
    return False


def _others_refused(reading: CudaReading, node: Node, size: Node) -> bool:
    """Return whether an `if` about that size, in the same function, ends in an `else` that refuses all others."""
    function = reading.function(node)
    refused = _refused(reading, function) if function is not None else frozenset[str]()
    return not refused.isdisjoint(re.findall(r"\w+", reading.text(size)))


@lru_cache(maxsize=64)
def _refused(reading: CudaReading, function: Function) -> frozenset[str]:
    """Return the names in checks for equality, and in each `if ... else if ... else` whose `else` refuses."""
    checks = (call for call in reading.calls_in(function) if "CHECK" in call.name or "ASSERT" in call.name.upper())
    found = {text for call in checks if "==" in (text := reading.text(call.node))}
    for holder in reading.inside(function, "if_statement"):
        last = holder.child_by_field_name("alternative")
        if last is None or last.named_children[-1].type == "if_statement" or not _refuses(reading, last):
            continue
        chain: Node | None = holder
        while chain is not None and chain.type in ("if_statement", "else_clause"):
            condition = chain.child_by_field_name("condition")
            found |= {reading.text(condition)} if condition is not None else set()
            chain = reading.parent(chain)
    return frozenset(name for text in found for name in re.findall(r"\w+", text))


def _refuses(reading: CudaReading, then: Node) -> bool:
    places = _refusals(reading)
    first = bisect_left(places, then.start_byte)
    return first < len(places) and places[first] < then.end_byte


@lru_cache(maxsize=1)
def _refusals(reading: CudaReading) -> list[int]:
    """Return where the source throws or ends the process, in order: bodies of `if` may nest as deep as it is long."""
    return [found.start() for found in _REFUSAL.finditer(reading.source.masked)]


@rule("distributions")
def value_dispatch(reading: CudaReading) -> Iterator[Spot]:
    """Does the host look at the values of a tensor to choose what runs?

    Silent on values that are only passed on to a kernel.
    """
    for call in reading.calls:
        of_tensor = call.receiver is not None or call.scope in ("at", "torch")
        if call.name in _READS and of_tensor and reading.in_host(call.node) and _decides(reading, call):
            yield Spot(call.line, f"{call.name} reads a tensor's values and decides what runs")


def _decides(reading: CudaReading, call: Call) -> bool:
    blocks = ("function_definition", "compound_statement", "lambda_expression")
    for holder in reading.ancestors(call.node, until=blocks):
        if holder.type in _DECISIONS:
            return asks(holder, call.node)
        if holder.type == "init_declarator" and (name := holder.child_by_field_name("declarator")):
            function = reading.function(call.node)
            used = reading.mentioned(reading.text(name), function)[:_MOST] if function else []
            around = ((node, each) for node in used for each in reading.ancestors(node, until=blocks[:2]))
            return any(asks(each, node) for node, each in around if each.type in _DECISIONS)
    return False
