"""Hugging Face kernels: a folder with `build.toml`, sources, the package around them, and `benchmarks/benchmark.py`.

A class of that file has workloads: `setup_X` (or `setup`) keeps inputs in `self`, `benchmark_X` calls the package,
`verify_X` returns what `self.out` is held against. Facts: huggingface/kernels, `cli/benchmark.py` (2026).
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from audit.claims.importers import kernel_package, module_task
from audit.claims.importers.imported import Claimed, Imported, Original, Reference, Shapes, Tolerance
from audit.claims.importers.material import Given, Material
from audit.claims.importers.missing import NO_COST, NO_FIGURES
from audit.claims.importers.python_text import PythonText, last_name
from audit.model import Harness
from audit.model.errors import BadInput

TAKES = "a folder with `build.toml`, CUDA or Triton sources, `torch-ext/<package>`, and a class in `benchmark.py`"
LACKS = ("reference.py cost", "speedup")
FILE, CALL, RIGHT = "benchmark.py", "benchmark_", "verify_"
TOLERANCE = Tolerance(
    1e-2,
    "of `kernels benchmark`: torch.allclose with atol = 1e-2; the absolute part counts here in units of the result's "
    "rms, and as much is relative",
)
STEPS = ("torch.allclose on one input, whose seed is fixed", "the kernel's times, and one time of the reference")
ADDED = "ops bound by pybind11 in the place of torch's library, the files of the package as one, and the call of "
_RUN = """

class _Kernel:
{kernel}

class _Run:
    kernel = _Kernel

    def call(self):
{body}

