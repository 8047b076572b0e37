"""Are inputs that are views of the same values, transposed, padded or offset, read right or refused?

Silently wrong is a hint: a published kernel may be meant for contiguous inputs, and its benchmark gives it no others.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.battery import LAYOUTS, Asked, at_middle, premise, views
from audit.probes.target import Target

NAME = "layout"
MECHANISMS = ("layout blindness", "wrong stride of an input")


def run(target: Target) -> Finding:
    """One call a layout at the middle case."""
    if (skipped := premise(NAME, target, at_middle(target)["first"])) is not None:
        return skipped
    asked = [one for name, one in views(target).items() if name in LAYOUTS]
    told: list[JsonValue] = []
    blind: list[str] = []
    refused: list[str] = []
    for one in asked:
        if one.call.raised:
            refused.append(one.what)
            told.append({"layout": one.what, "refused": one.call.raised})
            continue
        comparison = one.compared(target)
        told.append({"layout": one.what, **comparison.evidence()})
        if not comparison.right:
            blind.append(f"{one.what} inputs: {comparison.sentence()}")
    evidence: dict[str, JsonValue] = {"shape": dict(asked[0].case.shape), "layouts": told}
    label = asked[0].case.label
    if blind:
        text = f"{label}: no error, and a wrong result for {blind[0]}"
        return answer(NAME, target, "fail", text, grade="hint", evidence=evidence)
    return answer(NAME, target, "pass", f"{label}: {_sentence(asked, refused)}", evidence=evidence)


def _sentence(asked: list[Asked], refused: list[str]) -> str:
    right = [one.what for one in asked if one.what not in refused]
    parts = [f"right for {', '.join(right)} inputs"] if right else []
    return "; ".join([*parts, *([f"refuses {', '.join(refused)} ones"] if refused else [])])
