"""kernelbench.com: a `solution.py` whose class `Model` takes the place of the one in `reference.py`.

The set's check makes both modules in eval mode with what `get_init_inputs` returns, and loads the reference's state
into the solution's. `problem.yaml` states a tolerance for each dtype of a result. Facts: Infatoshi/kernelbench.com,
`benchmarks/hard/src/eval/correctness.py`, `check.py` of its problems (2026).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePath

from audit.claims.importers import entries, module_task, published
from audit.claims.importers.imported import RMS, Claimed, Imported, Original, Tolerance
from audit.claims.importers.material import Given, Material
from audit.claims.importers.missing import NO_FIGURES
from audit.model import Harness
from audit.model.errors import BadInput

TAKES = "a `solution.py` with a class `Model`, the problem's `reference.py`, its `problem.yaml` where there is one"
LACKS = ("reference.py cost", "speedup")
SOLUTION, REFERENCE, PROBLEM = "solution.py", "reference.py", "problem.yaml"
_DEFAULTS = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 1e-2}
_STATED = re.compile(r"^\s+[\"']?(?:torch\.)?(float32|float16|bfloat16)[\"']?\s*:\s*([\d.eE+-]+)", re.MULTILINE)
_SIDECAR = re.compile(r"^# =+ sidecar: (\S{1,100}) .*=$", re.MULTILINE)
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
    return bool(_files(material, SOLUTION) or _sidecars(material)) and bool(_files(material, REFERENCE))


def read(material: Material, given: Given) -> Imported:
    """Return the solution with its problem. Raises BadInput for several of either, or files behind its Python."""
    for sidecar in _sidecars(material):
        raise BadInput(f"{sidecar}, and a variant is one file; give its text to load_inline, and cut it off there")
    solution = material.only(_files(material, SOLUTION), what="solution (a class Model)")
    task = material.only(_files(material, REFERENCE), what="reference (a class Model)")
    found = module_task.imported("kernelbench_com", task=task, solution=solution, shape=given.shape, kernel="Model")
    name = module_task.named_after(material.files[task.published_as].resolve().parent.name)
    claimed = Claimed(
        "claimed.py",
        entries.beside_reference(solution.data, task.data, _MODEL),
        "forward",
        "class Model as published",
        added="a class that takes over the parameters and buffers of the reference, whose text stands there too",
    )
    tolerance, problem = _tolerance(material, found.dtype)
    return replace(
        found,
        name=name,
        title=f"kernelbench.com, {name.replace('_', ' ')}",
        claimed=claimed,
        originals=(*found.originals, *problem),
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


def _sidecars(material: Material) -> list[str]:
    """Return where solutions go on with another file, as the site shows those that a solution loads."""
    unread = (name for name in material.named(SOLUTION) if name not in material.python)
    texts = {name: material.data(name).decode() for name in unread}
    found = ((name, text, mark) for name, text in texts.items() for mark in _SIDECAR.finditer(text))
    return [f"{name}: line {text.count(chr(10), 0, mark.start()) + 1} begins {mark[1]}" for name, text, mark in found]


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
