"""Named sizes of a task, by its syntax tree, and the smaller ones proposed for the emulated device."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Mapping

from audit.importers.imported import Shapes
from audit.importers.python_text import PythonText, last_name

MOST_ELEMENTS = 1 << 14
"""Of all inputs together, so that a kernel of a thread an element runs within a second on the emulated device."""
MOST_WITHOUT_COUNT = 64
"""For a size where the elements it makes cannot be counted."""
MOST_AS_PUBLISHED = 1 << 20
"""A shape with more elements than this is none for the emulated device."""
FEWEST = 16
"""No size above this is proposed below it, and sizes are halved only: what a kernel divides by is kept so far."""
PLAIN = {"as_published": 1}
"""The shape of a task without named sizes."""
_MAKERS = ("randn", "rand", "zeros", "ones", "empty", "full", "randint")


def of_module(
    task: PythonText, *, apart: Iterable[str] = (), made_with: Iterable[str] = (), sources: Iterable[str] = ()
) -> tuple[Shapes, list[str]]:
    """The shapes of a task with `get_inputs` and constants, and what was chosen, in words.

    A constant is a size where `get_inputs` needs it, and none of the functions and classes named in `apart` does, since
    those are made before a shape is chosen.

    Args:
        task: the task's source.
        apart: top-level names that must not depend on a size.
        made_with: functions whose constants are sizes too: those of parameters, which no call there makes visible.
        sources: texts of the claimed kernel; a size whose number stands in one of them is not made smaller.
    """
    maker = task.functions.get("get_inputs")
    if maker is None:
        return Shapes(claimed={}), []
    fixed = {name for one in apart for name in _needed(task, one)}
    made = {name for one in made_with for name in _needed(task, one)}
    sizes = {name: value for name, value in task.integers.items() if name in (task.reached(maker) | made) - fixed}
    counted = _counter(task)
    if not sizes:
        elements = counted({})
        small = elements is not None and elements <= MOST_AS_PUBLISHED
        return Shapes(claimed=PLAIN, emulated=(PLAIN,) if small else ()), []
    return scaled(sizes, counted=counted, capped=made, sources=sources)


def scaled(
    sizes: Mapping[str, int],
    *,
    counted: Callable[[Mapping[str, int]], int | None],
    capped: Collection[str] = (),
    sources: Iterable[str] = (),
) -> tuple[Shapes, list[str]]:
    """The sizes as claimed, and halved until they make few elements; not where a source holds the number itself."""
    held = [name for name, value in sizes.items() if value > FEWEST and _stands_in(value, sources)]
    small = {name: value for name, value in sizes.items() if name not in held}
    for name in capped:
        while small.get(name, 0) > MOST_WITHOUT_COUNT and small[name] % 2 == 0:
            small[name] //= 2
    while _too_many(counted({**sizes, **small}), small):
        largest = max(small, key=lambda name: small[name])
        small[largest] //= 2
    emulated = {**sizes, **small}
    elements = counted(emulated)
    if held and (elements is None or elements > MOST_AS_PUBLISHED):
        told = ", ".join(f"{name} = {sizes[name]}" for name in held)
        return Shapes(claimed=sizes), [f"no smaller shape is proposed: the source itself holds {told}"]
    shown = ", ".join(f"{name} {sizes[name]} -> {value}" for name, value in emulated.items() if value != sizes[name])
    choices = [f"shapes.emulated: sizes halved for the emulated device ({shown})"] if shown else []
    return Shapes(claimed=sizes, emulated=(emulated,)), choices


def _too_many(elements: int | None, small: Mapping[str, int]) -> bool:
    """Whether to halve once more; an odd size and one at the least stay."""
    largest = max(small.values(), default=0)
    if largest <= FEWEST or largest % 2:
        return False
    return largest > MOST_WITHOUT_COUNT if elements is None else elements > MOST_ELEMENTS


def _stands_in(value: int, sources: Iterable[str]) -> bool:
    number = re.compile(rf"(?<![\w.]){value}(?![\w.])")
    return any(number.search(text) for text in sources)


def _needed(task: PythonText, name: str) -> set[str]:
    node = task.functions.get(name) or task.classes.get(name)
    return task.reached(node) if node is not None else set()


def _counter(task: PythonText) -> Callable[[Mapping[str, int]], int | None]:
    """Counts the elements that `get_inputs` makes with given sizes; None where its calls are not plain enough."""
    calls = [
        node
        for node in ast.walk(task.functions["get_inputs"])
        if isinstance(node, ast.Call) and last_name(node.func) in _MAKERS
    ]

    def counted(sizes: Mapping[str, int]) -> int | None:
        counts = [_elements(task, call, sizes) for call in calls]
        return None if not counts or None in counts else sum(one or 0 for one in counts)

    return counted


def _elements(task: PythonText, call: ast.Call, sizes: Mapping[str, int]) -> int | None:
    """The product of a call's positional sizes; None for one that is not plain."""
    total = 1
    dimensions = [one for argument in call.args for one in _spread(argument)]
    for node in dimensions[2:] if last_name(call.func) == "randint" else dimensions:
        value = sizes[node.id] if isinstance(node, ast.Name) and node.id in sizes else task.value(node)
        for size in value if isinstance(value, list) else [value]:
            if type(size) is not int or size <= 0:
                return None
            total *= size
    return total


def _spread(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Starred):
        return [node.value]
    return list(node.elts) if isinstance(node, ast.Tuple | ast.List) else [node]
