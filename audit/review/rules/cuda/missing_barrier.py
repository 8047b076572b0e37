"""Do threads read each other's shared memory with no barrier anywhere in the kernel?

Silent where the kernel or a function it calls synchronises in any way, and where all accesses use the same index.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function
from audit.review.rule import Rule, Spot

_SYNC = re.compile(
    r"__sync\w*|sync|\w*[bB]arrier\w*|\w*_wait\w*|wait|arrive\w*|__shfl\w*|__threadfence\w*|atomic\w*|\w+_sync|\w+_collective"
)


def find(reading: CudaReading) -> list[Spot]:
    """Return the first access by another index of kernels that never synchronise."""
    source = reading.source
    own = frozenset({function.name for function in source.functions} | {macro.name for macro in source.macros})
    return [spot for kernel in reading.kernels for spot in _of_kernel(reading, kernel, own)]


def _of_kernel(reading: CudaReading, kernel: Function, own: frozenset[str]) -> list[Spot]:
    declared = reading.source.shared_in(kernel)
    shared = [name for each in declared for name, dims in each.names_and_dims if dims]
    called = {call.name for call in reading.calls_in(kernel)}
    if not shared or called & own or any(_SYNC.fullmatch(name) for name in called) or "asm" in called:
        return []
    accessed: dict[str, list[Node]] = {}
    for node in reading.inside(kernel, "subscript_expression"):
        if (base := node.child_by_field_name("argument")) is not None:
            accessed.setdefault(reading.text(base), []).append(node)
    for name in shared:
        accesses = accessed.get(name, [])
        texts = ["".join(reading.text(node).split()) for node in accesses]
        other = next((node for node, text in zip(accesses, texts, strict=True) if text != texts[0]), None)
        if other is not None:
            sentence = f"{name} is accessed by another index and kernel {kernel.name} has no barrier"
            return [Spot(reading.line(other), sentence)]
    return []


RULE = Rule("missing_barrier", __doc__, "memory_access", find)
