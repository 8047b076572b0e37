"""May parameters of the model be left out without a word?

Silent on strict loading, which is the default.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot


def find(reading: PythonReading) -> list[Spot]:
    """Loading of a state that forgives what is missing, and overridden loaders."""
    spots = [
        Spot(function.lineno, f"{function.name} is replaced, so missing parameters need not show")
        for function in reading.functions
        if function.name in ("load_state_dict", "_load_from_state_dict")
    ]
    for call, name in reading.calls():
        strict = next((each.value for each in call.keywords if each.arg == "strict"), None)
        if name.endswith("load_state_dict") and isinstance(strict, ast.Constant) and strict.value is False:
            spots.append(Spot(call.lineno, "strict=False leaves out parameters without a word"))
    return spots


RULE = Rule("loose_weights", __doc__, "dead_inputs", find)
