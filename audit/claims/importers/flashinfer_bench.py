"""flashinfer-bench: solution, definition and workload JSON, with or without traces; returning or writing into a result.

A result is right by default when allclose with atol = rtol = 1e-2 (`BenchmarkConfig` of flashinfer-bench, 2025).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from audit.claims.importers import (
    definitions,
    entries,
    facts,
    joined,
    joined_python,
    module_task,
    published,
    sizes,
    solutions,
)
from audit.claims.importers.definitions import FRACTIONS, Definition
from audit.claims.importers.material import Material
from audit.claims.importers.solutions import Found, Stored, Workload
from audit.claims.python_text import PythonText

TAKES = "a solution JSON with its definition and workload (JSON or JSONL), and traces where there are any"
LACKS = ("reference.py cost",)
DEFAULT = facts.Tolerance(1e-2, f"flashinfer-bench's default, atol = rtol = 1e-2; {facts.RMS}")
REFERENCE = "reference_of.py"
MOST_OTHERS = 8
ToleranceOf = Callable[[Workload], facts.Tolerance | None]
_NO_TOLERANCE = facts.no_tolerance("the workload states no tolerance")
_NO_TENSOR = facts.essential("no tensor among the inputs or results", "original/definition.json", "state one")
_ADDED = "a function that makes the tensors of the result, hands them to the source to write into, and returns them"
_TVM = facts.essential("the solution binds through tvm-ffi, not torch", "variant", "write torch bindings for it")


def matches(material: Material) -> bool:
    """Return whether a JSON document is a solution, and nothing says what SOL-ExecBench alone says."""
    return any(solutions.is_solution(one) for one in material.documents.values()) and not solutions.is_sol(material)


def read(material: Material, given: facts.Given) -> facts.Imported:
    """Return the one solution of the material. Raises BadInput as `imported`."""
    return imported("flashinfer_bench", material, given, tolerance_of=lambda _: DEFAULT)


def imported(format_: str, material: Material, given: facts.Given, *, tolerance_of: ToleranceOf) -> facts.Imported:
    """Return the one solution of the material, with its task where there is a definition; SOL-ExecBench is read so too.
    Raises BadInput: none or several solutions or definitions, or one that is malformed."""
    found = solutions.find(material, given)
    kept = solutions.sources(found)
    name = module_task.named_after(str(found.solution.get("name") or "solution"))
    authors = found.solution.get("author")
    claim = facts.Imported(
        format=format_,
        provenance=found.solution_at,
        name=name,
        title=f"{found.solution.get('name') or name}, a solution of {found.solution.get('definition')}",
        task=f"what run of original/{REFERENCE} computes",
        originals=tuple(kept),
        authors=authors if isinstance(authors, str) else None,
        flags=tuple(_flags(found)),
        missing=(facts.NO_COST,),
    )
    if (stated := found.definition) is None:
        return claim.lacking(facts.NO_TASK, _NO_TOLERANCE)
    typed = {name: size for name, size in given.shape if name in stated.variables}
    if not found.workloads and {*stated.variables} == {*typed}:
        found = replace(found, workloads=(Workload(typed, {}, {}),))
    tensors = _stored(material, found, stated)
    claim = _with_task(claim, found, stated, tolerance_of, given, tensors)
    return _with_kernel(claim, found, stated, kept)


def _stored(material: Material, found: Found, stated: Definition) -> dict[str, Stored]:
    """Return the inputs of the claimed workload that stand in files which were given, by name."""
    inputs = _largest(found, stated).inputs if found.workloads else {}
    files = {name: one for name, one in inputs.items() if isinstance(one, dict) and one.get("type") == "safetensors"}
    read = {
        one.name: solutions.stored(material, of.get("path"), of.get("tensor_key", one.name), name=one.name)
        for one in stated.inputs
        if (of := files.get(one.name)) is not None and entries.plain_name(one.name)
    }
    return {name: one for name, one in read.items() if one is not None}


def _largest(found: Found, stated: Definition) -> Workload:
    return max(found.workloads, key=lambda one: stated.elements(one.sizes) or 0)


def _with_task(  # what a task is made of
    claim: facts.Imported,
    found: Found,
    stated: Definition,
    tolerance_of: ToleranceOf,
    given: facts.Given,
    tensors: Mapping[str, Stored],
) -> facts.Imported:
    data = stated.reference.encode()
    PythonText(data, where=f"{stated.stated.published_as}: reference")
    kept = (stated.stated, facts.Original(REFERENCE, data, f"{stated.stated.published_as}: reference"))
    fraction = next((one.dtype for one in stated.inputs if one.dtype in FRACTIONS[1:]), "float32")
    claim = replace(claim, originals=(*claim.originals, *kept), dtype=fraction)
    if not found.workloads:
        typed = " ".join(f"{name}=64" for name in stated.variables)
        lacks = ("no workload gives sizes", "shapes", "give the workload file too")
        return claim.lacking(facts.Missing(*lacks, essential=True, argument=("shape", typed)))
    workload = _largest(found, stated)
    shapes, choices = _shapes(found, stated, workload, claim)
    if tensors:
        largest = workload.sizes or sizes.PLAIN
        shapes = facts.Shapes(largest, emulated=(largest,), emulated_by="importer")
        choices = ["shapes: the claimed one alone, since inputs stand in files"]
    tolerance = tolerance_of(workload)
    figures = solutions.figures(found, workload, given)
    missing = [
        *([] if tolerance else [_NO_TOLERANCE]),
        *([] if figures else [facts.NO_FIGURES]),
    ]
    claim = replace(claim, shapes=shapes, tolerance=tolerance, choices=(*claim.choices, *choices))
    return _with_inputs(claim, stated, workload, tensors).with_figures(figures, missing)


def _with_inputs(
    claim: facts.Imported, stated: Definition, workload: Workload, tensors: Mapping[str, Stored]
) -> facts.Imported:
    """Return the claim with its reference; inputs without a rule for drawing them are missing."""
    inputs: dict[str, dict[str, Any]] = {}
    missing = []
    for one in stated.inputs:
        source = workload.inputs.get(one.name)
        source = source if isinstance(source, dict) else {"type": "random"}
        inputs[one.name] = {"shape": None if one.axes is None else list(one.axes), "dtype": one.dtype}
        if one.axes is None:
            value = source.get("value")
            known = isinstance(value, bool | int | float) and abs(value) < published.LARGEST
            inputs[one.name]["value"] = value if known else 0
            missing += [] if known else [_undrawn(one.name, "a number the workload does not give")]
        elif (kept := tensors.get(one.name)) is not None:
            inputs[one.name]["stored"] = kept.original.file
            due = stated.shape_of(one, workload.sizes)
            if (kept.dtype, kept.shape) != (one.dtype, due):
                given = f"{kept.dtype} of shape {list(kept.shape)}, not {one.dtype} of shape {list(due or ())}"
                missing.append(_undrawn(one.name, f"its file has {given}"))
        elif source.get("type") == "safetensors":
            missing.append(_undrawn(one.name, f"it stands in {str(source.get('path'))[:60]}"))
        elif stated.generator is None and one.dtype not in FRACTIONS:
            missing.append(_undrawn(one.name, f"the format does not say how random {one.dtype} are drawn"))
    options = {"file": REFERENCE, "inputs": inputs, "axes": stated.axes, "generator": stated.generator}
    choice = "inputs of type random: standard normal numbers"
    kept_files = tuple(one.original for one in tensors.values())
    claim = replace(claim, reference=facts.Reference("definition", options), originals=(*claim.originals, *kept_files))
    return replace(claim.lacking(*missing), choices=claim.choices if stated.generator else (*claim.choices, choice))


def _undrawn(name: str, why: str) -> facts.Missing:
    return facts.essential(f"input {name}: {why}", "reference.py INPUTS", "say there how it is made")


def _shapes(
    found: Found, stated: Definition, claimed: Workload, claim: facts.Imported
) -> tuple[facts.Shapes, list[str]]:
    """Return the largest workload as claimed; as emulated small ones, or halved sizes of axes without constraints."""
    several = [dict(each) for each in dict.fromkeys(tuple(one.sizes.items()) for one in found.workloads)]
    several = several if stated.variables else [dict(sizes.PLAIN)]
    largest = claimed.sizes or sizes.PLAIN
    others = tuple(one for one in several if one != largest)[:MOST_OTHERS]
    said = [f"shapes.claimed: the largest of {len(several)} workloads"] if len(several) > 1 else []
    small = [one for one in several if (stated.elements(one) or sizes.MOST_AS_PUBLISHED + 1) <= sizes.MOST_AS_PUBLISHED]
    if small or stated.constrained or not stated.variables:
        small = sorted(small or several, key=lambda one: stated.elements(one) or 0)[: 2 if small else 1]
        return facts.Shapes(largest, others, tuple(reversed(small)), emulated_by="importer"), said
    texts = [original.data.decode() for original in claim.originals[: len(found.solution["sources"])]]
    shapes, choices = sizes.smaller(largest, sources=texts)
    few = tuple(one for one in shapes.emulated if (stated.elements(one) or math.inf) <= sizes.MOST_AS_PUBLISHED)
    return replace(shapes, others=others, emulated=few or shapes.emulated[-1:]), [*said, *(choices if few else [])]


def _flags(found: Found) -> list[str]:
    options = found.solution["spec"].get("compile_options")
    flags = options.get("cuda_cflags") if isinstance(options, dict) else None
    return [flag for flag in flags if isinstance(flag, str)] if isinstance(flags, list) else []


def _with_kernel(claim: facts.Imported, found: Found, stated: Definition, kept: list[facts.Original]) -> facts.Imported:
    """Return the claim with its entry: unchanged if it returns its result, wrapped if it writes into a tensor."""
    spec = found.solution["spec"]
    path, _, function = str(spec["entry_point"]).partition("::")
    where = f"{found.solution_at}: spec.entry_point"
    file = solutions.flattened(path, where)
    source = next((one for one in kept if one.file == file), None)
    if source is None or not all(map(entries.plain_name, function.split("."))):
        lacks = f"{where} {str(spec['entry_point'])[:60]!r} names no source and function"
        return claim.lacking(facts.essential(lacks, "variant", "name the entry as file::function"))
    texts = {one.published_as.rpartition(": ")[2]: one.data.decode() for one in kept}
    native = len(texts) > 1 and all(name.endswith((*joined.SOURCES, *joined.HEADERS)) for name in texts)
    python_alone = len(texts) > 1 and all(name.endswith(".py") for name in texts)
    added = joined.ADDED if native else joined_python.ADDED if python_alone else ""
    if native:
        source = replace(source, data=joined.joined(texts).encode())
    if python_alone:
        data, _ = joined_python.in_one(path, texts, lambda name: texts[name].encode())
        source = replace(source, data=data)
    missing = _too_much([] if native or python_alone else kept, file, spec)
    if any(one.axes is None for one in stated.outputs) or all(one.axes is None for one in stated.inputs):
        return claim.lacking(*missing, _NO_TENSOR)
    python = PythonText(source.data, where=source.published_as).functions if file.endswith(".py") else None
    if python is not None and function not in python:
        lacks = f"{path} defines no function {function}"
        missing.append(facts.essential(lacks, "entry", "name the function there is"))
    technique = f"{function} of {path} as published, {spec.get('language') or spec.get('languages')}"
    if not _writes(spec, (python or {}).get(function), stated):
        kernel = facts.Claimed(
            "claimed.cu" if python is None else "claimed.py", source.data, function, technique, added
        )
        return replace(claim.lacking(*missing), claimed=kernel)
    if python is None:
        text = source.data.decode()
        data = definitions.of_cuda(text, name=claim.name, function=function, flags=claim.flags, stated=stated)
    else:
        data = definitions.into_destination(source.data, function, stated)
    kernel = facts.Claimed("claimed.py", data, entries.ENTRY, technique, "; ".join(filter(None, [added, _ADDED])))
    return replace(claim.lacking(*missing), claimed=kernel)


def _too_much(kept: list[facts.Original], file: str, spec: Mapping[str, Any]) -> list[facts.Missing]:
    """Return the reasons against an audit: several files, other bindings than torch's."""
    count = len([one for one in kept if one.file.endswith((".py", *joined.SOURCES, *joined.HEADERS))])
    text = f"{count} source files, some in Python, and a variant is one file"
    missing = [facts.essential(text, file, "join them in one")] if count > 1 else []
    return [*missing, *([_TVM] if spec.get("binding") == "tvm-ffi" else [])]


def _writes(spec: Mapping[str, Any], function: ast.FunctionDef | None, stated: Definition) -> bool:
    """Return whether the entry writes into what it is given last: as the spec says; true where neither it nor a Python
    signature decides, which is the benchmarks' default."""
    result = spec.get("destination_passing_style")
    if isinstance(result, bool):
        return result
    return function is None or len(function.args.args) > len(stated.inputs)
