"""Do a NaN and an infinity among the inputs reach the result where the reference's result has them, and only there?

A difference is a hint only: a kernel may skip products with zeros, and so lose a NaN times zero; in a sort a NaN has no
agreed position.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.model.errors import Unsupported
from audit.probes.concluding.answer import NOT_ASKED, UNREAD, Answer, Observed, failed, label, passed
from audit.probes.observing.battery import LAYOUTS, at_middle, premise, too_large, views
from audit.probes.observing.called import value_calls
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target
from audit.run.calls import correctness

NAME = "nonfinite"


def observe(target: Target) -> Observed:
    """Make two calls at the middle case, with one element of the first input, one that the result needs, replaced."""
    first = at_middle(target)["first"]
    if (skipped := premise(target, first) or too_large(NAME, target, first)) is not None:
        return skipped
    asked = [one for name, one in views(target).items() if name not in LAYOUTS]
    if not asked:
        raise Unsupported("a NaN among inputs that are all integers")
    if all(np.array_equal(one.case.expected, first.case.expected, equal_nan=True) for one in asked):
        return {"shape": dict(first.case.shape), NOT_ASKED: UNREAD}
    counts = {one.what: _counts(target, one) for one in asked if not one.call.raised}
    found = [{"value": name, **numbers, "right": not any(numbers.values())} for name, numbers in counts.items()]
    return {"shape": dict(first.case.shape), "inputs": found}


def conclude(seen: Observed) -> Answer:
    """Fail at the first value that differs."""
    shape, inputs = label(seen["shape"]), seen["inputs"]
    differs = next((one for one in inputs if not one["right"]), None)
    if differs is not None:
        return failed(f"{shape}: one {differs['value']} among the inputs: {_sentence(differs)}", "hint")
    both = " and ".join(one["value"] for one in inputs) or "neither"
    return passed(f"{shape}: {both} reach the result as in the reference")


def _counts(target: Target, one: Asked) -> dict[str, int]:
    """Count elements finite in both and `wrong`, finite here alone (`lost`), or in the reference alone (`more`)."""
    value_calls([one.call], [one.case.expected])
    got, want = one.call.values().reshape(one.case.expected.shape), one.case.expected
    here, there = np.isfinite(got), np.isfinite(want)
    both = here & there
    scale = correctness.rms(np.where(there, want, 0.0))
    right = correctness.right(got, want, relative=target.relative(one.case), scale=scale)
    return {
        "wrong": int(np.count_nonzero(both & ~right)),
        "lost": int(np.count_nonzero(here & ~there)),
        "more": int(np.count_nonzero(~here & there)),
    }


def _sentence(numbers: dict[str, Any]) -> str:
    words = {"lost": "finite here and not in the reference", "more": "not finite here", "wrong": "wrong"}
    return "elements " + ", ".join(f"{text}: {numbers[key]:,}" for key, text in words.items() if numbers[key])
