"""Do the values of an input decide which code runs?

Silent on branches that refuse, and on values that are only handed on.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading, raises
from audit.review.rule import Rule, Spot, names

_READS = names("item any all max min amax amin sum mean std norm equal allclose isnan isinf isfinite count_nonzero")
_ABOUT = frozenset({"shape", "size", "stride", "dtype", "device"})


def find(reading: PythonReading) -> list[Spot]:
    """Branches whose test reads tensor values."""
    spots = []
    for node in reading.branches():
        refuses = isinstance(node, ast.If) and raises(node.body)
        function = reading.function(node)
        read = next(
            (name for each in ast.walk(node.test) if isinstance(each, ast.Call) and (name := _read(reading, each))),
            None,
        )
        if read and not refuses and function is not None and function in reading.functions:
            spots.append(Spot(node.lineno, f"{read} reads values, and they decide what runs"))
    return spots


def _read(reading: PythonReading, call: ast.AST) -> str | None:
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in _READS:
        return None
    home = reading.name(call).split(".")[0]
    if home in ("math", "os", "numpy", "triton", "builtins"):
        return None
    about = any(isinstance(each, ast.Attribute) and each.attr in _ABOUT for each in ast.walk(call))
    return None if about else f"{call.func.attr}()"


RULE = Rule("value_branch", __doc__, "distributions", find)
