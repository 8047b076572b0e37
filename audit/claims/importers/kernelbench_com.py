"""kernelbench.com: a `solution.py` whose class `Model` takes the place of the one in `reference.py`.

The set's check makes both modules in eval mode with what `get_init_inputs` returns, and loads the reference's state
into the solution's. `problem.yaml` states a tolerance for each dtype of a result. Facts: Infatoshi/kernelbench.com,
`benchmarks/hard/src/eval/correctness.py`, `check.py` of its problems (2026).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePath

from audit.claims.importers import entries, module_task, published, sidecars
from audit.claims.importers.imported import RMS, Claimed, Imported, Original, Tolerance
from audit.claims.importers.material import Given, Material
from audit.claims.importers.missing import NO_FIGURES
from audit.model import Harness

TAKES = "a `solution.py` with a class `Model`, the problem's `reference.py`, its `problem.yaml` where there is one"
LACKS = ("reference.py cost", "speedup")
SOLUTION, REFERENCE, PROBLEM = "solution.py", "reference.py", "problem.yaml"
_DEFAULTS = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 1e-2}
_STATED = re.compile(r"^\s+[\"']?(?:torch\.)?(float32|float16|bfloat16)[\"']?\s*:\s*([\d.eE+-]+)", re.MULTILINE)
ADDED = "a class that takes over the parameters and buffers of the reference, whose text stands there too"
_MODEL = '''class ModelNew(Model):
    """Takes over the state of the reference, as the check of the set does."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        try:
            self.load_state_dict(_stated(*arguments).state_dict(), strict=True)
        except RuntimeError as error:
            told = " ".join(str(error).split()).partition(": ")[2]
            raise LookupError(f"solution.py: parameters of Model do not fit those of reference.py: {told}") from None
'''


def matches(material: Material) -> bool:
    """Return whether a solution and a reference lie side by side, each with a class `Model`."""
    return bool(_solutions(material)) and bool(_files(material, REFERENCE))


def read(material: Material, given: Given) -> Imported:
    """Return the solution with its problem. Raises BadInput for several of either, or a file that it loads unread."""
    solution = material.only(_solutions(material), what="solution (a class Model)")
    text = solution.data.decode()
    alone = not sidecars.marked(text)
    source = solution.data if alone else sidecars.in_one(text, where=solution.published_as).encode()
    task = material.only(_files(material, REFERENCE), what="reference (a class Model)")
    used = replace(solution, data=source)
    found = module_task.imported("kernelbench_com", task=task, solution=used, shape=given.shape, kernel="Model")
    name = module_task.named_after(material.files[task.published_as].resolve().parent.name)
    claimed = Claimed(
        "claimed.py",
        entries.beside_reference(source, task.data, _MODEL),
        "forward",
        "class Model as published",
        added="; ".join([ADDED] if alone else [sidecars.ADDED, ADDED]),
    )
    tolerance, problem = _tolerance(material, found.dtype)
    return replace(
        found,
        name=name,
        title=f"kernelbench.com, {name.replace('_', ' ')}",
        claimed=claimed,
        originals=(replace(solution, file=module_task.SOLUTION), *found.originals[1:], *problem),
        tolerance=tolerance,
        harness=Harness(mode="eval"),
        steps=(
            "both modules in eval mode, the solution's with the reference's state",
            "torch.allclose a shape and seed",
        ),
        missing=(*found.missing, NO_FIGURES),
    )


def _files(material: Material, ending: str) -> list[Original]:
    files = material.written_in(lambda one: "Model" in {*one.classes, *one.assigned})
    return [one for one in files if PurePath(one.published_as).name.endswith(ending)]


def _solutions(material: Material) -> list[Original]:
    """Return the solutions, those included with files behind their Python, as the site shows those that they load."""
    others = [name for name in material.named(SOLUTION) if sidecars.marked(material.data(name).decode())]
    alone = [one for one in _files(material, SOLUTION) if one.published_as not in others]
    return [*alone, *(material.original(name) for name in others)]


def _tolerance(material: Material, dtype: str) -> tuple[Tolerance, tuple[Original, ...]]:
    """Return the tolerance that the problem states for results of that dtype, else the set's own for it."""
    names = material.named(PROBLEM)
    kept = (material.original(names[0], file=PROBLEM),) if names else ()
    stated = kept[0].data.decode().partition("tolerance:")[2] if kept else ""
    values = {name: float(value) for name, value in _STATED.findall(stated) if _number(value)}
    relative = values.get(dtype) or next(iter(values.values()), None) or _DEFAULTS.get(dtype, 1e-2)
    text = f"{PROBLEM} of the problem" if values else "the default of the set for that dtype"
    return Tolerance(relative, f"{text}, atol = rtol; {RMS}"), kept


def _number(text: str) -> bool:
    try:
        return published.positive(float(text))
    except ValueError:
        return False
