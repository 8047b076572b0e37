"""The least work of a task whose text fixes it: one dense operation over inputs of fixed shapes. The text is never run.

Known are products of matrices and operations that read every element of their input once. Whatever else a task does,
or says in another way, has no least work here: nothing is guessed.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import pandas as pd

from audit.lint.datasets.task_shapes import Shape, inputs_of

ITEM_BYTES = 4
MATRIX = ("matmul", "mm", "bmm")
SAME_SHAPE = (
    "relu",
    "sigmoid",
    "tanh",
    "gelu",
    "silu",
    "selu",
    "elu",
    "softplus",
    "softmax",
    "log_softmax",
    "leaky_relu",
)
REDUCED = ("sum", "mean", "amax", "amin", "argmax", "argmin", "prod")


@dataclass(frozen=True)
class Work:
    """What a task takes at least: floating-point operations, and bytes between the kernel and memory."""

    flops: float
    bytes: float


def of_tasks(frame: pd.DataFrame, column: str) -> dict[str, pd.Series]:
    """The columns `flops` and `bytes` of a dataset, NaN where the task's text does not fix them."""
    if column not in frame:
        return {}
    texts = {text: of_task(text) for text in frame[column].unique() if isinstance(text, str)}
    known = [texts.get(text) if isinstance(text, str) else None for text in frame[column]]
    return {
        key: pd.Series([getattr(one, key) if one else np.nan for one in known], index=frame.index, dtype=float)
        for key in ("flops", "bytes")
    }


def of_task(text: str) -> Work | None:
    """The least work of a KernelBench task; None where its text does not say it plainly."""
    try:
        with warnings.catch_warnings(action="ignore"):  # a stranger's "0if" is no concern of the terminal
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    forward = next((one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == "forward"), None)
    shapes = inputs_of(tree)
    if forward is None or shapes is None:
        return None
    names = [one.arg for one in forward.args.args[1:]]
    result = _returned(forward)
    if result is None or len(names) != len(shapes):
        return None
    return _of_expression(result, dict(zip(names, shapes, strict=True)))


def _returned(function: ast.FunctionDef) -> ast.expr | None:
    """The expression of a function that is nothing but a docstring and a return."""
    body = [one for one in function.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None


def _of_expression(told: ast.expr, shapes: dict[str, Shape]) -> Work | None:
    name, operands = _operation(told)
    given = [_shape(one, shapes) for one in operands]
    known = [shape for _, shape in filter(None, given)]
    if len(known) != len(given) or not known:
        return None
    if len({of for of, _ in filter(None, given)}) < len(given):
        return None  # a product with itself has symmetries that spare work
    return next((ask(known) for names, ask in _KNOWN if name in names), None)


def _operation(told: ast.expr) -> tuple[str, Sequence[ast.expr]]:
    """Its name without the module, and the tensors it is asked about; other arguments change no work."""
    if isinstance(told, ast.BinOp) and isinstance(told.op, ast.MatMult):
        return "matmul", (told.left, told.right)
    if isinstance(told, ast.Call) and isinstance(told.func, ast.Attribute):
        count = 2 if told.func.attr in MATRIX else 1
        if ast.unparse(told.func.value) in ("torch", "F", "torch.nn.functional"):
            return told.func.attr, told.args[:count]
    return "", ()


def _shape(told: ast.expr, shapes: dict[str, Shape]) -> tuple[str, Shape] | None:
    """The input an operand is, as it is or transposed, and the operand's shape."""
    if isinstance(told, ast.Name):
        return (told.id, shapes[told.id]) if told.id in shapes else None
    turned = ast.unparse(told)
    return next(
        (
            (name, shape[::-1])
            for name, shape in shapes.items()
            if turned in (f"{name}.T", f"{name}.t()") and len(shape) == 2
        ),
        None,
    )


def _product(given: Sequence[Shape]) -> Work | None:
    if len(given) != 2 or min(map(len, given)) < 2:
        return None
    left, right = given
    if left[-1] != right[-2] or (len(right) > 2 and left[:-2] != right[:-2]):
        return None
    result = (*left[:-1], right[-1])
    return Work(2.0 * prod(result) * left[-1], ITEM_BYTES * float(prod(left) + prod(right) + prod(result)))


def _same_shape(given: Sequence[Shape]) -> Work:
    return Work(float(prod(given[0])), 2.0 * ITEM_BYTES * prod(given[0]))


def _reduced(given: Sequence[Shape]) -> Work:
    return Work(float(prod(given[0])), float(ITEM_BYTES * prod(given[0])))


_KNOWN: tuple[tuple[tuple[str, ...], Callable[[Sequence[Shape]], Work | None]], ...] = (
    (MATRIX, _product),
    (SAME_SHAPE, _same_shape),
    (REDUCED, _reduced),
)
