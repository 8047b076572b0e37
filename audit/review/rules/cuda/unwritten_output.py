"""Is memory returned that was handed out uninitialised and given to nobody in between?

Silent where the tensor is mentioned in any way but its sizes and types.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot
from audit.review.tensors import METADATA, uninitialised


def find(reading: CudaReading) -> list[Spot]:
    """Uninitialised tensors that only a return mentions."""
    spots = []
    for function in (each for each in reading.source.functions if each.kind == "host"):
        returns = reading.inside(function, "return_statement")
        for fresh in uninitialised(reading, function):
            later = [node for node in reading.mentioned(fresh.name, function) if node.start_byte > fresh.node.end_byte]
            given = [node for node in later if not METADATA.match(reading.source.masked, node.end_byte)]
            starts = [node.start_byte for node in given]
            if starts and all(any(each.start_byte <= at < each.end_byte for each in returns) for at in starts):
                told = f"{fresh.name} is returned as allocated: uninitialised, and given to nothing that could write it"
                spots.append(Spot(fresh.line, told))
    return spots


RULE = Rule("unwritten_output", __doc__, "inherited", find)
