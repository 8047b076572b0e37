"""Do many calls of one process all give the right result, the last ones like the first?

How many is not known before the audit. In the second half their inputs' contents take turns at one address and much
memory is overwritten before each, as a timer does. Results that differ in their last bits, as sums in the order of
arrival do, are reported and fail no kernel; a result outside the tolerance is wrong. Contents that came out wrong
when they were first asked are left to `distributions`, which knows what rounding explains.
"""

from __future__ import annotations

from audit.probes.answer import Answer, Seen, beside, failed, label, passed
from audit.probes.battery import AFTER, REPEAT, Asked, at_middle, premise
from audit.probes.called import Case
from audit.probes.compare import sentence
from audit.probes.target import Target
from audit.probes.undefined import undefined_beside

NAME, DISTRIBUTIONS = "repeat", "distributions"
MECHANISMS = (
    "call counter that cheats after warm-up",
    "recognised timer",
    "replay after some calls",
    "race",
    "nondeterminism",
)


def observe(target: Target) -> Seen:
    """24 to 256 calls whose contents take turns, the last half as a timer has them, then one with each content."""
    asked = at_middle(target)
    if (skipped := premise(target, asked["first"])) is not None:
        return skipped
    repeated = asked[REPEAT]
    case, order = asked["first"].case, repeated.call.event.get("order") or []
    checks = {"a repeated call": repeated.compared(target)}
    left = {one.case.inputs for one in asked.values() if one.group == DISTRIBUTIONS and not _right(target, one)}
    for name, one in asked.items():
        if name.startswith((f"{REPEAT}_", AFTER)) and one.case.inputs not in left:
            checks[_words(name, one, case)] = one.compared(target)
    right = all(comparison.right for comparison in checks.values())
    return {
        "shape": dict(case.shape),
        "calls": len(order),
        "contents": len(set(order)),
        "differing": list(repeated.call.event.get("differing") or []),
        "shapes": [{"shape": dict(case.shape), "call": what, **one.evidence()} for what, one in checks.items()],
        **({} if right else {"undefined": undefined_beside(target, case)}),
    }


def conclude(seen: Seen) -> Answer:
    """The first call that is wrong though the very first was right."""
    place, calls, differing = label(seen["shape"]), seen["calls"], len(seen["differing"])
    wrong = next((one for one in seen["shapes"] if not one["right"]), None)
    if wrong is None:
        bits = f"; {differing} differ from the first in their last bits" if differing else ", bit for bit the same"
        return passed(f"{place}: {calls} calls right{bits}")
    text = f"{wrong['call']}: {sentence(wrong)}"
    return failed(f"{place}: the first call is right, of {calls} more {text}", beside(seen["undefined"]))


def _right(target: Target, one: Asked) -> bool:
    return one.call.raised is None and one.compared(target).right


def _words(name: str, one: Asked, case: Case) -> str:
    """What a call of the sequence, or one behind it, is called; each name once."""
    content = "the first" if one.case.inputs == case.inputs else "other"
    number = name.rpartition("_")[2]
    if name.startswith(AFTER):
        return f"a call with {content} values after them ({number})"
    return f"the first of them with {content} values ({number})"
