"""popcorn: a leaderboard's `reference.py` and `task.yml`, and a `submission.py` whose `custom_kernel(data)` is claimed.

`generate_input(**arguments, seed)` makes the one tuple `data`, `ref_kernel(data)` what is right for it; tests and
benchmarks of the task give the arguments. Facts: gpu-mode/reference-kernels, `problems/*/utils.py` (2026).
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from audit.claims.importers import entries, module_task, published, sizes
from audit.claims.importers.imported import Claimed, Imported, Original, Reference, Shapes, Tolerance
from audit.claims.importers.material import Given, Material
from audit.claims.importers.missing import NO_COST, NO_FIGURES, NO_TASK, SEVERAL_RESULTS, Missing, no_tolerance
from audit.claims.importers.python_text import PythonText, last_name
from audit.model import Harness
from audit.model.errors import BadInput

TAKES = (
    "`submission.py` with `custom_kernel(data)`, the leaderboard's `reference.py`, `task.yml`, `task.py`, `utils.py`"
)
LACKS = ("reference.py cost", "speedup", "original/utils.py")
ENTRY, MAKER, REFERENCE = "custom_kernel", "generate_input", "ref_kernel"
DEFAULTS = {"rtol": 1e-5, "atol": 1e-8}
"""Of `match_reference` in the leaderboards' `utils.py`."""
BESIDE = ("task", "utils")
YAML_LIMIT_BYTES = 1_000_000
LARGEST_TEST = 1024
"""A test with a size above this is not proposed for the emulated device."""
_HEADER = re.compile(r"^#!POPCORN\s+(\w+)\s+(.+?)\s*$", re.MULTILINE)


def matches(material: Material) -> bool:
    """Return a Python file binds `custom_kernel` at its top level, as a function or to one."""
    return any(_submits(one) for one in material.python.values())


def read(material: Material, given: Given) -> Imported:  # noqa: ARG001  # there are no figures to ask a unit of
    """Return the submission with its task.

    Raises:
        BadInput: several submissions or references, or a `task.yml` that is none.
    """
    found = [material.original(name) for name, one in material.python.items() if _submits(one)]
    submission = material.only(found, what=f"submission (a function {ENTRY})")
    imports = _imports(material.python[submission.published_as])
    header = dict(_HEADER.findall(submission.data.decode()))
    references = [name for name, one in material.python.items() if MAKER in one.functions]
    name = module_task.named_after(header.get("leaderboard") or material.paths[0].resolve().name)
    imported = Imported(
        format="popcorn",
        provenance=submission.published_as,
        name=name,
        title=f"popcorn leaderboard {header.get('leaderboard', name)}, a submission",
        originals=(Original("submission.py", submission.data, submission.published_as),),
        claimed=Claimed(
            "claimed.py",
            entries.of_one_tuple(submission.data, ENTRY),
            entries.ENTRY,
            "custom_kernel as submitted",
            added="a function that hands the inputs on as one tuple",
        ),
        steps=tuple(f"leaderboard {key}: {value}" for key, value in header.items()),
        missing=(NO_COST, NO_FIGURES, *([_UTILS] if "utils" in imports else [])),
    )
    return _with_task(imported, material, references) if references else imported.lacking(NO_TASK)


def _submits(text: PythonText) -> bool:
    """`custom_kernel = torch.compile(...)` is one too; a name that an import binds is what another file submits."""
    return ENTRY in text.functions or ENTRY in text.assigned


def _with_task(imported: Imported, material: Material, references: list[str]) -> Imported:
    name = material.only([material.original(each) for each in references], what="reference").published_as
    text = material.python[name]
    beside = {module: _beside(material, module) for module in BESIDE if module in _imports(text)}
    kept = [material.original(file, file=f"{module}.py") for module, file in beside.items() if file]
    stated, cases = _cases(material)
    options = {
        "file": "reference.py",
        "beside": {module: f"{module}.py" if file else None for module, file in beside.items()},
        "largest_seed": _largest_seed(cases),
    }
    shapes, missing, choices = _shapes(cases, imported, file=stated[0].published_as if stated else "")
    tolerance = _tolerance(text)
    missing += [] if tolerance else [_NO_TOLERANCE]
    missing += [] if REFERENCE in text.functions else [_NO_REFERENCE]
    missing += [SEVERAL_RESULTS] if text.returns_several(text.functions.get(REFERENCE)) else []
    missing += [_stand_in(module) for module, file in beside.items() if file is None]
    result = ast.get_docstring(text.functions[REFERENCE]) if REFERENCE in text.functions else None
    return replace(
        imported,
        task=(result or "").strip().partition("\n")[0] or "what ref_kernel of original/reference.py computes",
        dtype=text.dtype_of(MAKER),
        originals=(*imported.originals, material.original(name, file="reference.py"), *kept, *stated),
        reference=Reference("data", options),
        shapes=shapes,
        tolerance=tolerance,
        harness=Harness(destination=_destination(text)),
        missing=(*imported.missing, *missing),
        choices=tuple(choices),
    )


_LARGEST = "shapes.claimed: the largest benchmark of task.yml, since the leaderboard ranks all of them together"
_SMALLEST = "shapes.emulated: the smallest tests of task.yml"
_NO_TOLERANCE = no_tolerance("reference.py compares in a way of its own")
_NO_REFERENCE = Missing(f"reference.py has no {REFERENCE}", "original/reference.py", "write it there", essential=True)
_UTILS = Missing("the submission imports utils", "claimed.py", "put what it needs of it there", essential=True)
_NO_TASK_YML = Missing("there is no task.yml", "shapes", "write the arguments of generate_input", essential=True)


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


