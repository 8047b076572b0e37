"""Claims stated as KernelBench states them, wherever they stand: a module `Model` and one called `ModelNew`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from audit.claims.importers import facts, sizes
from audit.claims.python_text import MODEL, PythonText

TOLERANCE = facts.Tolerance(
    1e-2, f"KernelBench's own: allclose with atol = rtol = 1e-2 for float32 in v0 and v0.1 (1e-4 later); {facts.RMS}"
)
MADE_BEFORE = ("Model", "get_init_inputs")
"""Top-level names that must not depend on a size: the module is made before a shape is chosen."""
TASK, SOLUTION = "task.py", "solution.py"
NO_INPUTS = facts.essential(
    "the task has no get_inputs that makes any, so its evaluation makes them in a way of its own",
    "original/task.py",
    "write get_inputs there, and a forward that takes them",
)
NO_INIT = facts.essential(
    "get_init_inputs of the task is not made of constants",
    "reference.py get_init_inputs",
    "write there what it returns",
)


def imported(
    format_: str,
    *,
    task: facts.Original | None,
    solution: facts.Original,
    shape: Iterable[tuple[str, int]] = (),
    kernel: str = MODEL,
) -> facts.Imported:
    """Return the record of such a claim, without figures; the tolerance is KernelBench's.

    `shape` has sizes in place of the task's own; `kernel` is the class or function of the solution that is claimed.
    Raises BadInput: a source is no Python.
    """
    used = PythonText(solution.data, where=solution.published_as).used_by(kernel)
    name = named_after((task or solution).published_as)
    claim = facts.Imported(
        format=format_,
        provenance=solution.published_as,
        name=name,
        title=name.replace("_", " "),
        originals=(facts.Original(SOLUTION, solution.data, solution.published_as),),
        claimed=facts.Claimed("claimed.py", solution.data, "forward", "class ModelNew as published"),
        tolerance=TOLERANCE,
    )
    return claim.lacking(facts.NO_TASK, facts.NO_COST) if task is None else _with_task(claim, task, used, shape)


def named_after(place: str) -> str:
    """Return a name for a claim folder, from the place its source stood in."""
    stem = re.sub(r"\.\w+$", "", place.rpartition("/")[2])
    words = re.findall(r"[a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", stem).lower())
    return "_".join(words)[:60].strip("_") or "imported"


def absent(task: PythonText, function: str, *, where: str) -> list[facts.Missing]:
    """Return what a task lacks of a class `Model` and of that function; `where` is its name in words."""
    names = [name for name, there in (("Model", task.classes), (function, task.functions)) if name not in there]
    return [facts.essential(f"{where} has no {name}", "reference.py", "write it there") for name in names]


def first_line(task: PythonText) -> str:
    """Return the first line of what the task's `Model` says of itself."""
    result = ast.get_docstring(task.classes["Model"]) if "Model" in task.classes else None
    return (result or "").strip().partition("\n")[0].strip() or "what class Model of original/task.py computes"


def _with_task(
    claim: facts.Imported, stated: facts.Original, solution: str, shape: Iterable[tuple[str, int]]
) -> facts.Imported:
    task = published = PythonText(stated.data, where=stated.published_as)
    replaced = {name: size for name, size in shape if name in task.integers}
    task = task.with_integers(replaced) if replaced else task
    shapes, choices = sizes.of_module(task, apart=MADE_BEFORE, sources=[solution])
    tied = sizes.tied(published, shapes.claimed, apart=MADE_BEFORE)
    init_inputs = _init_inputs(task)
    fixed = {name: size for name, size in replaced.items() if name not in shapes.claimed}
    made = task.returned("get_inputs")
    without = "get_inputs" not in task.functions or (made is not None and task.value(made) == [])
    missing = [
        *([NO_INPUTS] if without else [] if shapes.emulated else [facts.NO_SHAPE]),
        *([] if init_inputs is not None else [NO_INIT]),
        facts.NO_COST,
    ]
    return replace(
        claim.lacking(*missing),
        task=first_line(task),
        dtype=task.dtype_of("get_inputs"),
        originals=(*claim.originals, facts.Original(TASK, stated.data, stated.published_as)),
        reference=facts.Reference(
            "module", {"file": TASK, "init_inputs": init_inputs or [], "fixed": fixed, "tied": tied}
        ),
        shapes=shapes,
        choices=(
            *choices,
            *map(_tied, tied.items()),
            *([f"sizes of the module, given by the user: {fixed}"] if fixed else []),
        ),
    )


def _tied(of: tuple[str, Mapping[int, str]]) -> str:
    name, places = of
    numbers = ", ".join(f"[{place}] with {size}" for place, size in places.items())
    return f"{name}: changes {numbers}, which another input has alone"


def _init_inputs(task: PythonText) -> list[object] | None:
    """Return the result of `get_init_inputs`; None where constants do not decide it."""
    if "get_init_inputs" not in task.functions:
        return []
    returned = task.returned("get_init_inputs")
    value = None if returned is None else task.value(returned)
    return value if isinstance(value, list) else None
