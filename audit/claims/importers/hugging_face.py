"""Hugging Face kernels: a folder with `build.toml`, sources, the package around them, and `benchmarks/benchmark.py`.

A class of that file has workloads: `setup_X` (or `setup`) keeps inputs in `self`, `benchmark_X` calls the package,
`verify_X` returns what `self.out` is held against. Facts: huggingface/kernels, `cli/benchmark.py` (2026).
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath

from audit.claims.importers import entries, facts, kernel_package, module_task
from audit.claims.importers.material import Material
from audit.claims.python_text import PythonText, bound_by
from audit.model import Harness
from audit.model.errors import BadInput
from audit.review.python_tree import last_name

TAKES = "a folder with `build.toml`, CUDA or Triton sources, `torch-ext/<package>`, and a class in `benchmark.py`"
LACKS = ("reference.py cost", "speedup")
FILE, CALL, RIGHT, RESULT = "benchmark.py", "benchmark_", "verify_", "out"
TOLERANCE = facts.Tolerance(
    1e-2, "torch.allclose of `kernels benchmark`, atol = 1e-2, which counts here in units of the result's rms, and rtol"
)
LIBRARY = "kernels.benchmarks"
_NO_TOLERANCE = facts.no_tolerance("the benchmark replaces torch.allclose by a comparison of its own")
STEPS = ("torch.allclose on one input, whose seed is fixed", "times of the kernel, and one time of the reference")
ADDED = "the files of the package joined into one, its ops bound by pybind11, and the call of "
_RUN = """
class _Kernel:
{kernel}

class _Run:
    kernel = _Kernel

    def __init__({taken}):
{kept}
    def call(self):
{body}


