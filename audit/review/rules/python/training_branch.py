"""Does the mode, training or evaluation, decide what is computed?

Silent where the branch belongs to dropout or to running statistics, whose results the mode really changes.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_BY_CONTRACT = ("dropout", "running_mean", "running_var", "momentum", "batch_norm", "num_batches_tracked")


def find(reading: PythonReading) -> list[Spot]:
    """Branches on `self.training` and on whether gradients are recorded."""
    spots = []
    for node in reading.branches():
        asked = next((name for each in ast.walk(node.test) if (name := _mode(reading, each))), None)
        if asked and not _by_contract(node):
            spots.append(Spot(node.lineno, f"{asked} decides what is computed"))
    return spots


def _mode(reading: PythonReading, node: ast.AST) -> str | None:
    name = reading.name(node) if isinstance(node, ast.Attribute | ast.Call) else ""
    return name if name in ("self.training", "torch.is_grad_enabled", "torch.is_inference_mode_enabled") else None


def _by_contract(node: ast.AST) -> bool:
    words = [
        each.attr if isinstance(each, ast.Attribute) else each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute | ast.Name)
    ]
    return any(mark in word.lower() for word in words for mark in _BY_CONTRACT)


RULE = Rule("training_branch", __doc__, "agreement", find)
