"""Rules about Triton kernels and their launches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from audit.review.python_reading import PythonReading
from audit.review.python_tree import inside
from audit.review.rule import OUTSIDE, Spot, grouped, rule

_ACCESS = frozenset({"triton.language.load", "triton.language.store"})
_SIZE = (ast.Name, ast.Subscript, ast.Call, ast.Attribute)
"""A name, an element of a shape, or a call such as `x.numel()`; not a sum or a negated value."""
_ADDS = frozenset({"triton.language.atomic_add", "triton.language.atomic_xor"})
_UNDO = frozenset({"reset_to_zero", "restore_value", "pre_hook", "post_hook", None})
"""Arguments of `triton.autotune` or a configuration that take back what a trial writes; None stands for `**options`."""
_PLACE = frozenset({"triton.language.program_id", "triton.language.arange"})


@rule("coverage")
def triton_grid(reading: PythonReading) -> Iterator[Spot]:
    """Is the number of Triton programs rounded down, so that a rest of the problem has none?

    Silent where the quotient is rounded up in any way, and where the file compares a remainder.
    """
    if any(isinstance(node.op, ast.Mod) for node in reading.nodes(ast.BinOp)):
        return
    for call in reading.nodes(ast.Call):
        if not isinstance(call.func, ast.Subscript):
            continue
        for node in inside(_grid(reading, call.func.slice), ast.BinOp):
            if isinstance(node.op, ast.FloorDiv) and isinstance(node.left, _SIZE):
                text = f"{ast.unparse(node)[:60]} programs leave out what the division does not come out even with"
                yield Spot(node.lineno, text)


def _grid(reading: PythonReading, grid: ast.expr) -> ast.expr:
    """Return the grid, or the value that its name was given once."""
    if not isinstance(grid, ast.Name):
        return grid
    given = _given(reading).get(grid.id, [])
    return given[0] if len(given) == 1 else grid


@lru_cache(maxsize=1)
def _given(reading: PythonReading) -> dict[str, list[ast.expr]]:
    """Return the values that assignments give to each name."""
    given = ((one, node.value) for node in reading.nodes(ast.Assign) for one in node.targets)
    return grouped(dict.fromkeys((one.id, value) for one, value in given if isinstance(one, ast.Name)))


@rule("order", precise=True)
def tuning_trials(reading: PythonReading) -> Iterator[Spot]:
    """Do the trials of `triton.autotune` add to memory before the first call does?

    Silent where `reset_to_zero`, `restore_value` or a hook is given, and where one configuration is listed.
    """
    for kernel in reading.nodes(ast.FunctionDef):
        adds = [call for call in inside(kernel, ast.Call) if reading.name(call) in _ADDS]
        for tuned in kernel.decorator_list:
            if adds and isinstance(tuned, ast.Call) and reading.name(tuned) == "triton.autotune" and not _undone(tuned):
                yield Spot(tuned.lineno, f"trials of the autotuner add to what the kernel {kernel.name} adds to")


def _undone(tuned: ast.Call) -> bool:
    """Return whether the writes of a trial are taken back, or there is none."""
    options = {each.arg: each.value for node in ast.walk(tuned) if isinstance(node, ast.Call) for each in node.keywords}
    configurations = options.get("configs", tuned.args[0] if tuned.args else None)
    alone = isinstance(configurations, ast.List | ast.Tuple) and len(configurations.elts) < 2
    return alone or not _UNDO.isdisjoint(options)


@rule("memory_access", kinds=OUTSIDE)
def unmasked_access(reading: PythonReading) -> list[Spot]:
    """Does a Triton kernel access a range of elements that nothing cuts off at the end?

    Silent in kernels that mask anything, use block pointers or descriptors, or loop, and where a remainder is
    compared.
    """
    if any(isinstance(node.op, ast.Mod) for node in reading.nodes(ast.BinOp)):
        return []
    kernels = [node for node in reading.nodes(ast.FunctionDef) if node not in reading.functions]
    return [spot for kernel in kernels for spot in _of_kernel(reading, kernel)]


def _of_kernel(reading: PythonReading, kernel: ast.FunctionDef) -> list[Spot]:
    calls = list(inside(kernel, ast.Call))
    names = {reading.name(call) for call in calls}
    accesses = [call for call in calls if reading.name(call) in _ACCESS]
    masked = any(each.arg in ("mask", "boundary_check") for call in accesses for each in call.keywords)
    by_position = any(len(call.args) > 1 + reading.name(call).endswith("store") for call in accesses)
    loops = any(inside(kernel, ast.For, ast.While))
    blocks = any("make_" in name for name in names)
    if masked or by_position or loops or blocks or not names >= _PLACE or not accesses:
        return []
    text = f"kernel {kernel.name} accesses a range here and masks nothing past the end"
    return [Spot(accesses[0].lineno, text)]
