"""Are inputs made again from a seed?

Silent on dropout's own generator, on initialising parameters, and in functions that make inputs for a test.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_SEEDS = frozenset(
    {"torch.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all", "torch.random.manual_seed"}
)
_DRAWS = frozenset(
    f"torch.{name}" for name in ("randn", "rand", "randint", "randn_like", "rand_like", "randperm", "normal")
)


def find(reading: PythonReading) -> list[Spot]:
    """Functions, other than constructors, that set a seed and draw; and the file's own level."""
    spots = []
    for call, name in reading.calls():
        if name not in _SEEDS and not name.endswith(".manual_seed"):
            continue
        function = reading.function(call)
        if function is not None and function.name == "__init__":
            continue
        around = function or reading.tree
        drawn = any(isinstance(each, ast.Call) and reading.name(each) in _DRAWS for each in ast.walk(around))
        if drawn:
            spots.append(Spot(call.lineno, f"{name} and a draw beside it make the same numbers again"))
    return spots


RULE = Rule("seed_replay", __doc__, "agreement", find)
