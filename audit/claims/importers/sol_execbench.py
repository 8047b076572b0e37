"""SOL-ExecBench: flashinfer-bench's JSON with compile options, axes that are expressions, and a tolerance a workload.

Facts: `docs/definition.md`, `docs/solution.md` and `docs/workload.md` of NVIDIA/SOL-ExecBench (2026).
"""

from __future__ import annotations

from audit.claims.importers import flashinfer_bench, published, solutions
from audit.claims.importers.facts import Given, Imported, Tolerance
from audit.claims.importers.material import Material
from audit.claims.importers.solutions import Workload

TAKES = "a solution JSON with its definition and workload, with SOL-ExecBench's tolerance or compile options"
LACKS = ("reference.py cost", "speedup")


def matches(material: Material) -> bool:
    """Return whether a JSON document is a solution, and one says what SOL-ExecBench alone says."""
    return any(solutions.is_solution(one) for one in material.documents.values()) and solutions.is_sol(material)


def read(material: Material, given: Given) -> Imported:
    """Return the one solution of the material. Raises BadInput as `flashinfer_bench.imported`."""
    return flashinfer_bench.imported("sol_execbench", material, given, tolerance_of=_stated)


def _stated(workload: Workload) -> Tolerance | None:
    """Return the workload's own relative tolerance; None where it states none."""
    relative, absolute = (workload.tolerance.get(key) for key in ("max_rtol", "max_atol"))
    if not published.positive(relative):
        return None
    text = ", ".join(f"{key} = {value}" for key, value in workload.tolerance.items())
    reason = f"the workload's own: {text}; here every element counts"
    return Tolerance(
        float(relative or 0), f"{reason}, and max_atol is in units of the result's rms" if absolute else reason
    )
