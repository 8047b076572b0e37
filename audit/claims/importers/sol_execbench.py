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
DEFAULT = {"max_atol": 1e-2, "max_rtol": 1e-2, "required_matched_ratio": 0.99}
"""What holds where a workload states none."""


def matches(material: Material) -> bool:
    """Return whether a JSON document is a solution, and one says what SOL-ExecBench alone says."""
    return any(solutions.is_solution(one) for one in material.documents.values()) and solutions.is_sol(material)


def read(material: Material, given: Given) -> Imported:
    """Return the one solution of the material. Raises BadInput as `flashinfer_bench.imported`."""
    return flashinfer_bench.imported("sol_execbench", material, given, tolerance_of=_stated)


def _stated(workload: Workload) -> Tolerance | None:
    """Return the workload's own relative tolerance, or the benchmark's; None where the workload's is no number."""
    stated = {**DEFAULT, **workload.tolerance}
    relative, absolute = stated["max_rtol"], stated["max_atol"]
    if not published.positive(relative):
        return None
    text = ", ".join(f"{key} = {value}" for key, value in stated.items())
    whose = "the workload's own" if workload.tolerance else "SOL-ExecBench's default"
    reason = f"{whose}: {text}; here every element counts"
    return Tolerance(float(relative), f"{reason}, and max_atol is in units of the result's rms" if absolute else reason)
