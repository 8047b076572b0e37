"""Does the first call launch kernels that later ones leave out?

A hint: tables and workspaces may be set up once, but the work of the task must not be.
"""

from __future__ import annotations

from collections import Counter

from pydantic import JsonValue

from audit.model import Finding
from audit.model.errors import Unsupported
from audit.probes.answer import answer
from audit.probes.battery import at_middle
from audit.probes.called import Call, Mode, SessionBroken
from audit.probes.target import Target
from audit.probes.variations import OTHER, wanted

NAME = "first_call"
MECHANISMS = ("work moved to the first call", "work moved to import", "weights packed outside the timing")

OURS = ("ablation", "thief", "repair")
"""Roles asked on the emulated device only: a process of its own costs seconds on a GPU."""


def run(target: Target) -> Finding:
    """The launches of the first and of a later call with other values at the middle case."""
    first, later = target.once("launches at the middle case", lambda: _calls(target))
    for call in (first, later):
        if call.raised is not None:
            raise SessionBroken(f"the call raised {call.raised}")
    was, now = (Counter(launch["kernel"] for launch in call.launches) for call in (first, later))
    evidence: dict[str, JsonValue] = {"launches_first": was.total(), "launches_later": now.total()}
    if missing := was - now:
        text = f"the first call launches {was.total()} kernels, a later one {now.total()}; left out: {_some(missing)}"
        return answer(NAME, target, "fail", text, grade="hint", evidence=evidence)
    text = f"the first call launches {was.total()} kernels, a later one {now.total()}"
    return answer(NAME, target, "pass", text, evidence=evidence)


def _calls(target: Target) -> tuple[Call, Call]:
    if target.built.tensor_device == "cpu":  # lists its launches in every session
        asked = at_middle(target)
        return asked["first"].call, asked[OTHER].call
    if target.variant.role in OURS:
        raise Unsupported(
            "the first call of the kit's own variants: the emulated device tells it without a new process"
        )
    varied = wanted(target).middle
    cases = [varied.case, varied.of("other")[0].case]
    plan = [{"run": "claim", "case": place} for place in range(len(cases))]
    first, later = target.steps(plan, cases=cases, mode=Mode(target.built.traced_memory), fresh=True)
    return first, later


def _some(kernels: Counter[str]) -> str:
    return ", ".join(name[:80] for name in sorted(kernels)[:3])
