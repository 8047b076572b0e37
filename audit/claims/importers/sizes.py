"""Named sizes of a task, by its syntax tree, and the smaller ones proposed for the emulated device."""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterable, Mapping

from audit.claims.importers.facts import Shapes
from audit.claims.literal_sizes import dimensions, literal_sizes, makers_in, name_of
from audit.claims.python_text import PythonText
from audit.claims.shapes.counting import RESIDUE, candidates, keeps
from audit.claims.shapes.numbers import demanded, named
from audit.review.python_tree import names_in

MOST_AS_PUBLISHED = 1 << 20
"""A shape whose inputs have more elements than this is none for the emulated device."""
PLAIN = {"as_published": 1}
"""The shape of a task without named sizes."""
REPEATING = ("batch", "rows", "bs")
"""How the names of sizes begin that only repeat the work."""


def of_module(
    task: PythonText,
    *,
    apart: Iterable[str] = (),
    made_with: Iterable[str] = (),
    module: Collection[str] = (),
    sources: Iterable[str] = (),
) -> tuple[Shapes, list[str]]:
    """Return the shapes of a task with `get_inputs` and constants, and what was chosen, in words.

    A constant is a size where `get_inputs` needs it, and none of the functions and classes named in `apart` does, since
    those are made before a shape is chosen. So are numbers in calls there, see `literal_sizes`, where one of them is
    large or no constant is a size.

    Args:
        apart: top-level names that must not depend on a size.
        made_with: functions whose constants are sizes too: those of parameters, which no call there makes visible.
        module: constants that are sizes of a module too, which is made for each shape.
        sources: texts of the claimed kernel, whose numbers say which smaller shapes count for the claim.
    """
    maker = task.functions.get("get_inputs")
    if maker is None:
        return Shapes(claimed={}), []
    fixed = {name for one in apart for name in _needed(task, one)} - {*module}
    made = {name for one in made_with for name in _needed(task, one)} | {*module}
    sizes = {name: value for name, value in task.integers.items() if name in (task.reached(maker) | made) - fixed}
    literals = {name: int(ast.literal_eval(places[0])) for name, places in literal_sizes(task.tree).items()}
    if not sizes or max(literals.values(), default=0) > RESIDUE:
        sizes |= literals
    calls = makers_in(maker)
    if not sizes:
        elements = _counted(task, calls, {})
        small = elements is not None and elements <= MOST_AS_PUBLISHED
        return (Shapes(PLAIN, emulated=(PLAIN,)), []) if small else _as_claimed(PLAIN)
    repeating, above = _leading(calls, sizes), _above(task, sizes)
    found, choices = smaller(sizes, sources=sources, repeating=repeating, above=above, module=module)
    if any((_counted(task, calls, shape) or 0) <= MOST_AS_PUBLISHED for shape in found.emulated):
        return found, choices
    return _as_claimed(sizes, module=module)


def tied(task: PythonText, sizes: Collection[str], *, apart: Iterable[str]) -> dict[str, dict[int, str]]:
    """Return the places in top-level tuples of numbers that change with a size, by the tuple's name.

    One input has the size alone, another one the size and a tuple with the same number: the two inputs meet along that
    number, so a task at another size needs both.
    """
    maker = task.functions.get("get_inputs")
    fixed = {name for one in apart for name in _needed(task, one)}
    makers = makers_in(maker) if maker else []
    used = [{name for each in dimensions(one) for name in names_in(each)} for one in makers]
    found: dict[str, dict[int, str]] = {}
    for name in {one for names in used for one in names} - fixed:
        for place, number in enumerate(value if isinstance(value := task.constant(name), list | tuple) else ()):
            alike = [size for size in sizes if task.integers.get(size) == number]
            with_it = [name in names for names in used if alike and alike[0] in names]
            if len(alike) == 1 and True in with_it and False in with_it:
                found.setdefault(name, {})[place] = alike[0]
    return found


