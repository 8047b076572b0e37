"""Does loading or calling the claim change settings of the process, such as TF32, that others compute under?

A hint: this audit times and compares in other processes. A benchmark that runs the baseline in the same process would
measure it under those settings.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.battery import at_middle
from audit.probes.called import value_calls
from audit.probes.target import Target

NAME = "backend_flags"
MECHANISMS = ("global backend flags", "TF32 asymmetry")


def run(target: Target) -> Finding:
    """The settings at the start of the process, after loading, and before and after every call."""
    asked = list(at_middle(target).values())
    value_calls([one.call for one in asked], [one.case.expected for one in asked])
    loading = list(asked[0].call.event["loaded"])
    calling = list(dict.fromkeys(name for one in asked for name in one.call.event["changed"]))
    evidence: dict[str, JsonValue] = {"changed_by_loading": list(loading), "changed_by_calls": list(calling)}
    if not loading and not calling:
        text = "no setting of the process changed"
        return answer(NAME, target, "pass", text, evidence=evidence)
    when = "loading" if loading else "a call"
    text = f"{when} changed {', '.join(loading or calling)}"
    return answer(NAME, target, "fail", text, grade="hint", evidence=evidence, shape=asked[0].case.shape, anywhere=True)
