"""Rules about the tests of branches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from audit.review.python_reading import PythonReading
from audit.review.python_tree import inside, names_in, raises
from audit.review.rule import Spot, names, rule

_SIZES = frozenset({"shape", "size", "numel"})
_SMALLEST = 8  # smaller numbers are dimensions and vector widths
_READS = names("item any all max min amax amin sum mean std norm equal allclose isnan isinf isfinite count_nonzero")
_ABOUT = frozenset({"shape", "size", "stride", "dtype", "device"})
_BY_CONTRACT = ("dropout", "running_mean", "running_var", "momentum", "batch_norm", "num_batches_tracked")
_MODES = ("self.training", "torch.is_grad_enabled", "torch.is_inference_mode_enabled")
_COUNTERS = (ast.Name, ast.Attribute, ast.Subscript)
_OUTER = (ast.Global, ast.Nonlocal)


@rule("agreement")
def shape_branch(reading: PythonReading) -> Iterator[Spot]:
    """Does one size decide which code runs?

    Silent on assertions and on branches that refuse, on small numbers, and on comparisons for order.
    """
    for node in reading.branches():
        if isinstance(node, ast.If) and raises(node.body):
            continue
        for compare in inside(node.test, ast.Compare):
            sides = [compare.left, *compare.comparators]
            equal = any(isinstance(op, ast.Eq | ast.In) for op in compare.ops)
            if equal and any(_is_size(side) for side in sides) and any(_is_number(side) for side in sides):
                yield Spot(compare.lineno, f"{ast.unparse(compare)[:80]} chooses what runs by one size")


def _is_size(node: ast.expr) -> bool:
    return any(each.attr in _SIZES for each in inside(node, ast.Attribute))


def _is_number(node: ast.expr) -> bool:
    if _is_size(node):
        return False
    values = (each.value for each in inside(node, ast.Constant))
    return any(isinstance(value, int) and value >= _SMALLEST for value in values)


@rule("distributions")
def value_branch(reading: PythonReading) -> Iterator[Spot]:
    """Do the values of an input decide which code runs?

    Silent on branches that refuse or pass over a step of a loop, and on values that are only handed on.
    """
    for node in reading.branches():
        refuses = isinstance(node, ast.If) and (raises(node.body) or isinstance(node.body[0], ast.Continue))
        function = reading.function(node)
        read = next(filter(None, (_read(reading, call) for call in inside(node.test, ast.Call))), None)
        if read and not refuses and function is not None and function in reading.functions:
            yield Spot(node.lineno, f"{read} reads values, and they decide what runs")


def _read(reading: PythonReading, call: ast.Call) -> str | None:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _READS:
        return None
    home = reading.name(call).split(".")[0]
    if home in ("math", "os", "numpy", "triton", "builtins"):
        return None
    about = any(each.attr in _ABOUT for each in inside(call, ast.Attribute))
    return None if about else f"{call.func.attr}()"


@rule("agreement")
def training_branch(reading: PythonReading) -> Iterator[Spot]:
    """Does the mode, training or evaluation, decide what is computed?

    Silent where the branch belongs to dropout or to running statistics, whose results the mode really changes.
    """
    for node in reading.branches():
        named = map(reading.name, inside(node.test, ast.Attribute, ast.Call))
        asked = next((name for name in named if name in _MODES), None)
        words = {*names_in(node), *(each.attr for each in inside(node, ast.Attribute))} if asked else set()
        if asked and not any(mark in word.lower() for word in words for mark in _BY_CONTRACT):
            yield Spot(node.lineno, f"{asked} decides what is computed")


@rule("repeat")
def call_count(reading: PythonReading) -> Iterator[Spot]:
    """Does a number that counts calls decide what a call does?

    Silent on counters that are only counted or printed, on remainders of a count, and on loop variables.
    """
    counters = _counters(reading)
    for node in reading.branches():
        asked = sorted({ast.unparse(each) for each in ast.walk(node.test) if isinstance(each, _COUNTERS)} & counters)
        if asked and not any(inside(node.test, ast.Mod)) and _matters(node):
            yield Spot(node.lineno, f"{asked[0]} counts calls and decides what a call does")


def _counters(reading: PythonReading) -> set[str]:
    found = set()
    for node in reading.nodes(ast.AugAssign):
        function = reading.function(node)
        if function is None or not isinstance(node.op, ast.Add) or not isinstance(node.value, ast.Constant):
            continue
        looped = any(isinstance(each, ast.For | ast.While) for each in reading.ancestors(node))
        if not looped and (not isinstance(node.target, ast.Name) or node.target.id in _shared(function)):
            found.add(ast.unparse(node.target))
    return found


@lru_cache(maxsize=64)
def _shared(function: ast.AST) -> frozenset[str]:
    """Return the names that a function shares with what is around it."""
    return frozenset(name for each in ast.walk(function) if isinstance(each, _OUTER) for name in each.names)


def _matters(node: ast.If | ast.IfExp | ast.While) -> bool:
    """Return whether a branch does more than count or print."""
    if isinstance(node, ast.IfExp) or node.orelse:
        return True
    return not all(isinstance(each, ast.AugAssign | ast.Expr | ast.Pass) for each in node.body)
