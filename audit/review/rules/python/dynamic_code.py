"""Is code run that the file does not show?

Silent on literals, on the library's own compilers and on imports by name.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_CALLS = frozenset(
    ["exec", "eval", "compile", "__import__", "importlib.reload", "marshal.loads", "runpy.run_path", "runpy.run_module"]
)
_FETCHES = frozenset(["urllib.request.urlopen", "urllib.request.urlretrieve", "requests.get", "pip.main"])


def find(reading: PythonReading) -> list[Spot]:
    """Calls that make code from text or fetch it."""
    used = [
        (call, name)
        for call, name in reading.calls()
        if name in _FETCHES or (name in _CALLS and not (call.args and isinstance(call.args[0], ast.Constant)))
    ]
    return [Spot(call.lineno, f"{name} runs or fetches code that the file does not show") for call, name in used]


RULE = Rule("dynamic_code", __doc__, "untouched_process", find)
