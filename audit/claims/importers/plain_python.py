"""A Python file with a function `kernel` (Triton, `load_inline`, torch), and one with a reference function for it.

The file may import from others beside it; these become part of it.
"""

from __future__ import annotations

from audit.claims.importers import bare_cu, joined_python, module_task, solutions
from audit.claims.importers.imported import NO_COST, NO_FIGURES, Claimed, Imported, Original
from audit.claims.importers.material import Given, Material
from audit.claims.importers.python_text import PythonText

TAKES = (
    "a Python file with a function `kernel`, alone or with those it imports, and one with `reference` and `get_inputs`"
)
LACKS = ("reference.py cost", "speedup")
ENTRY = "kernel"


def matches(material: Material) -> bool:
    """Return whether a Python file defines `kernel`."""
    return bool(material.written_in(_defines))


def read(material: Material, given: Given) -> Imported:  # noqa: ARG001  # there are no figures to ask a unit of
    """Return the kernel with its reference. Raises BadInput for several of either."""
    kernel = material.only(material.written_in(_defines), what=ENTRY)
    data, others = joined_python.in_one(kernel.published_as, material.python, material.data)
    kept = [material.original(one, file=solutions.flattened(one, one)) for one in others]
    name = module_task.named_after(kernel.published_as)
    imported = Imported(
        format="plain_python",
        provenance=kernel.published_as,
        name=name,
        title=name.replace("_", " "),
        originals=(Original("kernel.py", kernel.data, kernel.published_as), *kept),
        claimed=Claimed("claimed.py", data, ENTRY, "the file as given", joined_python.ADDED if others else ""),
        missing=(NO_COST, NO_FIGURES),
    )
    return bare_cu.with_reference(imported, material)


def _defines(text: PythonText) -> bool:
    return ENTRY in text.functions or ENTRY in text.assigned
