"""flashinfer-bench: solution, definition and workload JSON, with or without traces; returning or writing into a result.

A result is right by default when allclose with atol = rtol = 1e-2 (`BenchmarkConfig` of flashinfer-bench, 2025).
"""

from __future__ import annotations

from audit.claims.importers import definition_claim, solutions
from audit.claims.importers.imported import Imported, Tolerance
from audit.claims.importers.material import Given, Material
from audit.claims.importers.solutions import Workload

TAKES = "a solution JSON with its definition and workload (JSON or JSONL), and traces where there are any"
LACKS = ("reference.py cost",)
DEFAULT = Tolerance(
    1e-2,
    "flashinfer-bench's default, atol = rtol = 1e-2; the absolute part counts here in units of the result's rms",
)


def matches(material: Material) -> bool:
    """A JSON document is a solution, and nothing says what SOL-ExecBench alone says."""
    return any(solutions.is_solution(one) for one in material.documents.values()) and not solutions.is_sol(material)


def read(material: Material, given: Given) -> Imported:
    """The one solution of the material.

    Raises:
        BadInput: none or several solutions or definitions, or one that is malformed.
    """
    return definition_claim.imported("flashinfer_bench", material, given, tolerance_of=_default)


def _default(_: Workload) -> Tolerance:
    return DEFAULT
