"""Does a kernel only add to memory that was handed out uninitialised?

Silent where anything else fills that memory first.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading, Variable
from audit.review.cuda_source import Launch
from audit.review.rule import Rule, Spot
from audit.review.tensors import METADATA, is_uninitialised, stored_parameters, tensors_given


def find(reading: CudaReading) -> list[Spot]:
    """Launches whose kernel adds to fresh memory that is mentioned nowhere before."""
    return [spot for launch in reading.source.launches for spot in _of_launch(reading, launch)]


def _of_launch(reading: CudaReading, launch: Launch) -> list[Spot]:
    function = reading.source.function_at(launch.start)
    stored = stored_parameters(reading, launch.kernel_name)
    if function is None or not stored:
        return []
    spots = []
    for position, name in tensors_given(reading, launch).items():
        how, made = stored.get(position), reading.declared(name, function, launch.start)
        if how is None or how.plain or made is None or not is_uninitialised(reading, made):
            continue
        if _untouched(reading, made, launch):
            text = f"kernel {launch.kernel_name} only adds to {name}, which line {made.line} leaves uninitialised"
            spots.append(Spot(launch.line, text))
    return spots


def _untouched(reading: CudaReading, fresh: Variable, launch: Launch) -> bool:
    """Return whether nothing but sizes are asked of the tensor between its allocation and the launch."""
    between = reading.mentioned_between(fresh.name, fresh.node.end_byte + 1, launch.start)
    return all(METADATA.match(reading.source.masked, node.end_byte) for node in between)


RULE = Rule("adds_to_uninitialised", __doc__, "inherited", find)
