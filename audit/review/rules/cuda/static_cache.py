"""Is a tensor, a map of tensors or an address kept from one call to the next?

Silent on static numbers, flags and handles of libraries, and on scratch memory: what is only ever allocated and never
returned by an entry.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading, Variable
from audit.review.cuda_tree import extent
from audit.review.rule import Rule, Spot

_TENSOR = re.compile(r"\bTensor\b|\bdevice_vector\b|\bStorage\b|\bDataPtr\b")
_POINTER = re.compile(
    r"\b(?:void|float|double|half|__half2?|__nv_bfloat16|int|scalar_t|u?int(?:8|16|32|64)_t|float[24])\b[^,<>]*\*"
)
_CONTAINER = re.compile(r"\b(?:map|unordered_map|vector|array|list|set|unordered_set|optional|pair|tuple)\b")
_FIXED = frozenset({"__shared__", "__constant__", "extern", "constexpr", "__device__"})
_ALLOCATION = re.compile(r"(?:at|torch)::(?:empty\w*|Tensor)\(|\w+\.new_empty\(|nullptr|NULL|0$|\{\}")
_FILLS = frozenset(["emplace", "insert", "push_back", "try_emplace", "insert_or_assign", "emplace_back"])
_COPIES = re.compile(r"cudaMemcpy\w*")


def find(reading: CudaReading) -> list[Spot]:
    """Variables of static lifetime that can hold a result or recognise an input."""
    return [
        Spot(variable.line, f"{variable.name} outlives the call and can hold a result or recognise an input")
        for variable in reading.variables
        if _lives_on(reading, variable) and _can_hold(reading, variable) and not _is_scratch(reading, variable)
    ]


def _lives_on(reading: CudaReading, variable: Variable) -> bool:
    return reading.outlives_calls(variable) and not _FIXED & set(re.findall(r"\w+", variable.declared))


def _can_hold(reading: CudaReading, variable: Variable) -> bool:
    if "auto" in variable.type_text:
        return variable.value is not None and bool(_TENSOR.search(reading.text(variable.value)))
    in_container = _CONTAINER.search(variable.type_text) and _POINTER.search(variable.type_text)
    return bool(_TENSOR.search(variable.type_text) or _POINTER.search(variable.declared) or in_container)


def _is_scratch(reading: CudaReading, variable: Variable) -> bool:
    """Return whether it only ever gets allocated, is copied to or from nowhere, and no entry returns it."""
    if _CONTAINER.search(variable.type_text):
        return False
    own = reading.function(variable.node)
    place = (0, len(reading.source.text)) if own is None else extent(own)
    given = [*([] if variable.value is None else [variable.value]), *reading.assigned(variable.name, *place)]
    allocated = all(_ALLOCATION.match("".join(reading.text(value).removeprefix("new ").split())) for value in given)
    return allocated and not any(
        _gives_away(reading, node) for node in reading.mentioned_between(variable.name, *place)
    )


def _gives_away(reading: CudaReading, mention: Node) -> bool:
    """Return whether a mention is what an entry returns, is filled like a container, or is copied."""
    function = reading.function(mention)
    for node in reading.ancestors(mention, until=("compound_statement", "declaration")):
        if node.type == "return_statement" and reading.is_entry(function):
            return True
        called = node.child_by_field_name("function") if node.type == "call_expression" else None
        name = re.split(r"\W+", reading.text(called))[-1] if called is not None else ""
        if name in _FILLS or _COPIES.fullmatch(name):
            return True
    return False


RULE = Rule("static_cache", __doc__, "fresh_values", find)
