"""KernelAgent: a `problem.py` as KernelBench writes it, and a Triton `kernel_function` that stands in for its module.

The set's `benchmark.py` casts module and inputs to bfloat16, in eval mode, and hands the function those settings of the
module's layers that its parameters name; all of them by name where it takes any. Facts: `benchmark.py` of
kaiming-cheng/kernelagent-optimization-artifacts (2026).
"""

from __future__ import annotations

import ast
from dataclasses import replace

from audit.claims.importers import entries, module_task
from audit.claims.importers.facts import (
    NO_FIGURES,
    RMS,
    Claimed,
    Given,
    Imported,
    Missing,
    Original,
    Tolerance,
    essential,
)
from audit.claims.importers.material import Material
from audit.claims.python_text import PythonText
from audit.model import Harness
from audit.review.python_tree import parameters, required

TAKES = "a `problem.py` with `Model` and `get_inputs`, and a file with `kernel_function`"
LACKS = ("reference.py cost", "speedup")
ENTRY = "kernel_function"
TOLERANCE = Tolerance(
    1e-2, f"the importer's: KernelBench's for 16-bit floats, since the set compares times alone; {RMS}"
)
_TENSORS = ("weight", "bias")
_SETTINGS = ("kernel_size", "stride", "padding", "dilation", "output_padding", "groups", "eps")
_NAMED = ", ".join((*_TENSORS, *_SETTINGS))
_MODEL = '''import torch


class ModelNew(torch.nn.Module):
    """Hands the function the inputs, and what its parameters name of the reference's layers."""

    def __init__(self, *arguments):
        super().__init__()
        self.stated = _stated(*arguments)

    def forward(self, *inputs):
        left, named = list(inputs), {}
        found = {}
        for layer in self.stated.modules():
READS
        for name in NAMES:
            if name in found:
                named[name] = found[name]
            elif left:
                named[name] = left.pop(0)
        return kernel_function(CALL)
'''
_READ = """            if hasattr(layer, "{name}") and layer.{name} is not None and "{name}" not in found:
                found["{name}"] = layer.{name}"""
_FIRST = """            if "{name}" in found and isinstance(found["{name}"], (tuple, list)):
                found["{name}"] = found["{name}"][0]"""


def matches(material: Material) -> bool:
    """Return whether a Python file defines `kernel_function`."""
    return any(ENTRY in one.functions for one in material.python.values())


def read(material: Material, given: Given) -> Imported:
    """Return the kernel with its problem. Raises BadInput for several of either."""
    kernel = material.only(material.written_in(lambda one: ENTRY in one.functions), what=ENTRY)
    tasks = material.written_in(lambda one: "Model" in one.classes and "get_inputs" in one.functions)
    task: Original | None = material.only(tasks, what="problem (a class Model)") if tasks else None
    found = module_task.imported("kernelagent", task=task, solution=kernel, shape=given.shape, kernel=ENTRY)
    stated = b"" if task is None else task.data
    name = module_task.named_after(material.files[(task or kernel).published_as].resolve().parent.name)
    return replace(
        found,
        name=name,
        title=f"KernelAgent, {name.replace('_', ' ')}",
        dtype="bfloat16",
        claimed=Claimed(
            "claimed.py",
            entries.beside_reference(kernel.data, stated, _model(material.python[kernel.published_as])),
            "forward",
            "kernel_function as published",
            added="a class that calls it as the set's benchmark does; the text of the problem stands there too",
        ),
        harness=Harness(mode="eval", dtype="bfloat16"),
        tolerance=TOLERANCE,
        steps=("mean of triton.testing.do_bench, module and inputs in bfloat16",),
        missing=(*found.missing, *_unmet(material, kernel, task), NO_FIGURES),
        choices=(*found.choices, "tolerance: 1e-2, since the set compares times alone"),
    )


def _unmet(material: Material, kernel: Original, task: Original | None) -> list[Missing]:
    """Return that parameters get no value: without a default, of no setting's name, and more than there are inputs."""
    made = None if task is None else material.python[task.published_as].returned("get_inputs")
    function = material.python[kernel.published_as].functions[ENTRY]
    unnamed = [name for name in required(function) if name not in (*_TENSORS, *_SETTINGS)]
    if not isinstance(made, ast.List | ast.Tuple) or len(unnamed) <= len(made.elts):
        return []
    names = ", ".join(f"`{name}`" for name in unnamed[len(made.elts) :])
    inputs = f"{len(made.elts)} input{'s' * (len(made.elts) != 1)}"
    what = f"{ENTRY} needs {names}; the set's benchmark hands it {inputs} and, by name, {_NAMED}"
    return [essential(what, "claimed.py ModelNew", "hand them on there, and take the sha256 of claimed.py out")]


def _model(text: PythonText) -> str:
    """Return the class that calls the function: by its parameters' names, or with all settings where it takes any."""
    names, given = parameters(text.functions[ENTRY]), text.functions[ENTRY].args
    takes_any = given.vararg is not None or given.kwarg is not None
    reads = [_READ.format(name=name) for name in _TENSORS]
    reads += [part.format(name=name) for name in _SETTINGS for part in (_READ, _FIRST)]
    return (
        _MODEL.replace("READS", "\n".join(reads))
        .replace("NAMES", repr(() if takes_any else tuple(names)))
        .replace("CALL", "*inputs, **found" if takes_any else "**named")
    )
