"""Does `load_inline` bind a function that its `cpp_sources` do not declare, so that torch cannot build the extension?

Silent where the texts are no constants, and where `cpp_sources` include a header in quotes.
"""

from __future__ import annotations

import ast

from audit.review.inline_bindings import refusal, undeclared
from audit.review.python_constants import Constants, NotConstant, functions_around
from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_BUILDER = "torch.utils.cpp_extension.load_inline"
_TIMED = "; where this error is caught, what stands in for the extension is what was timed"


def find(reading: PythonReading) -> list[Spot]:
    """Calls of `load_inline` whose bindings cannot compile."""
    calls = [node for node in reading.nodes(ast.Call) if reading.name(node) == _BUILDER]
    spots = []
    for call in calls:
        given = dict(zip(("name", "cpp_sources"), call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        if "functions" not in given or "cpp_sources" not in given:
            continue
        constants = Constants(reading.tree, within=functions_around(reading.tree, call))
        names = undeclared(_texts(constants, given["cpp_sources"]), _texts(constants, given["functions"]))
        spots += [Spot(call.lineno, refusal(names) + _TIMED)] if names else []
    return spots


def _texts(constants: Constants, node: ast.expr) -> list[str]:
    """The texts that constants decide; a quoted include, which settles nothing, where they do not."""
    try:
        value = constants.value(node)
    except (NotConstant, RecursionError):
        return ['#include "unknown"']
    several = [value] if isinstance(value, str) else list(value or [])
    return [one for one in several if isinstance(one, str)]


RULE = Rule("undeclared_binding", __doc__, "kernels_ran", find)
