"""Is work sent to a stream of its own that nothing in the function waits for?

Silent where the function waits for a stream or an event, or synchronises.
"""

from __future__ import annotations

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_ENTER = frozenset({"torch.cuda.stream", "torch.cuda.set_stream", "torch.cuda.StreamContext"})
_JOIN = frozenset({"wait_stream", "wait_event", "synchronize", "wait"})


def find(reading: PythonReading) -> list[Spot]:
    """Where another stream is entered without a join beside it."""
    spots = []
    for call, name in reading.calls():
        if name not in _ENTER:
            continue
        function = reading.function(call) or reading.tree
        if not reading.attributes(function) & _JOIN:
            spots.append(Spot(call.lineno, f"{name} sends work to a stream that nothing here waits for"))
    return spots


RULE = Rule("torch_stream", __doc__, "current_stream", find)
