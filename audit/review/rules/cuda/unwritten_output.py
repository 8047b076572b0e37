"""Is memory returned that was handed out uninitialised and given to nobody in between?

Silent where the tensor is mentioned in any way but its sizes and types.
"""

from __future__ import annotations

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot
from audit.review.tensors import METADATA, uninitialised


def find(reading: CudaReading) -> list[Spot]:
    """Uninitialised tensors that only a return mentions."""
    spots = []
    for function in (each for each in reading.source.functions if each.kind == "host"):
        for fresh in uninitialised(reading, function):
            later = reading.mentioned_between(fresh.name, fresh.node.end_byte + 1, function.end)
            given = [node for node in later if not METADATA.match(reading.source.masked, node.end_byte)]
            if given and all(_is_returned(reading, node) for node in given):
                text = f"{fresh.name} is returned as allocated: uninitialised, and given to nothing that could write it"
                spots.append(Spot(fresh.line, text))
    return spots


def _is_returned(reading: CudaReading, mention: Node) -> bool:
    return any(node.type == "return_statement" for node in reading.ancestors(mention))


RULE = Rule("unwritten_output", __doc__, "inherited", find)
