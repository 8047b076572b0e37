"""A bare `.cu` that binds a function for Python, or has one that returns tensors, and a Python file with a reference.

The Python file has `reference` (or one other function) and `get_inputs()`, with sizes as constants, or
`inputs(shape, generator)` as a claim folder of ours has it; a constant `RTOL` or `TOLERANCE` is the tolerance.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from audit.claims import python_text
from audit.claims.importers import (
    destinations,
    entries,
    facts,
    joined,
    joined_python,
    module_task,
    published,
    sizes,
    solutions,
)
from audit.claims.importers.material import Material
from audit.claims.python_text import PythonText
from audit.model.claim import include_folders
from audit.model.errors import BadInput

TAKES = (
    "a `.cu` that binds a function (PYBIND11_MODULE), alone or with its `.cpp`, `.cuh` and `.h` files, and a Python "
    "file with `reference` and `get_inputs`"
)
LACKS = ("reference.py cost", "speedup", "protocol.flags")
MAKERS = ("get_inputs", "inputs")
REFERENCES = ("reference", "torch_reference", "ref", "baseline", "forward", "module_fn")
TOLERANCES = ("RTOL", "rtol", "TOLERANCE", "tolerance", "TOL", "tol")
FILE = "reference_of.py"
_NO_BINDING = facts.essential(
    "the .cu binds no function for Python", "variant", "add PYBIND11_MODULE to it, or give a .cpp that has it"
)
_NO_TOLERANCE = facts.no_tolerance("no tolerance is told")
_NO_SIZES = facts.essential("inputs() takes its sizes from a shape", "shapes", "write the sizes")
_NO_FLAGS = facts.Missing("the compiler's flags are not told", "protocol.flags", "write them as published")


def matches(material: Material) -> bool:
    """Return whether there is a `.cu` file."""
    return bool(material.named(".cu"))


def read(material: Material, given: facts.Given) -> facts.Imported:
    """Return the kernel with its reference. Raises BadInput for no kernel, several of either, or a folder of `-I` in
    which no given file is."""
    folders = [_within(folder, material, given) for folder in include_folders(given.flags)]
    files = _files(material, folders)
    kernel = files[0]
    if len(files) == 1:
        data, how, added, names = kernel.data, "the .cu as given", "", ["kernel.cu"]
    else:
        data = joined.joined({one.published_as: one.data.decode() for one in files}, folders).encode()
        how, added = f"{len(files)} files as given, joined into one", joined.ADDED
        names = [solutions.flattened(one.published_as, one.published_as) for one in files]
    bound = entries.bound(data.decode())
    if not bound and not joined.binds(data.decode()) and (function := entries.unbound(data.decode())) is not None:
        data, bound = entries.with_binding(data, function), [function]
        ours = f"headers and a binding of {function}, the one function that returns tensors"
        added = "; ".join(filter(None, [added, ours]))
    name = module_task.named_after(kernel.published_as)
    imported = facts.Imported(
        format="bare_cu",
        provenance=", ".join(one.published_as for one in files),
        name=name,
        title=name.replace("_", " "),
        originals=tuple(replace(one, file=file) for one, file in zip(files, names, strict=True)),
        claimed=facts.Claimed("claimed.cu", data, bound[0] if bound else "forward", how, added),
        missing=(facts.NO_COST, facts.NO_FIGURES, _NO_FLAGS, *([] if bound else [_NO_BINDING])),
        choices=(f"entry: {bound[0]}, the first of {len(bound)} bound functions",) if len(bound) > 1 else (),
    )
    found = with_reference(imported, material)
    kernel_parameters = destinations.of_cuda(data.decode(), bound[0]) if bound else None
    return destinations.with_destination(found, kernel_parameters, stated(found))


def _within(folder: str, material: Material, given: facts.Given) -> str:
    """Return a folder of `-I` as the files name it: within the folder that was given, whose own name may stand before
    it. Raises BadInput: no file is in it."""
    parts = PurePosixPath(folder).parts
    for some in (PurePosixPath(*parts[first:]) for first in range(max(1, len(parts)))):
        if any(PurePosixPath(name).is_relative_to(some) for name in material.files):
            return str(some)
    flag = given.named("flags", f"-I{folder}")
    raise BadInput(f"{flag}: no file of {material.where} is in that folder; give the folder around it")


def with_reference(imported: facts.Imported, material: Material) -> facts.Imported:
    """Return the claim with the task of the Python file that has a reference. Raises BadInput for several."""
    tasks = material.written_in(lambda one: _function(one) and set(MAKERS) & set(one.functions))
    if not tasks:
        return imported.lacking(_no_task(material), _NO_TOLERANCE)
    task = material.only(tasks, what="reference")
    text = material.python[task.published_as]
    return _with_task(
        imported, task, text, _beside(material, task.published_as, frozenset({imported.provenance, task.published_as}))
    )


def stated(imported: facts.Imported) -> ast.FunctionDef | None:
    """Return the function that a claim of `with_reference` is held to; None where no task was found."""
    task = next((one for one in imported.originals if one.file == FILE), None)
    if task is None or imported.reference is None:
        return None
    return PythonText(task.data, where=task.published_as).functions.get(imported.reference.options["function"])


def _no_task(material: Material) -> facts.Missing:
    """Return what a Python file lacks that has a reference or makes inputs; without one, that there is none."""
    for name, text in material.python.items():
        makes = set(MAKERS) & set(text.functions)
        if makes or REFERENCES[0] in text.functions:
            lacks = (
                "function `reference`" if makes else "`get_inputs`, which returns the arguments of one call as a list"
            )
            return replace(facts.NO_TASK, what=f"{name} has no {lacks}", how="add it")
    unread = [f"{facts.NO_TASK.what} ({one})" for one in material.problems[:1]]
    return replace(facts.NO_TASK, what=unread[0]) if unread else facts.NO_TASK


def _beside(material: Material, file: str, left: frozenset[str]) -> dict[str, facts.Original]:
    """Return the modules that the reference imports from files beside it, those that these import first.

    Files `left` are never among them: the kernel is not loaded where right results are made.
    """
    place = joined_python.place_in({*material.python} - left)
    found: dict[str, facts.Original] = {}
    for node in (one for one in ast.walk(material.python[file].tree) if isinstance(one, ast.Import | ast.ImportFrom)):
        for name in [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]:
            inner = place(file, name, 0)
            if inner is not None and name not in found:
                found |= _beside(material, inner, left | {inner})
                found[name] = material.original(inner, file=f"beside_{module_task.named_after(inner)}.py")
    return found


def _files(material: Material, folders: Sequence[str]) -> list[facts.Original]:
    """Return the `.cu` of the kernel, what binds it, and its headers, those of the folders of `-I` too. Raises BadInput
    for no or several kernels."""
    sources = [material.original(name) for name in material.named(*joined.SOURCES)]
    kernels = [one for one in sources if one.published_as.endswith(".cu")]
    binding = [one for one in sources if joined.binds(one.data.decode())]
    if not kernels or (len(kernels) > 1 and len(binding) != 1):
        material.only(kernels, what=".cu file")
    if len(kernels) == 1 and kernels == binding:
        sources = kernels
    headers = [material.original(name) for name in material.named(*joined.HEADERS)]
    texts = {one.published_as: one.data.decode() for one in (*sources, *headers)}
    included = {name for one in sources for name in joined.used(texts, one.published_as, folders)}
    more = [one for one in (*sources, *headers) if one in sources or one.published_as in included]
    return [kernels[0], *(one for one in more if one != kernels[0])]


def _function(text: PythonText) -> str | None:
    """Return the function that computes what is right: one of the usual names, or the only one beside the inputs."""
    named = next((name for name in REFERENCES if name in text.functions), None)
    others = [name for name in text.functions if name not in MAKERS and not name.startswith("_")]
    return named or (others[0] if len(others) == 1 else None)


def _with_task(
    imported: facts.Imported, task: facts.Original, text: PythonText, beside: Mapping[str, facts.Original]
) -> facts.Imported:
    function = _function(text) or REFERENCES[0]
    modules = {name: one.file for name, one in beside.items()}
    maker = next((name for name in ("inputs", "get_inputs") if name in text.functions), "")
    by_name = python_text.named_of_reference(text, function, maker)
    plain = "get_inputs" in text.functions and "inputs" not in text.functions
    kernel = imported.claimed.data.decode() if imported.claimed else ""
    shapes, choices = sizes.of_module(text, apart=[function], sources=[kernel]) if plain else (None, [])
    missing = [_NO_SIZES] if shapes is None else [] if shapes.emulated else [facts.NO_SHAPE]
    tolerance = _tolerance(text)
    return replace(
        imported,
        task=f"what {function} of original/{FILE} computes",
        dtype=text.dtype_of("get_inputs" if plain else "inputs"),
        originals=(*imported.originals, facts.Original(FILE, task.data, task.published_as), *beside.values()),
        reference=facts.Reference(
            "function", {"file": FILE, "function": function, "beside": modules, "keywords": [*by_name]}
        ),
        shapes=shapes,
        tolerance=tolerance,
        missing=(*imported.missing, *missing, *([] if tolerance else [_NO_TOLERANCE])),
        choices=(*imported.choices, *choices),
    )


def _tolerance(text: PythonText) -> facts.Tolerance | None:
    for name in TOLERANCES:
        value = text.constant(name)
        if isinstance(value, float) and published.positive(value):
            return facts.Tolerance(value, f"{name} of the Python file; it counts here in units of the result's rms too")
    return None
