"""Does the file make tensors of a class of its own, which may compute when somebody looks?

Silent on modules, parameters and `autograd.Function`.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_MAKERS = frozenset({"_make_subclass", "_make_wrapper_subclass", "as_subclass"})
_HOOKS = frozenset({"__torch_function__", "__torch_dispatch__"})
_MODES = ("TorchDispatchMode", "TorchFunctionMode")


def find(reading: PythonReading) -> list[Spot]:
    """Classes derived from a tensor, hooks and the calls that make such objects."""
    found: dict[int, str] = {}
    for node in reading.nodes(ast.ClassDef):
        bases = [reading.name(base) for base in node.bases]
        if any(base == "torch.Tensor" or base.endswith(_MODES) for base in bases):
            found[node.lineno] = f"class {node.name} stands in for a tensor"
    for function in reading.functions:
        if function.name in _HOOKS:
            found[function.lineno] = f"{function.name} runs whenever an operator sees such an object"
    for call, name in reading.calls():
        if name.rpartition(".")[2] in _MAKERS:
            found.setdefault(call.lineno, f"{name.rpartition('.')[2]} makes a tensor of another class")
    return [Spot(line, result) for line, result in found.items()]


RULE = Rule("tensor_subclass", __doc__, "contract", find)
