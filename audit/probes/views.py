"""A session that two probes read: inputs in other layouts, and inputs with a NaN or an infinity."""

from __future__ import annotations

from audit.probes.battery import Asked
from audit.probes.target import Step, Target
from audit.probes.variations import wanted

LAYOUTS = ("offset", "padded", "transposed")


def at_middle(target: Target) -> dict[str, Asked]:
    """`offset`, `padded`, `transposed`, and `nan` and `inf` where the task has real inputs; all in one process."""
    return target.once("views at the middle case", lambda: _at_middle(target))


def _at_middle(target: Target) -> dict[str, Asked]:
    varied = wanted(target).middle
    poisoned = varied.of("nonfinite")
    cases = [varied.case, *(one.case for one in poisoned)]
    plan: list[Step] = [{"run": "claim", "case": 0, "layout": layout} for layout in LAYOUTS]
    plan += [{"run": "claim", "case": 1 + k} for k in range(len(poisoned))]
    calls = target.steps(plan, cases=cases, memory=target.built.nan_memory)
    names = [*LAYOUTS, *(one.name for one in poisoned)]
    return {name: Asked(name, cases[step["case"]], call) for name, step, call in zip(names, plan, calls, strict=True)}
