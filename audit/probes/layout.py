"""Are inputs that are views of the same values, transposed, padded or offset, read right or refused?

A wrong result without an error is a hint: a published kernel may be meant for contiguous inputs alone.
"""

from __future__ import annotations

from audit.probes.concluding.answer import Answer, Observed, failed, label, passed
from audit.probes.concluding.compare import sentence
from audit.probes.observing.battery import LAYOUTS, at_middle, premise, views
from audit.probes.observing.called import alike
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target

NAME = "layout"


def observe(target: Target) -> Observed:
    """Make one call a layout at the middle case."""
    if (skipped := premise(target, at_middle(target)["first"])) is not None:
        return skipped
    asked = [one for name, one in views(target).items() if name in LAYOUTS]
    found = [{"layout": one.what, **_seen(target, one)} for one in asked]
    return {"shape": dict(asked[0].case.shape), "layouts": found}


def _seen(target: Target, one: Asked) -> Observed:
    if one.call.raised:
        return {"refused": one.call.raised}
    shape, due = one.call.event["shape"], one.case.expected.shape
    if shape is not None and not alike(shape, due):  # values may decide the shape
        return {"right": False, "returned": shape, "due": list(due)}
    return one.compared(target).evidence()


def conclude(seen: Observed) -> Answer:
    """Pass where every layout is right or refused."""
    shape, taken = label(seen["shape"]), [one for one in seen["layouts"] if "refused" not in one]
    blind = next((one for one in taken if not one["right"]), None)
    if blind is not None:
        text = f"{blind['layout']} inputs: "
        if "returned" in blind:
            text += f"expected a tensor of shape {blind['due']}, got one of shape {blind['returned']}"
        else:
            text += sentence(blind)
        return failed(f"{shape}: no error, and a wrong result for {text}", "hint")
    refused = [one["layout"] for one in seen["layouts"] if "refused" in one]
    parts = [f"right for {', '.join(one['layout'] for one in taken)} inputs"] if taken else []
    parts += [f"refuses {', '.join(refused)} ones"] if refused else []
    return passed(f"{shape}: {'; '.join(parts)}")
