"""The least work of a task whose text fixes it: one dense operation over inputs of fixed shapes. The text is never run.

Known are products of matrices and operations that read every element of their input once. Whatever else a task does,
or says in another way, has no least work here: nothing is guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np
import pandas as pd

from audit.model import python_text
from audit.review.python_constants import Constants, NotConstant
from audit.review.python_tree import last_name
from audit.review.rule import names

Shape = tuple[int, ...]
RANDOM = ("rand", "randn")
LARGEST = 1 << 40
ITEM_BYTES = 4
MATRIX = ("matmul", "mm", "bmm")
SAME_SHAPE = names("relu sigmoid tanh gelu silu selu elu softplus softmax log_softmax leaky_relu")
REDUCED = ("sum", "mean", "amax", "amin", "argmax", "argmin", "prod")


@dataclass(frozen=True)
class LeastWork:
    """The least work of a task: floating-point operations, and bytes between the kernel and memory."""

    flops: float
    bytes: float


def of_tasks(frame: pd.DataFrame, column: str) -> dict[str, pd.Series]:
    """Return the columns `flops` and `bytes` of a dataset, NaN where the task's text does not fix them."""
    if column not in frame:
        return {}
    texts = {text: of_task(text) for text in frame[column].unique() if isinstance(text, str)}
    known = [texts.get(text) if isinstance(text, str) else None for text in frame[column]]
    return {
        key: pd.Series([getattr(one, key) if one else np.nan for one in known], index=frame.index, dtype=float)
        for key in ("flops", "bytes")
    }


def of_task(text: str) -> LeastWork | None:
    """Return the least work of a KernelBench task; None where its text does not say it plainly."""
    try:
        tree = python_text.module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    forward = next((one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == "forward"), None)
    shapes = inputs_of(tree)
    if forward is None or shapes is None:
        return None
    arguments = [one.arg for one in forward.args.args[1:]]
    result = _returned(forward)
    if result is None or len(arguments) != len(shapes):
        return None
    return _of_expression(result, dict(zip(arguments, shapes, strict=True)))


def _returned(function: ast.FunctionDef) -> ast.expr | None:
    """Return the expression of a function that is nothing but a docstring and a return."""
    body = [one for one in function.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None


def _of_expression(result: ast.expr, shapes: dict[str, Shape]) -> LeastWork | None:
    name, operands = _operation(result)
    given = [_shape(one, shapes) for one in operands]
    known = [shape for _, shape in filter(None, given)]
    if len(known) != len(given) or not known:
        return None
    if len({of for of, _ in filter(None, given)}) < len(given):
        return None  # a product with itself has symmetries that spare work
    return next((ask(known) for known_names, ask in _KNOWN if name in known_names), None)


def _operation(result: ast.expr) -> tuple[str, Sequence[ast.expr]]:
    """Its name without the module, and the tensors it is asked about; other arguments change no work."""
    if isinstance(result, ast.BinOp) and isinstance(result.op, ast.MatMult):
        return "matmul", (result.left, result.right)
    if isinstance(result, ast.Call) and isinstance(result.func, ast.Attribute):
        count = 2 if result.func.attr in MATRIX else 1
        if ast.unparse(result.func.value) in ("torch", "F", "torch.nn.functional"):
            return result.func.attr, result.args[:count]
    return "", ()


def _shape(result: ast.expr, shapes: dict[str, Shape]) -> tuple[str, Shape] | None:
    """Return the input an operand is, as it is or transposed, and the operand's shape."""
    if isinstance(result, ast.Name):
        return (result.id, shapes[result.id]) if result.id in shapes else None
    turned = ast.unparse(result)
    for name, shape in shapes.items():
        if turned in (f"{name}.T", f"{name}.t()") and len(shape) == 2:
            return name, shape[::-1]
    return None


def _product(given: Sequence[Shape]) -> LeastWork | None:
    if len(given) != 2 or min(map(len, given)) < 2:
        return None
    left, right = given
    if left[-1] != right[-2] or (len(right) > 2 and left[:-2] != right[:-2]):
        return None
    result = (*left[:-1], right[-1])
    return LeastWork(2.0 * prod(result) * left[-1], ITEM_BYTES * float(prod(left) + prod(right) + prod(result)))


def _of_each_element(given: Sequence[Shape], *, moved: int) -> LeastWork:
    """Return one operation an element, of which that many are moved: read alone, or written too."""
    count = float(prod(given[0]))
    return LeastWork(count, moved * ITEM_BYTES * count)


_KNOWN: tuple[tuple[Collection[str], Callable[[Sequence[Shape]], LeastWork | None]], ...] = (
    (MATRIX, _product),
    (SAME_SHAPE, partial(_of_each_element, moved=2)),
    (REDUCED, partial(_of_each_element, moved=1)),
)


def inputs_of(tree: ast.Module) -> tuple[Shape, ...] | None:
    """Return one shape an input; None unless every input is random float32 of a shape the text fixes."""
    function = next((one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "get_inputs"), None)
    result = next((one.value for one in function.body if isinstance(one, ast.Return)), None) if function else None
    if function is None or not isinstance(result, ast.List | ast.Tuple):
        return None
    known = Constants(tree, within=[function])
    bound = [(last_name(one.targets[0]), one.value) for one in function.body if isinstance(one, ast.Assign)]
    tensors = {name: shape for name, value in bound if (shape := _random(value, known)) is not None}
    made = (tensors.get(one.id) if isinstance(one, ast.Name) else _random(one, known) for one in result.elts)
    found = tuple(shape for shape in made if shape is not None)
    return found if len(found) == len(result.elts) else None


def _random(result: ast.expr, known: Constants) -> Shape | None:
    """Return the shape of `torch.rand(...)` or `torch.randn(...)`, also with `.cuda()` behind it; float32 only."""
    if not isinstance(result, ast.Call) or not isinstance(result.func, ast.Attribute):
        return None
    if result.func.attr == "cuda" and not result.args:
        return _random(result.func.value, known)
    torch = isinstance(result.func.value, ast.Name) and result.func.value.id == "torch"
    if not torch or result.func.attr not in RANDOM or any(one.arg not in ("device", None) for one in result.keywords):
        return None
    try:
        given = [known.value(one.value if isinstance(one, ast.Starred) else one) for one in result.args]
    except NotConstant:
        return None
    sizes = [size for one in given for size in (one if isinstance(one, list) else [one])]
    whole = bool(sizes) and all(type(size) is int and size > 0 for size in sizes)
    return tuple(sizes) if whole and prod(sizes) < LARGEST else None
