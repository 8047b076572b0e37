"""Is the kernel right with each configuration that `triton.autotune` may choose?

Without a GPU nothing is timed, so every other question is asked with the first configuration. Here one call is made
with each of the others, or with some of them where they take too long. A call that raises is no failure: Triton may
leave that configuration out. A wrong result leaves the verdict open: which configuration a GPU chooses is not known.
There is no control for this question, and no other variant is asked.
"""

from __future__ import annotations

from typing import Any

from audit.build.settings import TUNED
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed, skipped
from audit.probes.concluding.compare import sentence
from audit.probes.kernels_ran import traced
from audit.probes.observing.called import Call, Mode, value_calls
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target

NAME = "configurations"
MOST, MOST_S = 48, 20.0
"""The most configurations asked, and the seconds that their calls may take by the time of a plain call."""
CHOSEN = "triton.autotune chose among its configurations on this GPU"
FIRST_WRONG = "wrong with the first configuration of triton.autotune"
TRIALS = 2
"""Calls with each: Triton tries one before it takes it."""


def observe(target: Target) -> Observed:
    """Compare one call at the largest case with each configuration but the first."""
    case = target.largest
    plain = target.call(case, traced(target))
    several = [one for one in plain.event.get("tuned", ()) if one["of"] > 1]
    count = max((one["of"] for one in several), default=0)
    seen: Observed = {"shape": dict(case.shape), "of": count}
    if not several or plain.raised is not None:
        return seen | {"of": 0}
    if target.built.tensor_device == "cuda":
        return seen | {"none_because": CHOSEN}
    if _result(target, plain, case)["result"] != "right":
        return seen | {"none_because": FIRST_WRONG}
    fitting = int(MOST_S / TRIALS / max(plain.event["seconds"], 1e-3))
    asked = _spread(count, most=max(1, min(MOST, fitting)))
    modes = [Mode(target.built.nan_memory, f"{TUNED} {number}") for number in asked]
    steps = [{"run": "claim", "case": 0, "mode": place} for place in range(len(modes))]
    calls = target.steps(steps, cases=[case], mode=modes[0], more_modes=modes[1:])
    return seen | {"asked": [_result(target, call, case) for call in calls]}


def conclude(seen: Observed) -> Answer:
    """Fail, as a hint, where one is wrong."""
    if not seen["of"]:
        return passed("no function of the source runs with one of several configurations of triton.autotune")
    if "none_because" in seen:
        return skipped(f"not asked: {seen['none_because']}")
    asked = seen["asked"]
    wrong, raised = ([one for one in asked if one["result"] == result] for result in ("wrong", "raised"))
    count = len(asked) - len(raised)
    more = [f"{len(raised)} more raise an exception"] if raised else []
    more += [f"{left} more were not asked"] if (left := seen["of"] - 1 - len(asked)) else []
    if not wrong:
        text = f"right with each of {count} further configurations that triton.autotune may choose"
        return passed("; ".join([text, *more]))
    text = f"{label(seen['shape'])}: wrong with {len(wrong)} of {count} further configurations that triton.autotune "
    text += f"may choose; with {wrong[0]['configuration']}: {wrong[0]['why']}"
    return failed("; ".join([text, *more]), "hint", shape=seen["shape"])


def asked_all(seen: Observed) -> bool:
    """Return whether a call was made with every configuration."""
    asked = seen.get("asked")
    return isinstance(asked, list) and len(asked) + 1 == seen.get("of")


def _result(target: Target, call: Call, case: Case) -> dict[str, Any]:
    """Return the configuration of a call as the autotuners describe it, and its result."""
    tuned = [one for one in call.event.get("tuned", ()) if one["of"] > 1]
    named = {"configuration": "; ".join(f"{one['kernel']}: {one['configuration']}" for one in tuned)}
    if call.raised is not None:
        return named | {"result": "raised", "why": call.raised}
    value_calls([call], [case.expected])
    compared = target.compared(call, case)
    if compared.right:
        return named | {"result": "right"}
    return named | {"result": "wrong", "why": sentence(compared.evidence())}


def _spread(count: int, *, most: int) -> list[int]:
    """Return the numbers of at most that many configurations behind the first, at equal distances."""
    left = count - 1
    return list(range(1, count)) if left <= most else [1 + place * left // most for place in range(most)]
