"""popcorn: a leaderboard's `reference.py` and `task.yml`, and a `submission.py` whose `custom_kernel(data)` is claimed.

`generate_input(**arguments, seed)` makes the one tuple `data`, `ref_kernel(data)` what is right for it; tests and
benchmarks of the task give the arguments. Facts: gpu-mode/reference-kernels, `problems/*/utils.py` (2026).

A submission may have several functions: the results of all are the outputs of one call. `reference_X(...)` says what is
right for the one function whose name ends with `_X`; parameters are named as what `generate_inputs` returns, and
`eval.py` calls that with the sizes that `task.yml` does not list. Facts: `problems/princeton` there (2026).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from audit.claims.importers import destinations, entries, facts, joined_python, module_task, popcorn_cases, published
from audit.claims.importers.material import Material
from audit.claims.importers.popcorn_cases import MAKER, REFERENCE
from audit.claims.python_text import PythonText
from audit.model import Harness
from audit.review.python_tree import imports

TAKES = (
    "`submission.py` with `custom_kernel(data)`, the leaderboard's `reference.py`, `task.yml`, `task.py`, `utils.py`"
)
LACKS = ("reference.py cost", "speedup", "original/utils.py")
ENTRY = "custom_kernel"
BESIDE = ("task", "utils")
ADDED = "a function that hands the inputs on as one tuple"
ADDED_TYPES = "`task` in the place of a package's module of that name"
_TYPES = re.compile(rb"^from [\w.]*\.task(?= import )", re.MULTILINE)
_HEADER = re.compile(r"^#!POPCORN\s+(\w+)\s+(.+?)\s*$", re.MULTILINE)
MAKERS, PREFIX = "generate_inputs", "reference_"
ADDED_CALLS = "a function that calls those of the submission and returns all results"


@dataclass(frozen=True)
class Parts:
    """Files of a submission and its reference, and the functions of both with the places of their arguments.

    `sizes` are those that the `callers` of `generate_inputs` give as one constant.
    """

    submission: facts.Original
    reference: facts.Original
    theirs: Mapping[str, tuple[int, ...]]
    right: Mapping[str, tuple[int, ...]]
    inputs: int
    sizes: Mapping[str, int]
    callers: tuple[facts.Original, ...]

    @property
    def choices(self) -> list[str]:
        """What the sizes are that no test lists."""
        told = ", ".join(f"{name} = {size}" for name, size in self.sizes.items())
        files = ", ".join(one.published_as for one in self.callers)
        return [f"sizes that {files} gives whatever the test: {told}"] if told else []

    def source(self, data: bytes) -> bytes:
        """Return the submission with a function that makes every call."""
        names = [f"input_{place}" for place in range(self.inputs)]
        calls = [f"{name}({', '.join(names[one] for one in places)})" for name, places in self.theirs.items()]
        line = f"def {entries.ENTRY}({', '.join(names)}):\n    return {', '.join(calls)}\n"
        return data + f"{entries.MARK}\n\n{line}".encode()

    def unlisted(self, text: PythonText, claimed: Mapping[str, int]) -> list[facts.Missing]:
        """Return that sizes of `generate_inputs` stand nowhere, where there are such."""
        arguments = text.functions[MAKERS].args
        needed = arguments.args[: len(arguments.args) - len(arguments.defaults)]
        names = [one.arg for one in needed if one.arg not in claimed]
        typed = " ".join(f"{one.arg}=64" for one in needed)
        what, how = f"task.yml does not list {', '.join(names)} of {MAKERS}", "give eval.py too"
        return [facts.Missing(what, "shapes", how, essential=True, argument=("shape", typed))] if names else []


def matches(material: Material) -> bool:
    """Return whether a Python file binds `custom_kernel` at its top level, as a function or to one, or has functions
    that those of a reference stand beside."""
    return any(one.binds(ENTRY) for one in material.python.values()) or _several(material) is not None


def read(material: Material, given: facts.Given) -> facts.Imported:  # noqa: ARG001  # there are no figures to ask a unit of
    """Return the submission with its task. Raises BadInput for several of either, or a `task.yml` that is none."""
    alone = material.written_in(lambda one: one.binds(ENTRY))  # a name that is imported is what another file submits
    parts = None if alone else _several(material)
    submission = parts.submission if parts else material.only(alone, what=f"submission (a function {ENTRY})")
    names = [name for name in material.python if PurePath(name).name != "task.py"]
    data, others = joined_python.in_one(submission.published_as, names, material.data)
    data, renamed = _TYPES.subn(b"from task", data)
    left = "utils" in _imports(material.python[submission.published_as]) and not others
    header = dict(_HEADER.findall(submission.data.decode()))
    references = [parts.reference] if parts else material.written_in(lambda one: MAKER in one.functions)
    added = [
        ADDED_CALLS if parts else ADDED,
        *([joined_python.ADDED] if others else []),
        *([ADDED_TYPES] if renamed else []),
    ]
    name = module_task.named_after(header.get("leaderboard") or material.paths[0].resolve().name)
    imported = facts.Imported(
        format="popcorn",
        provenance=submission.published_as,
        name=name,
        title=f"popcorn leaderboard {header.get('leaderboard', name)}, a submission",
        originals=(facts.Original("submission.py", submission.data, submission.published_as),),
        claimed=facts.Claimed(
            "claimed.py",
            parts.source(data) if parts else entries.of_one_tuple(data, ENTRY),
            entries.ENTRY,
            f"{' and '.join(parts.theirs) if parts else ENTRY} as submitted",
            added="; ".join(added),
        ),
        steps=tuple(f"leaderboard {key}: {value}" for key, value in header.items()),
        missing=(facts.NO_COST, facts.NO_FIGURES, *([_UTILS] if left else [])),
    )
    return _with_task(imported, material, references, parts) if references else imported.lacking(facts.NO_TASK)


def _with_task(
    imported: facts.Imported, material: Material, references: list[facts.Original], parts: Parts | None
) -> facts.Imported:
    reference = replace(material.only(references, what="reference"), file="reference.py")
    text = material.python[reference.published_as]
    there = {PurePath(name).name: name for name in reversed(material.python)}
    beside = {module: there.get(f"{module}.py") for module in BESIDE if module in _imports(text)}
    others = [material.python[file] for file in beside.values() if file]
    any_dtype = len(others) == len(beside) and not popcorn_cases.compares_dtypes(text, others)
    kept = [material.original(file, file=f"{module}.py") for module, file in beside.items() if file]
    stated, listed = popcorn_cases.stated(material)
    options: dict[str, Any] = {
        "file": "reference.py",
        "beside": {module: f"{module}.py" if file else None for module, file in beside.items()},
        "largest_seed": popcorn_cases.largest_seed(listed),
    }
    listed = popcorn_cases.beside(listed, parts.sizes if parts else {})
    cases = popcorn_cases.chosen(listed, file=stated[0].published_as if stated else "")
    unlisted = parts.unlisted(text, cases.claimed if cases else {}) if parts else []
    cases = None if unlisted else cases
    shapes, choices = popcorn_cases.shapes(cases, imported.originals[0].data.decode()) if cases else (None, [])
    options |= {"options": cases.options} if cases else {}
    missing = unlisted or ([] if cases else [_NO_TASK_YML])
    tolerance = _stated_tolerance(text) if parts else popcorn_cases.tolerance(text, cases)
    missing += [] if tolerance else [_NO_TOLERANCE]
    missing += [_OF_A_PROPERTY] if popcorn_cases.of_a_property(text) else []
    missing += [] if parts or REFERENCE in text.functions else [_NO_REFERENCE]
    missing += [_SEVERAL_GPUS] if "torch.distributed" in text.text else []
    missing += [
        facts.Missing(f"{module}.py is not beside the reference", f"original/{module}.py", _STAND_IN.format(module))
        for module, file in beside.items()
        if file is None
    ]
    names = " and ".join(parts.right) if parts else REFERENCE
    result = ast.get_docstring(text.functions[REFERENCE]) if REFERENCE in text.functions else None
    return replace(
        imported,
        task=(result or "").strip().partition("\n")[0] or f"what {names} of original/reference.py computes",
        dtype=text.dtype_of(MAKER),
        originals=(*imported.originals, reference, *kept, *stated, *(parts.callers if parts else ())),
        reference=facts.Reference("parts", {**options, "parts": parts.right})
        if parts
        else facts.Reference("data", options),
        shapes=shapes,
        tolerance=tolerance,
        harness=Harness(destination=destinations.of_tuple(text.functions.get(REFERENCE)), any_dtype=any_dtype),
        missing=(*imported.missing, *missing),
        choices=(*(parts.choices if parts else ()), *choices),
    )


_NO_TOLERANCE = facts.no_tolerance("reference.py compares in a way of its own")
_OF_A_PROPERTY = facts.essential(
    "check_implementation asks for a property and never calls ref_kernel, so that another result may be right too",
    "original/reference.py",
    "write a ref_kernel with the one right result, and call it there",
)
_NO_TASK_YML = facts.essential("there is no task.yml", "shapes", "write the arguments of generate_input")
_NO_REFERENCE = facts.essential(f"reference.py has no {REFERENCE}", "original/reference.py", "write it there")
_SEVERAL_GPUS = facts.essential("the task runs on several GPUs at once", "reference.py", "an audit has one GPU")
_STAND_IN = "put it there as original/{}.py and name it in reference.py; until then its names mean nothing"
_UTILS = facts.essential("the submission imports utils", "claimed.py", "give utils.py of the leaderboard too")


def _imports(text: PythonText) -> set[str]:
    """Return the modules that a text imports, by the first part of their names."""
    return {full.partition(".")[0] for full in imports(ast.walk(text.tree)).values()}


def _several(material: Material) -> Parts | None:
    """Return the one submission and its reference; None where there is none or a function has no counterpart."""
    found = (_parts(material, name, text) for name, text in material.python.items() if MAKERS in text.functions)
    return next((one for one in found if one is not None), None)


def _stated_tolerance(text: PythonText) -> facts.Tolerance | None:
    """Return the constants RTOL and ATOL of the reference; None where there is no RTOL."""
    value = text.constant("RTOL")
    if not isinstance(value, float) or not published.positive(value):
        return None
    absolute = text.constant("ATOL")
    sentence = f"the leaderboard's own, RTOL = {value} and ATOL of reference.py; {facts.UP_TO}"
    return facts.Tolerance(value, sentence, float(absolute) if published.positive(absolute) else 0.0)


def _parts(material: Material, file: str, text: PythonText) -> Parts | None:
    names = _returned(text)
    right = {name: _places(one, names) for name, one in text.functions.items() if name.startswith(PREFIX)}
    others = {name: one for name, one in material.python.items() if name != file}
    for name, other in others.items():
        pairs = [[each for each in other.functions if each.endswith(one.removeprefix("reference"))] for one in right]
        theirs = {each[0]: _places(other.functions[each[0]], names) for each in pairs if len(each) == 1}
        if right and len(theirs) == len(right) and None not in {*right.values(), *theirs.values()}:
            kept = {key: places for key, places in right.items() if places is not None}
            own = {key: places for key, places in theirs.items() if places is not None}
            calls = {each: one for each, one in others.items() if any(one.calls(MAKERS))}
            files = tuple(material.original(each) for each in calls)
            pair = material.original(name), material.original(file)
            return Parts(*pair, own, kept, len(names), _sizes(text, calls), files)
    return None


def _returned(text: PythonText) -> list[str]:
    """Return the names that `generate_inputs` returns side by side; none where it returns something else."""
    last = text.functions[MAKERS].body[-1]
    values = last.value.elts if isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple) else []
    return [one.id for one in values if isinstance(one, ast.Name)]


def _places(function: ast.FunctionDef, names: list[str]) -> tuple[int, ...] | None:
    given = [one.arg for one in function.args.args]
    return tuple(names.index(one) for one in given) if {*given} <= {*names} else None


def _sizes(text: PythonText, others: Mapping[str, PythonText]) -> dict[str, int]:
    """Return the arguments of `generate_inputs` that other files give as one constant, whatever the test."""
    parameters = [one.arg for one in text.functions[MAKERS].args.args]
    found: dict[str, set[Any]] = {}
    for other in others.values():
        for call in other.calls(MAKERS):
            for name, value in zip(parameters, call.args, strict=False):
                found.setdefault(name, set()).add(other.value(value))
    only = {name: next(iter(values)) for name, values in found.items() if len(values) == 1}
    return {name: value for name, value in only.items() if type(value) is int and value > 0}
