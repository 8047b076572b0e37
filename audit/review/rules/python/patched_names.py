"""Is a function of the library, of a timer or of the interpreter replaced?

Silent on settings (`backend_settings` asks about those) and on attributes of the file's own objects.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot, names

_HOMES = names("torch time builtins sys os numpy statistics inspect gc triton math random timeit importlib")
_SETTINGS = (
    "torch.backends.",
    "os.environ",
    "sys.path",
    "torch._dynamo.config.",
    "torch._inductor.config.",
    "torch.autograd.",
    "sys.setrecursionlimit",
)
_PATCHERS = frozenset({"unittest.mock.patch", "unittest.mock.patch.object", "mock.patch", "mock.patch.object"})


def find(reading: PythonReading) -> list[Spot]:
    """Assignments onto imported modules and their classes, `setattr` and `patch` on them."""
    spots = [
        Spot(target.lineno, f"{name} is replaced for everything in the process")
        for target in _targets(reading)
        if (name := reading.name(target)) and "." in name and _foreign(reading, target, name)
    ]
    for call, called in reading.calls():
        first = reading.name(call.args[0]) if call.args else ""
        if called in _PATCHERS:
            spots.append(Spot(call.lineno, f"{called} replaces a name for everything in the process"))
        elif called in ("setattr", "builtins.setattr") and call.args and _foreign(reading, call.args[0], f"{first}."):
            spots.append(Spot(call.lineno, f"setattr replaces a name of {first} for everything in the process"))
    return spots


def _targets(reading: PythonReading) -> list[ast.expr]:
    several = [target for node in reading.nodes(ast.Assign) for target in node.targets]
    return [*several, *(node.target for node in reading.nodes(ast.AugAssign))]


def _foreign(reading: PythonReading, node: ast.expr, name: str) -> bool:
    """Return whether a dotted name starts at an imported module of the list and is no setting."""
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    imported = isinstance(root, ast.Name) and (root.id in reading.modules or root.id == "builtins")
    return imported and name.split(".", maxsplit=1)[0] in _HOMES and not name.startswith(_SETTINGS)


RULE = Rule("patched_names", __doc__, "untouched_process", find)
