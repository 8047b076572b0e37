"""A Python file with a function `kernel` (Triton, `load_inline`, torch), and one with a reference function for it.

The file may import from others beside it, and `load` C++ and CUDA files; these become part of it.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from audit.claims import python_text
from audit.claims.importers import (
    bare_cu,
    destinations,
    joined,
    joined_python,
    loaded_files,
    module_task,
    solutions,
)
from audit.claims.importers.facts import NO_COST, NO_FIGURES, Claimed, Given, Imported, Original
from audit.claims.importers.material import Material
from audit.claims.python_text import PythonText
from audit.model import Harness
from audit.model.errors import BadInput
from audit.review.python_tree import parameters

TAKES = (
    "a Python file with a function `kernel`, alone or with those it imports or loads, and one with `reference` and "
    "`get_inputs`"
)
LACKS = ("reference.py cost", "speedup")
ENTRY = "kernel"


def matches(material: Material) -> bool:
    """Return whether a Python file defines `kernel`, and loads each `.cu` file that is there."""
    return bool(material.written_in(lambda one: one.binds(ENTRY))) and (_loading(material) or not material.named(".cu"))


def read(material: Material, given: Given) -> Imported:  # noqa: ARG001  # there are no figures to ask a unit of
    """Return the kernel with its reference. Raises BadInput for several of either."""
    kernel = material.only(material.written_in(lambda one: one.binds(ENTRY)), what=ENTRY)
    data, others = joined_python.in_one(kernel.published_as, material.python, material.data)
    added = [joined_python.ADDED] if others else []
    data, loaded = _with_loaded(data, kernel.published_as, material)
    added += [loaded_files.ADDED] if loaded else []
    kept = [material.original(one, file=solutions.flattened(one, one)) for one in (*others, *loaded)]
    name = module_task.named_after(kernel.published_as)
    imported = Imported(
        format="plain_python",
        provenance=kernel.published_as,
        name=name,
        title=name.replace("_", " "),
        originals=(Original("kernel.py", kernel.data, kernel.published_as), *kept),
        claimed=Claimed("claimed.py", data, ENTRY, "the file as given", "; ".join(added)),
        missing=(NO_COST, NO_FIGURES),
    )
    found = bare_cu.with_reference(imported, material)
    function, right = material.python[kernel.published_as].functions.get(ENTRY), bare_cu.stated(found)
    found = replace(found, harness=Harness(keywords=_by_name(function, found, right)))
    return destinations.with_destination(found, destinations.of_python(function), right)


def _by_name(function: ast.FunctionDef | None, found: Imported, right: ast.FunctionDef | None) -> tuple[str, ...]:
    """Return the names of the last arguments that the kernel takes by keyword alone."""
    options = found.reference.options if found.reference else {}
    return python_text.named_of_kernel(function, options.get("keywords", ()), parameters(right))


def _loading(material: Material) -> bool:
    """Return whether a Python file that defines `kernel` loads C++ or CUDA files, or names one that was given."""
    given = dict.fromkeys(material.named(*joined.SOURCES), "")
    kernels = [text.tree for text in material.python.values() if text.binds(ENTRY)]
    return any(loaded_files.calls(one) or loaded_files.mentioned(one, given) for one in kernels)


def _with_loaded(data: bytes, where: str, material: Material) -> tuple[bytes, list[str]]:
    """Return the source with the C++ and CUDA files that it loads, and which these are. Raises BadInput: it loads one
    that was not given, or in a way that is not read."""
    files = {name: material.data(name).decode() for name in material.named(*joined.SOURCES, *joined.HEADERS)}
    source = PythonText(data, where=where)
    text, used = loaded_files.in_place(source, files)
    left = loaded_files.calls(PythonText(text.encode(), where=where).tree)
    unread = [line for name, line in loaded_files.mentioned(source.tree, files).items() if name not in used]
    if left or unread:
        line = unread[0] if unread else loaded_files.calls(source.tree)[-1]
        how = "give each file, and write load(name=..., sources=[...]) with its path as a text"
        raise BadInput(f"{where}: line {line} loads a file that was not given, or in a way that is not read; {how}")
    return (text.encode() if used else data), sorted(used)
