"""Do many calls of one process all give the right result, the last ones like the first?

How many is not known before the audit. Results that differ in their last bits, as sums in the order of arrival do, are
told and held against nobody; a result outside the tolerance is wrong.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding, Grade
from audit.probes.answer import answer
from audit.probes.battery import at_middle, premise, repeats
from audit.probes.target import Target
from audit.probes.undefined import undefined_beside

NAME = "repeat"
MECHANISMS = ("call counter that cheats after warm-up", "replay after some calls", "race", "nondeterminism")


def run(target: Target) -> Finding:
    """The same call 24 to 40 times, then one with other values."""
    asked = at_middle(target)
    if (skipped := premise(NAME, target, asked["first"])) is not None:
        return skipped
    repeated = asked["repeat"]
    case, differing = repeated.case, repeated.call.event.get("differing") or []
    times = repeats(case)
    checks = {"a repeated call": repeated.compared(target)}
    if (after := asked.get("other_values_after_repeat")) is not None:
        checks["a call with other values after them"] = after.compared(target)
    evidence: dict[str, JsonValue] = {
        "shape": dict(case.shape),
        "calls": times,
        "differing": list(differing),
        "shapes": [
            {"shape": dict(case.shape), "call": what, **comparison.evidence()} for what, comparison in checks.items()
        ],
    }
    wrong = [f"{what}: {comparison.sentence()}" for what, comparison in checks.items() if not comparison.right]
    if not wrong:
        bits = f"; {len(differing)} differ from the first in their last bits" if differing else ", bit for bit the same"
        return answer(NAME, target, "pass", f"{case.label}: {times} calls right{bits}", evidence=evidence)
    undefined = undefined_beside(target, case)
    grade: Grade = "undefined" if undefined else "proved"
    text = f"{case.label}: the first call is right, of {times} more {wrong[0]}"
    return answer(NAME, target, "fail", text, grade=grade, evidence=evidence)
