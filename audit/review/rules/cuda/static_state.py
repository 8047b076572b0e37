"""Rules about variables that outlive a call."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading, Variable, extent
from audit.review.rule import Spot, names, rule

_TENSOR = re.compile(r"\bTensor\b|\bdevice_vector\b|\bStorage\b|\bDataPtr\b")
_POINTER = re.compile(
    r"\b(?:void|float|double|half|__half2?|__nv_bfloat16|int|scalar_t|u?int(?:8|16|32|64)_t|float[24])\b[^,<>]*\*"
)
_CONTAINER = re.compile(r"\b(?:map|unordered_map|vector|array|list|set|unordered_set|optional|pair|tuple)\b")
_STATIC = frozenset({"static", "thread_local"})
_NO_CACHE = frozenset({"__shared__", "__constant__", "extern", "constexpr", "__device__"})
_ALLOCATION = re.compile(r"(?:at|torch)::(?:empty\w*|zeros|Tensor)\(|\w+\.new_empty\(|nullptr|NULL|0$|\{\}")
_FILLS = frozenset(["emplace", "insert", "push_back", "try_emplace", "insert_or_assign", "emplace_back"])
_COPIES = re.compile(r"cudaMemcpy\w*")
_NUMBER = re.compile(r"\b(?:int|unsigned|long|short|size_t|u?int(?:8|16|32|64)_t|atomic\w*)\b")
_NO_COUNTER = names("const constexpr __shared__ __constant__ extern")
_DECISIONS = ("condition_clause", "conditional_expression", "for_statement", "while_statement", "switch_statement")


@rule("fresh_values")
def static_cache(reading: CudaReading) -> list[Spot]:
    """Is a tensor, a map of tensors or an address kept from one call to the next?

    Silent on static numbers, flags and handles of libraries, and on scratch memory: what is only ever allocated and
    never returned by an entry.
    """
    return [
        Spot(variable.line, f"{variable.name} outlives the call and can hold a result or recognise an input")
        for variable in reading.variables
        if _lives_on(reading, variable, _NO_CACHE)
        and _can_hold(reading, variable)
        and not _is_scratch(reading, variable)
    ]


def _lives_on(reading: CudaReading, variable: Variable, but: frozenset[str]) -> bool:
    """Return whether it lives at namespace scope, or as a static one in a host function, and without those words."""
    words, function = set(re.findall(r"\w+", variable.declared)), reading.function(variable.node)
    if function is None:  # or one that the parser did not recognise
        outside = all(each.type != "compound_statement" for each in reading.ancestors(variable.node))
    else:
        outside = function.kind == "host" and not _STATIC.isdisjoint(words)
    return outside and but.isdisjoint(words)


def _can_hold(reading: CudaReading, variable: Variable) -> bool:
    if "auto" in variable.type_text:
        return variable.value is not None and bool(_TENSOR.search(reading.text(variable.value)))
    in_container = _CONTAINER.search(variable.type_text) and _POINTER.search(variable.type_text)
    return bool(_TENSOR.search(variable.type_text) or _POINTER.search(variable.declared) or in_container)


def _is_scratch(reading: CudaReading, variable: Variable) -> bool:
    """Return whether it only ever gets allocated, is copied to or from nowhere, and no entry returns it."""
    if _CONTAINER.search(variable.type_text):
        return False
    place = _scope(reading, variable)
    given = [*([] if variable.value is None else [variable.value]), *reading.assigned(variable.name, *place)]
    allocated = all(_ALLOCATION.match("".join(reading.text(value).removeprefix("new ").split())) for value in given)
    return allocated and not any(_gives_away(reading, one) for one in reading.mentioned_between(variable.name, *place))


def _scope(reading: CudaReading, variable: Variable) -> tuple[int, int]:
    """Return the offsets of the body of the function around a variable, or of the whole source."""
    own = reading.function(variable.node)
    return (0, len(reading.source.text)) if own is None else extent(own)


def _gives_away(reading: CudaReading, mention: Node) -> bool:
    """Return whether a mention is what an entry returns, is filled like a container, or is copied."""
    function = reading.function(mention)
    for node in reading.ancestors(mention, until=("compound_statement", "declaration")):
        if node.type == "return_statement" and function in reading.entries:
            return True
        called = node.child_by_field_name("function") if node.type == "call_expression" else None
        name = re.split(r"\W+", reading.text(called))[-1] if called is not None else ""
        if name in _FILLS or _COPIES.fullmatch(name):
            return True
    return False


@rule("repeat")
def call_counter(reading: CudaReading) -> Iterator[Spot]:
    """Does a number that counts calls decide what a call does?

    Silent on counters that are only counted, on remainders of a count, and on flags that are set once.
    """
    for variable in reading.variables:
        number = _NUMBER.search(variable.type_text) and "*" not in variable.declared
        if not number or not _lives_on(reading, variable, _NO_COUNTER):
            continue
        asked = [node for node in _mentions(reading, variable) if _decides(reading, node)]
        if asked and any(_steps(reading, node) for node in _mentions(reading, variable)):
            line = reading.line(asked[0])
            yield Spot(line, f"{variable.name} counts calls and decides what a call does")


def _mentions(reading: CudaReading, variable: Variable) -> list[Node]:
    found = reading.mentioned_between(variable.name, *_scope(reading, variable))
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
    return left == node and parent.child_count == 3 and _moves(reading, parent)


def _moves(reading: CudaReading, assignment: Node) -> bool:
    """`n += 1` and `n = n + 1`."""
    left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
    operator = assignment.children[1].type
    return operator in ("+=", "-=") or bool(left and right and reading.text(left) in reading.names_in(right))
