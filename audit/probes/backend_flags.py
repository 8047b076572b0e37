"""Does loading or calling the claim change settings of the process, such as TF32, that affect other code?

A hint: this audit times and compares in other processes. A benchmark that runs the baseline in the same process would
measure it under those settings.
"""

from __future__ import annotations

from audit.probes.concluding.answer import Answer, Observed, failed, passed
from audit.probes.observing.battery import at_middle
from audit.probes.observing.called import value_calls
from audit.probes.observing.target import Target

NAME = "backend_flags"


def observe(target: Target) -> Observed:
    """Compare the settings at the start of the process, after loading, and around every call."""
    asked = list(at_middle(target).values())
    value_calls([one.call for one in asked], [one.case.expected for one in asked])
    loading = list(asked[0].call.event["loaded"])
    calling = list(dict.fromkeys(name for one in asked for name in one.call.event["changed"]))
    seen: Observed = {"changed_by_loading": loading, "changed_by_calls": calling}
    return seen | ({"shape": dict(asked[0].case.shape)} if loading or calling else {})


def conclude(seen: Observed) -> Answer:
    """Report a change by loading first: it affects every call."""
    loading, calling = seen["changed_by_loading"], seen["changed_by_calls"]
    if not loading and not calling:
        return passed("no setting of the process changed")
    when = "loading" if loading else "a call"
    return failed(f"{when} changed {', '.join(loading or calling)}", "hint", anywhere=True)
