"""A Python file with a function `kernel` (Triton, `load_inline`, torch), and one with a reference function for it."""

from __future__ import annotations

from audit.claims.importers import bare_cu, module_task
from audit.claims.importers.imported import Claimed, Imported, Original
from audit.claims.importers.material import Given, Material
from audit.claims.importers.missing import NO_COST, NO_FIGURES

TAKES = "a Python file with a function `kernel`, and one with `reference` and `get_inputs`"
LACKS = ("reference.py cost", "speedup")
ENTRY = "kernel"


def matches(material: Material) -> bool:
    """Return whether a Python file defines `kernel`."""
    return any(_defines(material, name) for name in material.python)


def read(material: Material, given: Given) -> Imported:  # noqa: ARG001  # there are no figures to ask a unit of
    """Return the kernel with its reference.

    Raises:
        BadInput: several kernels, or several Python files with a reference.
    """
    kernel = material.only([material.original(one) for one in material.python if _defines(material, one)], what=ENTRY)
    name = module_task.named_after(kernel.published_as)
    imported = Imported(
        format="plain_python",
        provenance=kernel.published_as,
        name=name,
        title=name.replace("_", " "),
        originals=(Original("kernel.py", kernel.data, kernel.published_as),),
        claimed=Claimed("claimed.py", kernel.data, ENTRY, "the file as given"),
        missing=(NO_COST, NO_FIGURES),
    )
    return bare_cu.with_reference(imported, material)


def _defines(material: Material, name: str) -> bool:
    text = material.python[name]
    return ENTRY in text.functions or ENTRY in text.assigned