def {entry}({arguments}):
    _run = _Run({arguments})
    _run.call()
{result}"""
Methods = Mapping[str, ast.FunctionDef]


@dataclass(frozen=True)
class Workloads:
    """The workloads `names` of a class that make the same call and have the same reference; `others` do not.

    `arguments` are attributes that setup makes and call or reference read, `kernel` the package's names in the call.
    """

    holder: str
    names: tuple[str, ...]
    others: int
    setup: ast.FunctionDef
    call: ast.FunctionDef
    arguments: tuple[str, ...]
    kernel: tuple[str, ...]

    @property
    def destination(self) -> int | None:
        """The argument that the call writes its result into; None where it makes one."""
        return self.arguments.index(RESULT) if RESULT in self.arguments else None


def matches(material: Material) -> bool:
    """Return whether a build file and a benchmark are there."""
    return bool(material.named(kernel_package.BUILD)) and bool(material.named(FILE))


def read(material: Material, given: facts.Given) -> facts.Imported:
    """Return the workloads of the first class of the benchmark, or of the one that `--row` names. Raises BadInput:
    several files of one kind, a workload of another form, or a package that one file cannot hold."""
    file, text, holder, beside = _benchmark(material, (given.row or 1) - 1)
    found = _workloads(text, holder)
    package, functions, kept = kernel_package.read(material, found.kernel)
    shapes = [{"workload": number} for number, _ in enumerate(found.names, start=1)]
    named = ", ".join(f"{number} is {name}" for number, name in enumerate(found.names, start=1))
    nodes = [node for one in (text, *beside) for node in ast.walk(one.tree) if isinstance(node, ast.Attribute)]
    replaced = any(isinstance(node.ctx, ast.Store) and _is(node, "torch.allclose") for node in nodes)
    tolerance = None if replaced else TOLERANCE
    ways = {"file": file.file, "holder": found.holder, "workloads": found.names, "arguments": found.arguments}
    source = f"{functions}{_run(found, text)}".encode()
    return facts.Imported(
        format="hugging_face",
        provenance=file.published_as,
        name=module_task.named_after(package),
        title=f"Hugging Face kernels, {package}, {found.holder}",
        task=f"what {RIGHT}{found.names[0]} of original/{file.file} computes",
        dtype=text.dtype_of(found.setup),
        originals=(file, *beside.values(), *kept),
        claimed=facts.Claimed(
            "claimed.py", source, entries.ENTRY, "the package as published", f"{ADDED}{found.call.name}"
        ),
        reference=facts.Reference("benchmark", ways),
        shapes=facts.Shapes(shapes[-1], tuple(shapes[:-1]), tuple(shapes[:1])),
        tolerance=tolerance,
        harness=Harness(destination=found.destination),
        steps=STEPS,
        missing=(facts.NO_COST, facts.NO_FIGURES, *([] if tolerance else [_NO_TOLERANCE])),
        choices=(f"workloads of {found.holder}: {named}; {found.others} others of {file.file} are left out",),
    )


def _benchmark(
    material: Material, number: int
) -> tuple[facts.Original, PythonText, str, dict[PythonText, facts.Original]]:
    """Return the file with that class of the benchmark, its text and the class, and the benchmark where it is another.

    A class without workloads of its own may have those of a class that the package `kernels` defines, whose file is
    given too.
    """
    files = [material.original(name) for name in material.named(FILE) if PurePath(name).name == FILE]
    file = replace(material.only(files, what=FILE), file=FILE)
    text = PythonText(file.data, where=file.published_as)
    bases = {name: _base(text, node) for name, node in text.classes.items()}
    holders = [name for name, node in text.classes.items() if bases[name] or _has_workloads(node)]
    if not 0 <= number < len(holders):
        raise BadInput(f"{text.where}: {len(holders)} classes have {CALL}X; write one that calls self.kernel")
    holder = holders[number]
    base = bases[holder]
    if base is None:
        return file, text, holder, {}
    defining = material.written_in(lambda one: base in one.classes and _has_workloads(one.classes[base]))
    if not defining:
        typed = f"audit import {material.where} kernels/benchmarks/FILE.py"
        raise BadInput(f"{text.where}: {holder} is {base} of {LIBRARY}; give the file that defines it too: {typed}")
    one = material.only(defining, what=f"file with the class {base}")
    return one, PythonText(one.data, where=one.published_as), base, {text: file}


def _has_workloads(node: ast.ClassDef) -> bool:
    return any(one.startswith(CALL) for one in _methods(node))


def _base(text: PythonText, node: ast.ClassDef) -> str | None:
    """Return the class of the package `kernels` that a class stands for, where it says nothing of its own."""
    stated = [one for one in node.body if not isinstance(one, ast.Pass)]
    said = [one for one in stated if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    names = {
        alias.asname or alias.name: alias.name
        for one in text.tree.body
        if isinstance(one, ast.ImportFrom) and f"{one.module}.".startswith(f"{LIBRARY}.")
        for alias in one.names
    }
    return next((names[last_name(one)] for one in node.bases if last_name(one) in names and not said), None)


def _workloads(text: PythonText, holder: str) -> Workloads:
    every = {name: _methods(node) for name, node in text.classes.items()}
    methods = every[holder]
    named = [one.removeprefix(CALL) for one in methods if one.startswith(CALL)]
    whole = [name for name in named if RIGHT + name in methods and {f"setup_{name}", "setup"} & set(methods)]
    if not whole:
        raise BadInput(f"{text.where}: {holder} has no setup, {CALL}X and {RIGHT}X of one X; write them there")
    alike = tuple(name for name in whole if _does(methods, name) == _does(methods, whole[0]))
    setups = [methods.get(f"setup_{name}") or methods["setup"] for name in alike]
    call, right = (methods[kind + whole[0]] for kind in (CALL, RIGHT))
    made, kept = (dict.fromkeys(_own(node, bound=True)) for node in (setups[0], call))
    made |= dict.fromkeys(name for one in text.classes[holder].body for name in bound_by(one) if name not in methods)
    read = {*_own(call), *_own(right)} - {*kept, "kernel", "device"}
    only = {*_own(call)} - {*_own(right), RESULT}
    alone = [{*_own(one)} - {"kernel"} for one in call.body if isinstance(one, ast.Expr)]
    changed = {name for names in alone if RESULT not in names for name in names}
    for found, reason in (
        ([name for one in setups for name in _own(one) if name == "kernel"], "is called by setup, which makes inputs"),
        (read - set(made), f"is needed by {call.name}, and its setup does not make it"),
        ({RESULT} - read - set(kept), f"is not written by {call.name}, whose one result is read there"),
        ({*_own(right, bound=True)} & {RESULT}, f"is written by {right.name} too"),
        (changed, f"may be changed by {call.name}, and it is not self.{RESULT}"),
        (only & set(_blank(setups[0])), f"is memory that {call.name} writes beside self.{RESULT}"),
    ):
        if found:
            raise BadInput(f"{text.where}: self.{min(found)} {reason}; write it otherwise and import again")
    called = [one for one in ast.walk(call) if isinstance(one, ast.Attribute) and _is(one.value, "self.kernel")]
    others = sum(one.startswith(CALL) for own in every.values() for one in own) - len(alike)
    kernel = tuple(dict.fromkeys(one.attr for one in called))
    arguments = tuple(name for name in made if name in read)
    return Workloads(holder, alike, others, setups[0], call, arguments, kernel)


def _methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}


def _does(methods: Methods, name: str) -> list[str]:
    return [ast.dump(one) for kind in (CALL, RIGHT) for one in methods[kind + name].body]


def _own(node: ast.AST, *, bound: bool = False) -> Iterator[str]:
    """Yield the attributes of `self` that a method reads or binds, in order of the lines."""
    found = [one for one in ast.walk(node) if isinstance(one, ast.Attribute) and _is(one.value, "self")]
    for one in sorted(found, key=lambda each: (each.lineno, each.col_offset)):
        if isinstance(one.ctx, ast.Store) is bound:
            yield one.attr


def _blank(setup: ast.FunctionDef) -> Iterator[str]:
    """Yield what setup makes without values: what a call writes there would count as a changed input."""
    for node in (each for each in ast.walk(setup) if isinstance(each, ast.Assign)):
        if isinstance(node.value, ast.Call) and last_name(node.value.func).startswith(("empty", "zeros")):
            yield last_name(node.targets[0])


def _is(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) == text


def _run(found: Workloads, text: PythonText) -> str:
    """Return the published call on an object whose attributes are the arguments, and what the call needs."""
    needed = "".join(f"{ast.unparse(one)}\n" for one in text.needed(found.call))
    return needed + _RUN.format(
        kernel="".join(f"    {name} = staticmethod({name})\n" for name in found.kernel),
        body=textwrap.indent("\n".join(map(ast.unparse, found.call.body)), " " * 8),
        entry=entries.ENTRY,
        arguments=", ".join(found.arguments),
        taken=", ".join(("self", *found.arguments)),
        kept="".join(f"        self.{name} = {name}\n" for name in found.arguments) or "        pass\n",
        result="" if found.destination is not None else f"    return _run.{RESULT}\n",
    )
