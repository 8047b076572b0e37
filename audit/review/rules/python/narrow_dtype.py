"""Are values rounded to half, bfloat16 or TF32 on the way?

Silent on comparisons of types, on allocation, and on `tl.dot` without a word about precision.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_NARROW = frozenset(
    f"{home}.{kind}" for home in ("torch", "triton.language") for kind in ("float16", "bfloat16", "half")
) | {"triton.language.float8e5", "triton.language.float8e4nv"}
_METHODS = frozenset({"half", "bfloat16"})
_AUTOCAST = frozenset({"torch.autocast", "torch.cuda.amp.autocast", "torch.amp.autocast"})


def find(reading: PythonReading) -> list[Spot]:
    """Casts, autocast regions and dot products that allow TF32."""
    found: dict[int, str] = {}
    for call, name in reading.calls():
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        given = [*call.args, *(each.value for each in call.keywords)]
        if method in _METHODS and not given and name != f"torch.{method}":
            found[call.lineno] = f".{method}()"
        elif method in ("to", "type", "astype", "cast") and (
            kind := next((reading.name(each) for each in given if reading.name(each) in _NARROW), None)
        ):
            found[call.lineno] = f".{method}({kind})"
        elif name in _AUTOCAST:
            found[call.lineno] = name
        elif name == "triton.language.dot" and any(_allows_tf32(each) for each in call.keywords):
            found[call.lineno] = "a dot product in TF32"
    return [Spot(line, f"{result} rounds values to fewer bits than they came with") for line, result in found.items()]


def _allows_tf32(keyword: ast.keyword) -> bool:
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    return (keyword.arg, value) in (("allow_tf32", True), ("input_precision", "tf32"))


RULE = Rule("narrow_dtype", __doc__, "precision", find, precise=True)
