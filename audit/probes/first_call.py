"""Does the first call launch kernels that later ones leave out?

A hint: tables and workspaces may be set up once, but the work of the task must not be.
"""

from __future__ import annotations

from collections import Counter

from audit.model.errors import Unsupported
from audit.probes.concluding.answer import Answer, Observed, failed, passed
from audit.probes.observing.battery import at_middle
from audit.probes.observing.called import Call, SessionBroken
from audit.probes.observing.target import Target
from audit.probes.observing.variations import OTHER
from audit.probes.order import claim_first_session

NAME = "first_call"

OURS = ("ablation", "no_op", "repair")
"""Roles asked on the emulated device only: on a GPU they share a process."""


def observe(target: Target) -> Observed:
    """Compare the launches of the first call of a process and of a later one."""
    first, later = _calls(target)
    for call in (first, later):
        if call.raised is not None:
            raise SessionBroken(f"the call raised {call.raised}")
    was, now = (Counter(launch["kernel"] for launch in call.launches) for call in (first, later))
    missing = [name[:80] for name in sorted(was - now)[:3]]
    counts = {"launches_first": was.total(), "launches_later": now.total()}
    return {**counts, **({"left_out": missing} if missing else {})}


def conclude(seen: Observed) -> Answer:
    """Fail if one kernel is left out."""
    text = f"kernels launched by the first call: {seen['launches_first']}, by a later one: {seen['launches_later']}"
    missing = ", ".join(seen.get("left_out", ()))
    return failed(f"{text}; left out: {missing}", "hint") if "left_out" in seen else passed(text)


def _calls(target: Target) -> tuple[Call, Call]:
    if target.built.tensor_device == "cpu":  # the emulated device lists launches in every session
        asked = at_middle(target)
        return asked["first"].call, asked[OTHER].call
    if target.variant.role in OURS:
        raise Unsupported(
            "the first call of the kit's own variants: the emulated device tells it without a new process"
        )
    first, *_, later = claim_first_session(target)
    return first, later