def audited_entry({arguments}):
    run = _Run()
{kept}    run.call()
{result}"""
Methods = Mapping[str, ast.FunctionDef]


@dataclass(frozen=True)
class Workloads:
    """Those of a class that make the same call and have the same reference, and how many others there are.

    Attributes:
        names: in order.
        arguments: the attributes that call and reference read, in the order in which setup makes them.
        kernel: the names of the package that the call uses.
        written: the argument that the call writes its result into; None where it makes one.
    """

    holder: str
    names: tuple[str, ...]
    arguments: tuple[str, ...]
    kernel: tuple[str, ...]
    setup: ast.FunctionDef
    call: ast.FunctionDef
    written: int | None
    others: int


def matches(material: Material) -> bool:
    """Return whether a build file and a benchmark are there."""
    return bool(material.named(kernel_package.BUILD)) and bool(material.named(FILE))


def read(material: Material, given: Given) -> Imported:
    """Return the workloads of the first class of the benchmark, or of the one that `--row` names.

    Raises:
        BadInput: several files of one kind, a class without a workload of the form above, or a package that is no one
            file of Python around one extension.
    """
    file = material.only([material.original(name) for name in material.named(FILE)], what=FILE)
    text = PythonText(file.data, where=file.published_as)
    found = _workloads(text, (given.row or 1) - 1)
    package = kernel_package.read(material, found.kernel)
    shapes = [{"workload": number} for number, _ in enumerate(found.names, start=1)]
    named = ", ".join(f"{number} is {name}" for number, name in enumerate(found.names, start=1))
    return Imported(
        format="hugging_face",
        provenance=file.published_as,
        name=module_task.named_after(package.name),
        title=f"Hugging Face kernels, {package.name}, {found.holder}",
        task=f"what {RIGHT}{found.names[0]} of original/{FILE} computes",
        dtype=text.dtype_of(found.setup),
        originals=(Original(FILE, file.data, file.published_as), *package.originals),
        claimed=Claimed(
            "claimed.py",
            f"{package.text}{_run(found, text)}".encode(),
            "audited_entry",
            "the package as published",
            f"{ADDED}{found.call.name}",
        ),
        reference=Reference(
            "benchmark",
            {"file": FILE, "holder": found.holder, "workloads": found.names, "arguments": found.arguments},
        ),
        shapes=Shapes(shapes[-1], tuple(shapes[:-1]), tuple(shapes[:1])),
        tolerance=TOLERANCE,
        harness=Harness(destination=found.written),
        steps=STEPS,
        missing=(NO_COST, NO_FIGURES),
        choices=(f"workloads of {found.holder}: {named}; {found.others} others of {FILE} are left out",),
    )


def _workloads(text: PythonText, number: int) -> Workloads:
    every = {name: _methods(node) for name, node in text.classes.items()}
    holders = [name for name, methods in every.items() if any(one.startswith(CALL) for one in methods)]
    if not 0 <= number < len(holders):
        classes = f"{len(holders)} classes with methods {CALL}X" if holders else f"no class with methods {CALL}X"
        raise BadInput(f"{text.where}: {classes}; a class of another package has to be written out there")
    holder, methods = holders[number], every[holders[number]]
    named = [one.removeprefix(CALL) for one in methods if one.startswith(CALL)]
    whole = [name for name in named if RIGHT + name in methods and _setup(methods, name) is not None]
    if not whole:
        raise BadInput(f"{text.where}: {holder} has no workload with setup, {CALL}X and {RIGHT}X; write one there")
    alike = [name for name in whole if _does(methods, name) == _does(methods, whole[0])]
    others = sum(one.startswith(CALL) for own in every.values() for one in own) - len(alike)
    call, right = (methods[kind + whole[0]] for kind in (CALL, RIGHT))
    setup = _setup(methods, whole[0]) or call
    made = dict.fromkeys(name for name, stored in _own(setup) if stored)
    read = {name for node in (call, right) for name, stored in _own(node) if not stored} - {"kernel", "device"}
    bound = {name for name, stored in _own(call) if stored}
    _refuse(text.where, methods, alike, unknown=read - set(made) - bound, out="out" in read | bound)
    _refuse_scratch(text.where, setup, read - {"out"} - {name for name, _ in _own(right)})
    arguments = tuple(name for name in made if name in read - (bound - {"out"}))
    written = None if "out" in bound else arguments.index("out")
    return Workloads(holder, tuple(alike), arguments, _kernel(call, text.where), setup, call, written, others)


def _refuse(where: str, methods: Methods, names: Sequence[str], *, unknown: set[str], out: bool) -> None:
    if any(name == "kernel" for one in names for name, _ in _own(_setup(methods, one))):
        raise BadInput(f"{where}: its setup calls the kernel, so the claimed code would make its own inputs")
    if unknown:
        raise BadInput(f"{where}: {CALL}{names[0]} needs self.{min(unknown)}, which its setup does not make")
    if not out or any(name == "out" and stored for name, stored in _own(methods[RIGHT + names[0]])):
        raise BadInput(f"{where}: {CALL}{names[0]} leaves no result in self.out; assign it there")


def _refuse_scratch(where: str, setup: ast.FunctionDef, call_only: set[str]) -> None:
    """The audit would take what a call writes there for a changed input."""
    for node in ast.walk(setup):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            blank = last_name(node.value.func).startswith(("empty", "zeros"))
            if blank and (name := last_name(node.targets[0])) in call_only:
                raise BadInput(
                    f"{where}: self.{name} is blank memory for the call beside self.out; make it in the call"
                )


def _methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}


def _setup(methods: Methods, name: str) -> ast.FunctionDef | None:
    return methods.get(f"setup_{name}") or methods.get("setup")


def _does(methods: Methods, name: str) -> list[str]:
    """Return call and reference of a workload, without their names."""
    return [ast.dump(one) for kind in (CALL, RIGHT) for one in methods[kind + name].body]


def _own(node: ast.FunctionDef | None) -> Iterator[tuple[str, bool]]:
    """Yield each attribute of `self` in a method, in order of the lines, and whether it is bound there."""
    found = [one for one in ast.walk(node) if isinstance(one, ast.Attribute)] if node is not None else []
    for one in sorted(found, key=lambda each: (each.lineno, each.col_offset)):
        if isinstance(one.value, ast.Name) and one.value.id == "self":
            yield one.attr, isinstance(one.ctx, ast.Store)


def _kernel(call: ast.FunctionDef, where: str) -> tuple[str, ...]:
    """Return the functions of the package that a method calls. Raises BadInput for a use that is no such call."""
    called = [one.func for one in ast.walk(call) if isinstance(one, ast.Call)]
    names = [one.attr for one in called if isinstance(one, ast.Attribute) and _is_kernel(one.value)]
    if not names or len(names) != sum(map(_is_kernel, ast.walk(call))):
        raise BadInput(f"{where}: {call.name} uses self.kernel in another way than self.kernel.function(...)")
    return tuple(dict.fromkeys(names))


def _is_kernel(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "kernel" and ast.unparse(node.value) == "self"


def _run(found: Workloads, text: PythonText) -> str:
    """Return an object with the arguments as its attributes, the published call of it, and what the call needs."""
    needed = "\n".join(map(ast.unparse, text.needed(found.call)))
    return f"\n{needed}" + _RUN.format(
        kernel="".join(f"    {name} = staticmethod({name})\n" for name in found.kernel),
        body=textwrap.indent("\n".join(map(ast.unparse, found.call.body)), " " * 8) + "\n",
        arguments=", ".join(found.arguments),
        kept="".join(f"    run.{name} = {name}\n" for name in found.arguments),
        result="" if found.written is not None else "    return run.out\n",
    )
