"""popcorn: a leaderboard's `reference.py` and `task.yml`, and a `submission.py` whose `custom_kernel(data)` is claimed.

`generate_input(**arguments, seed)` makes the one tuple `data`, `ref_kernel(data)` what is right for it; tests and
benchmarks of the task give the arguments. Facts: gpu-mode/reference-kernels, `problems/*/utils.py` (2026).
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from audit.claims.importers import entries, facts, joined_python, module_task, popcorn_cases, popcorn_parts
from audit.claims.importers.material import Material
from audit.claims.importers.popcorn_cases import MAKER, REFERENCE
from audit.claims.importers.popcorn_parts import Parts
from audit.claims.importers.python_text import PythonText
from audit.model import Harness
from audit.review.python_tree import last_name

TAKES = (
    "`submission.py` with `custom_kernel(data)`, the leaderboard's `reference.py`, `task.yml`, `task.py`, `utils.py`"
)
LACKS = ("reference.py cost", "speedup", "original/utils.py")
ENTRY = "custom_kernel"
BESIDE = ("task", "utils")
ADDED = "a function that hands the inputs on as one tuple"
_HEADER = re.compile(r"^#!POPCORN\s+(\w+)\s+(.+?)\s*$", re.MULTILINE)


def matches(material: Material) -> bool:
    """Return whether a Python file binds `custom_kernel` at its top level, as a function or to one, or has functions
    that those of a reference stand beside."""
    return any(_submits(one) for one in material.python.values()) or popcorn_parts.find(material) is not None


def read(material: Material, given: facts.Given) -> facts.Imported:  # noqa: ARG001  # there are no figures to ask a unit of
    """Return the submission with its task. Raises BadInput for several of either, or a `task.yml` that is none."""
    alone = material.written_in(_submits)
    parts = None if alone else popcorn_parts.find(material)
    submission = parts.submission if parts else material.only(alone, what=f"submission (a function {ENTRY})")
    names = [name for name in material.python if PurePath(name).name != "task.py"]
    data, others = joined_python.in_one(submission.published_as, names, material.data)
    left = "utils" in _imports(material.python[submission.published_as]) and not others
    header = dict(_HEADER.findall(submission.data.decode()))
    references = [parts.reference] if parts else material.written_in(lambda one: MAKER in one.functions)
    added = [popcorn_parts.ADDED if parts else ADDED, *([joined_python.ADDED] if others else [])]
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


def _submits(text: PythonText) -> bool:
    """`custom_kernel = torch.compile(...)` is one too; a name that an import binds is what another file submits."""
    return ENTRY in text.functions or ENTRY in text.assigned


def _with_task(
    imported: facts.Imported, material: Material, references: list[facts.Original], parts: Parts | None
) -> facts.Imported:
    reference = replace(material.only(references, what="reference"), file="reference.py")
    text = material.python[reference.published_as]
    there = {PurePath(name).name: name for name in reversed(material.python)}
    beside = {module: there.get(f"{module}.py") for module in BESIDE if module in _imports(text)}
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
    tolerance = popcorn_parts.tolerance(text) if parts else popcorn_cases.tolerance(text, cases)
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
        harness=Harness(destination=_destination(text)),
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


def _destination(text: PythonText) -> int | None:
    """Return the place in `data` of the result: a tensor that `ref_kernel` unpacks and never reads."""
    reference = text.functions.get(REFERENCE)
    for node in ast.walk(reference) if reference is not None else ():
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Name):
            unpacked = [last_name(one) for one in node.targets[0].elts]
            uses = sorted(
                (each.lineno, isinstance(each.ctx, ast.Store), each.id)  # a line reads before it binds
                for each in ast.walk(reference or node)
                if isinstance(each, ast.Name) and each.lineno > node.lineno
            )
            for place, name in enumerate(unpacked):
                binds = [store for _, store, used in uses if used == name]
                if name and name != "_" and (not binds or binds[0]):
                    return place
    return None


def _imports(text: PythonText) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(text.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found
