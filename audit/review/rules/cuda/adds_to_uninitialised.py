"""Does a kernel only add to memory that was handed out uninitialised?

Silent where anything else fills that memory first.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading, Variable
from audit.review.cuda_source import Function, Launch
from audit.review.rule import Rule, Spot
from audit.review.tensors import METADATA, stored_parameters, tensors_given, uninitialised


def find(reading: CudaReading) -> list[Spot]:
    """Launches whose kernel adds to fresh memory that is mentioned nowhere before."""
    return [spot for launch in reading.source.launches for spot in _of_launch(reading, launch)]


def _of_launch(reading: CudaReading, launch: Launch) -> list[Spot]:
    function = reading.source.function_at(launch.start)
    stored = stored_parameters(reading, launch.kernel_name)
    if function is None or not stored:
        return []
    fresh = {variable.name: variable for variable in uninitialised(reading, function)}
    spots = []
    for position, name in tensors_given(reading, launch).items():
        how = stored.get(position)
        if name in fresh and how is not None and not how.plain and _untouched(reading, function, fresh[name], launch):
            told = (
                f"kernel {launch.kernel_name} only adds to {name}, which line {fresh[name].line} leaves uninitialised"
            )
            spots.append(Spot(launch.line, told))
    return spots


def _untouched(reading: CudaReading, function: Function, fresh: Variable, launch: Launch) -> bool:
    """Return whether nothing but sizes are asked of the tensor between its allocation and the launch."""
    mentions = reading.mentioned(fresh.name, function)
    between = [node for node in mentions if fresh.node.end_byte < node.start_byte < launch.start]
    return all(METADATA.match(reading.source.masked, node.end_byte) for node in between)


RULE = Rule("adds_to_uninitialised", __doc__, "inherited", find)