def _stand_in(module: str) -> Missing:
    how = f"put it there as original/{module}.py and name it in reference.py; until then its names mean nothing"
    return Missing(f"{module}.py is not beside the reference", f"original/{module}.py", how)


def _imports(text: PythonText) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(text.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def _beside(material: Material, module: str) -> str | None:
    return next((name for name in material.python if PurePath(name).name == f"{module}.py"), None)


def _cases(material: Material) -> tuple[list[Original], dict[str, Any]]:
    """Return the file that states tests and benchmarks, if there is one, and what stands in it."""
    names = material.named("task.yml", "task.yaml")
    if not names:
        return [], {}
    original = material.original(names[0], file="task.yml")
    return [original], _yaml(original)


def _largest_seed(cases: Mapping[str, Any]) -> int | None:
    """Return the largest seed of a test or a benchmark; None where they state none."""
    listed = [case for key in ("tests", "benchmarks") if isinstance(cases.get(key), list) for case in cases[key]]
    seeds = [case.get("seed") for case in listed if isinstance(case, dict)]
    return max((seed for seed in seeds if type(seed) is int and seed >= 0), default=None)


def _shapes(
    cases: Mapping[str, Any], imported: Imported, *, file: str
) -> tuple[Shapes | None, list[Missing], list[str]]:
    """Return the arguments of tests and benchmarks as shapes, what is missing and what was chosen."""
    tests, benchmarks = (_arguments(cases.get(key), file, key) for key in ("tests", "benchmarks"))
    if not tests and not benchmarks:
        return None, [_NO_TASK_YML], []
    several = [dict(shape) for shape in dict.fromkeys(tuple(one.items()) for one in (*tests, *benchmarks))]
    claimed = max(benchmarks or tests, key=lambda shape: math.prod(shape.values()))
    others = tuple(shape for shape in several if shape != claimed)
    smallest = sorted(several, key=lambda shape: math.prod(shape.values()))[:2]
    small = tuple(shape for shape in smallest if max(shape.values()) <= LARGEST_TEST)
    if small:
        return Shapes(claimed, others, small), [], [_LARGEST, _SMALLEST]
    source = imported.originals[0].data.decode()
    found, choices = sizes.smaller(smallest[0], sources=[source])
    return replace(found, claimed=claimed, others=others), [], [_LARGEST, *choices]


def _yaml(original: Original) -> dict[str, Any]:
    try:
        import yaml  # only this format needs it
    except ImportError as error:
        raise BadInput(f"{original.published_as}: YAML is read by PyYAML; pip install pyyaml") from error
    if len(original.data) > YAML_LIMIT_BYTES:
        raise BadInput(
            f"{original.published_as}: {len(original.data):,} bytes; a task has at most {YAML_LIMIT_BYTES:,}"
        )
    try:
        loaded = yaml.load(original.data, Loader=_plain_loader(yaml))
    except (yaml.YAMLError, ValueError, TypeError, AttributeError) as error:
        place = getattr(error, "problem_mark", None)
        where = f"line {place.line + 1}: " if place else ""
        raise BadInput(f"{original.published_as}: {where}broken YAML ({type(error).__name__})") from error
    if not isinstance(loaded, dict):
        raise BadInput(f"{original.published_as}: no YAML mapping but {type(loaded).__name__}")
    return loaded


def _plain_loader(yaml: Any) -> Any:
    """Return the safe loader, which takes a tag it does not know, `!include` for one, as nothing."""
    loader: Any = type("PlainLoader", (yaml.SafeLoader,), {})
    loader.add_multi_constructor("!", lambda *_: None)
    return loader


def _arguments(cases: Any, file: str, key: str) -> list[dict[str, int]]:
    """Return the arguments of every case without its seed.

    Raises:
        BadInput: one is no positive integer; a shape has no other.
    """
    found = []
    for number, case in enumerate(cases if isinstance(cases, list) else [], start=1):
        if not isinstance(case, dict):
            raise BadInput(f"{file}: {key} {number}: no mapping but {type(case).__name__}")
        shape = {str(name): value for name, value in case.items() if name != "seed"}
        for name, value in shape.items():
            if type(value) is not int or value < 1 or not entries.plain_name(name):
                raise BadInput(
                    f"{file}: {key} {number}: {name} = {str(value)[:20]}; a shape has positive integers only"
                )
        found += [shape] if shape else []
    return found


def _tolerance(text: PythonText) -> Tolerance | None:
    """Return the arguments of `make_match_reference`, with its defaults for the rest; None where it is not used."""
    call = next((call for name in ("make_match_reference", "match_reference") for call in text.calls(name)), None)
    if call is None:
        return None
    given = {keyword.arg: text.value(keyword.value) for keyword in call.keywords if keyword.arg in DEFAULTS}
    used = {name: given.get(name, value) for name, value in DEFAULTS.items()}
    relative = used["rtol"]
    if not published.positive(relative):
        return None
    sentence = f"the leaderboard's own, rtol = {used['rtol']}, atol = {used['atol']}"
    default = "" if "rtol" in given else ", the defaults of its utils.py"
    return Tolerance(
        float(relative), f"{sentence}{default}; the absolute part counts here in units of the result's rms"
    )