def _as_claimed(sizes: Mapping[str, int], *, module: Iterable[str] = ()) -> tuple[Shapes, list[str]]:
    """Return the claimed shape as the only one, where none is proposed that is smaller."""
    choice = "shapes.emulated: the claimed one, too large to be done in time there; --shape NAME=SIZE gives another"
    return Shapes(sizes, emulated=(sizes,), emulated_by="importer", module=tuple(module)), [choice]


def smaller(
    sizes: Mapping[str, int],
    *,
    sources: Iterable[str] = (),
    repeating: Collection[str] | None = None,
    above: Collection[tuple[str, str]] = (),
    module: Collection[str] = (),
) -> tuple[Shapes, list[str]]:
    """Return the sizes as claimed, and candidates for the emulated device, see `counting.candidates`.

    Sizes that only repeat the work are told by their names where `repeating` is None.
    """
    numbers = named(sources)
    batch = [name for name in sizes if name.lower().startswith(REPEATING)] if repeating is None else repeating
    needed = demanded(sources)
    found = tuple(candidates(sizes, numbers, repeating=batch, demanded=needed, above=above, module=module))
    choices = []
    if len(found) > 1 or found[0] != dict(sizes):
        counting = [one for one in found if keeps(one, sizes, numbers, module=module)]
        shown = "; ".join(", ".join(f"{name} = {size}" for name, size in one.items()) for one in counting)
        at, keep = ("first of them", "keeps") if len(counting) == 1 else (f"first {len(counting)} of them", "keep")
        choices = [
            f"shapes.emulated: {len(found)} candidates for the emulated device; it runs the first whose work fits it",
            f"shapes.emulated: a failure counts for the claim at the {at} alone ({shown}), which {keep} every "
            "size's residue modulo 256 and its divisors in common with the numbers of the source",
        ]
    return Shapes(claimed=dict(sizes), emulated=found, emulated_by="importer", module=tuple(module)), choices


def _above(task: PythonText, sizes: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the pairs of sizes whose difference the task names, the larger one first."""
    taken = [node for node in ast.walk(task.tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)]
    pairs = {(one.left.id, one.right.id) for one in taken
             if isinstance(one.left, ast.Name) and isinstance(one.right, ast.Name)}  # fmt: skip
    return sorted(pair for pair in pairs if sizes.get(pair[0], 0) > sizes.get(pair[1], math.inf))


def _leading(calls: Iterable[ast.Call], sizes: Collection[str]) -> list[str]:
    """Return the sizes that are the first dimension of inputs and nothing else: of a batch, or rows."""
    first: set[str] = set()
    later: set[str] = set()
    for call in calls:
        leading, *others = map(_names, dimensions(call)) if dimensions(call) else [set[str]()]
        first |= leading if others else set()
        later |= set[str]().union(*others)
    return [name for name in sizes if name in first - later]


def _needed(task: PythonText, name: str) -> set[str]:
    node = task.functions.get(name) or task.classes.get(name)
    return task.reached(node) if node is not None else set()


def _counted(task: PythonText, calls: Iterable[ast.Call], sizes: Mapping[str, int]) -> int | None:
    """Return the elements that those calls make with given sizes; None where they are not plain enough."""
    counts = [_elements(task, call, sizes) for call in calls]
    return None if not counts or None in counts else sum(one or 0 for one in counts)


def _elements(task: PythonText, call: ast.Call, sizes: Mapping[str, int]) -> int | None:
    """Return the product of a call's positional sizes; None for one that is not plain."""
    total = 1
    for node in dimensions(call):
        named = sizes.keys() & _names(node) if isinstance(node, ast.Name | ast.Constant) else ()
        value = sizes[min(named)] if named else task.value(node)
        for size in value if isinstance(value, list) else [value]:
            if type(size) is not int or size <= 0:
                return None
            total *= size
    return total


def _names(node: ast.expr) -> set[str]:
    """Return the names in a dimension; that of a number too."""
    return {name_of(node)} if isinstance(node, ast.Constant) else names_in(node)
