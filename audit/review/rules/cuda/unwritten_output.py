"""Is memory returned that was handed out uninitialised and given to nobody in between?

Silent where the tensor is mentioned in any way but its sizes and types.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading
from audit.review.fresh_memory import METADATA, uninitialised
from audit.review.rule import Rule, Spot


def find(reading: CudaReading) -> list[Spot]:
    """Uninitialised tensors that only a return mentions."""
    spots = []
    for function in (each for each in reading.source.functions if each.kind == "host"):
        returns = reading.inside(function, "return_statement")
        for fresh in uninitialised(reading, function):
            mentions = [
                node for node in reading.mentioned(fresh.name, function) if node.start_byte > fresh.node.end_byte
            ]
            given = [node for node in mentions if not METADATA.match(reading.source.masked, node.end_byte)]
            returned = [
                node
                for node in given
                if any(_within(each.start_byte, each.end_byte, node.start_byte) for each in returns)
            ]
            if returned and len(returned) == len(given):
                told = f"{fresh.name} is returned as allocated: uninitialised, and given to nothing that could write it"
                spots.append(Spot(fresh.line, told))
    return spots


def _within(start: int, end: int, offset: int) -> bool:
    return start <= offset < end


RULE = Rule("unwritten_output", __doc__, "inherited", find)
