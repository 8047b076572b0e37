"""Are values of a wider type rounded to half, bfloat16 or TF32 on the way?

Silent where a kernel takes or returns half itself, since it then works in the type of its inputs.
"""

from __future__ import annotations

import re

from audit.review.cuda_reading import Call, CudaReading
from audit.review.rule import Rule, Spot

_INTRINSIC = re.compile(r"__float\w*2(?:half|bfloat16)\w*|__double2(?:half|bfloat16)|__float_to_tf32|__floats2\w+_rn")
_NARROW = re.compile(r"\b(?:__half2?|half2?|__nv_bfloat162?|nv_bfloat162?|bfloat16|at::Half|c10::Half|at::BFloat16)\b")
_DTYPE = re.compile(r"\b(?:k(?:Half|BFloat16|Float16)|(?:Half|BFloat16))\b")


def find(reading: CudaReading) -> list[Spot]:
    """Where values become narrower, in files whose kernels work on wider ones."""
    if any(_NARROW.search(each.text) for kernel in reading.kernels for each in kernel.parameters):
        return []
    found = {call.line: result for call in reading.calls if (result := _described(reading, call))}
    for node in reading.nodes("cast_expression"):
        if (kind := node.child_by_field_name("type")) and _NARROW.fullmatch(reading.text(kind).strip()):
            found.setdefault(reading.line(node), f"({reading.text(kind).strip()})")
    return [Spot(line, f"{result} rounds values to fewer bits than they came with") for line, result in found.items()]


def _described(reading: CudaReading, call: Call) -> str | None:
    if _INTRINSIC.fullmatch(call.name):
        return call.name
    if call.receiver is not None and call.name in ("half", "bfloat16"):
        return f".{call.name}()"
    if (
        call.receiver is not None
        and call.name in ("to", "toType")
        and any(_DTYPE.search(reading.text(argument)) for argument in call.arguments)
    ):
        return f".{call.name}({', '.join(reading.written(argument) for argument in call.arguments)})"
    if call.name in ("static_cast", "__half", "half") and call.arguments:
        called = call.node.child_by_field_name("function")
        whole = " ".join(reading.text(called).split()) if called else ""
        return whole if _NARROW.search(whole) else None
    return None


RULE = Rule("cast_down", __doc__, "precision", find, precise=True)
