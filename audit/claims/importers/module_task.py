"""Claims stated as KernelBench states them, wherever they stand: a module `Model` and one called `ModelNew`."""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from audit.claims.importers import entries, facts, sizes
from audit.claims.python_text import MODEL, PythonText, bound_by

TOLERANCE = facts.Tolerance(
    1e-2, f"KernelBench's own: allclose with atol = rtol = 1e-2 for float32 in v0 and v0.1 (1e-4 later); {facts.RMS}"
)
MADE_BEFORE = ("Model", "get_init_inputs")
"""Top-level names that must not depend on a size, but for those that `get_init_inputs` returns by name."""
LEAST_LARGE = 17
"""A size of a module below this is not made smaller, see `audit.claims.shapes.counting`."""
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
    data, added = (solution.data, ()) if task is None else _with_names_of(task, solution)
    used = PythonText(data, where=solution.published_as).used_by(kernel)
    name = named_after((task or solution).published_as)
    claim = facts.Imported(
        format=format_,
        provenance=solution.published_as,
        name=name,
        title=name.replace("_", " "),
        originals=(facts.Original(SOLUTION, solution.data, solution.published_as),),
        claimed=facts.Claimed(
            "claimed.py",
            data,
            "forward",
            "class ModelNew as published",
            f"{', '.join(added)} of the task, which KernelBench runs in one namespace with it" if added else "",
        ),
        tolerance=TOLERANCE,
    )
    return claim.lacking(facts.NO_TASK, facts.NO_COST) if task is None else _with_task(claim, task, used, shape)


def _with_names_of(task: facts.Original, solution: facts.Original) -> tuple[bytes, tuple[str, ...]]:
    """Return the solution with those constants and imports of the task behind it that it uses and nothing in it binds,
    and their names."""
    of_task = PythonText(task.data, where=task.published_as)
    tree = PythonText(solution.data, where=solution.published_as).tree
    nodes = list(ast.walk(tree))
    bound = {name for node in nodes for name in bound_by(node)} | {one.arg for one in nodes if isinstance(one, ast.arg)}
    used = {one.id for one in nodes if isinstance(one, ast.Name)} - bound - {*dir(builtins)}
    found = {
        name: statement
        for statement in of_task.tree.body
        for name in sorted(bound_by(statement) & used)
        if isinstance(statement, ast.Import | ast.ImportFrom) or of_task.constant(name) is not None
    }
    if not found:
        return solution.data, ()
    lines = "\n".join(dict.fromkeys(map(ast.unparse, found.values())))
    return solution.data + f"{entries.MARK}{lines}\n".encode(), tuple(found)


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
    module = made_with(task)
    shapes, choices = sizes.of_module(task, apart=MADE_BEFORE, module=module.sizes, sources=[solution])
    tied = sizes.tied(published, shapes.claimed, apart=MADE_BEFORE)
    inputs = {*shapes.claimed} - {*shapes.module}
    fixed = {name: size for name, size in replaced.items() if name not in inputs}
    made = task.returned("get_inputs")
    without = "get_inputs" not in task.functions or (made is not None and task.value(made) == [])
    missing = [
        *([NO_INPUTS] if without else [] if shapes.emulated else [facts.NO_SHAPE]),
        *([] if module.values is not None else [NO_INIT]),
        facts.NO_COST,
    ]
    return replace(
        claim.lacking(*missing),
        task=first_line(task),
        dtype=task.dtype_of("get_inputs"),
        originals=(*claim.originals, facts.Original(TASK, stated.data, stated.published_as)),
        reference=facts.Reference(
            "module", {"file": TASK, "init_inputs": module.text, "sizes": module.named, "fixed": fixed, "tied": tied}
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


@dataclass(frozen=True)
class Made:
    """What `get_init_inputs` of a task returns.

    Attributes:
        values: the result; None where constants do not decide it.
        text: the result as an expression of the names in `named`.
        named: the constants in it, with their values; empty where no smaller module can be made.
        sizes: those that a smaller module is made with: the class does not read them itself.
    """

    values: list[object] | None
    text: str
    named: Mapping[str, int]
    sizes: Collection[str]


def made_with(task: PythonText) -> Made:
    """Return what the module of a task is made with; a smaller one can be made where each whole number above 1 has a
    name there."""
    returned = task.returned("get_init_inputs")
    values = [] if "get_init_inputs" not in task.functions else None if returned is None else task.value(returned)
    as_published = Made(values if isinstance(values, list) else None, entries.shown(values or [], 4), {}, ())
    if returned is None or as_published.values is None:
        return as_published
    expanded = _Expanded(task)
    text = ast.unparse(expanded.visit(copy.deepcopy(returned)))
    named = {name: task.integers[name] for name in expanded.names}
    read = task.reached(task.classes["Model"]) if "Model" in task.classes else set[str]()
    sizes = [name for name, size in named.items() if size > 1 and name not in read]
    large = any(named[name] >= LEAST_LARGE for name in sizes)
    return Made(as_published.values, text, named, sizes) if large and expanded.plain else as_published


class _Expanded(ast.NodeTransformer):
    """Replaces names by what they are bound to, but for whole numbers, which are `names` then; `plain` unless another
    whole number above 1 stands there."""

    def __init__(self, task: PythonText) -> None:
        self.names: list[str] = []
        self.plain = True
        self._task = task

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the name of a whole number, or what the name is bound to."""
        if node.id not in self._task.integers:
            bound: ast.expr = self.visit(copy.deepcopy(self._task.bound(node.id)))
            return bound
        self.names += [] if node.id in self.names else [node.id]
        self.plain &= entries.plain_name(node.id)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Return the constant as it is."""
        self.plain &= type(node.value) is not int or node.value <= 1
        return node
