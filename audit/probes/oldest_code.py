"""Is the code for the oldest GPU a file says it runs on right at the same shapes as the code for this GPU?

Asked where a newer GPU is at hand: the driver compiles the older code, as PTX, for it. That answers for branches by
`__CUDA_ARCH__` and for the compiler; not for the older GPU's limits (shared memory, registers) nor for its time. A
difference fails no kernel, since a published kernel need not say which GPUs it is for.
"""

from __future__ import annotations

from collections.abc import Iterable

from audit.model import Finding
from audit.probes import agreement
from audit.probes.concluding.answer import Answer, Observed, failed, finding, passed, skipped
from audit.probes.observing.called import Call, SessionBroken, value_calls
from audit.probes.observing.target import Target

NAME = "oldest_code"


def run(own: Target, oldest: Target, *, found: Iterable[Finding]) -> Finding:
    """Compare the bytes of both builds' outputs on memory filled with NaN, and differing outputs with the oracle;
    `found` are the findings about the build for this GPU."""
    seen: Observed = {"compute_capability": own.variant.compute_capability}
    try:
        right, ours = agreement.right_at(own.cases, found), _outputs(own)
    except SessionBroken as error:
        return finding(NAME, own.variant.name, seen | {"not_compared": str(error)}, conclude)
    try:
        theirs = _outputs(oldest)
    except SessionBroken as error:
        return finding(NAME, own.variant.name, seen | {"does_not_run": str(error)}, conclude)
    same = [one.same_bits(other) for one, other in zip(ours, theirs, strict=True)]
    also = [
        good if equal else oldest.compared(call, case).right
        for good, equal, call, case in zip(right, same, theirs, oldest.cases, strict=True)
    ]
    labels = [case.label for case in own.cases]
    seen |= {"right": dict(zip(labels, also, strict=True)), "right_here": dict(zip(labels, right, strict=True))}
    return finding(NAME, own.variant.name, seen | {"same_bytes_at": sum(same)}, conclude)


def without(own: Target, why: str) -> Finding:
    """Return the finding where there is no such code."""
    seen = {"compute_capability": own.variant.compute_capability, "none_because": why}
    return finding(NAME, own.variant.name, seen, conclude)


def conclude(seen: Observed) -> Answer:
    """Pass where both are right at the same shapes."""
    capability = _described(seen["compute_capability"])
    if "none_because" in seen:
        return skipped(f"no code for compute capability {capability}: {seen['none_because']}")
    if "not_compared" in seen:
        return skipped(f"the code for this GPU gives nothing to compare with ({seen['not_compared']})")
    code = f"the code for compute capability {capability}"
    if "does_not_run" in seen:
        return failed(f"{code} does not run as that for this GPU does: {seen['does_not_run']}", "hint")
    also, right, shapes = seen["right"], seen["right_here"], f"{len(seen['right'])} shapes"
    if differ := [where for where in also if also[where] != right[where]]:
        there = f"is right at {sum(also.values())} of {shapes}, that for this GPU at {sum(right.values())}"
        return failed(f"{code} {there}: {', '.join(differ)} differ", "hint")
    text = f"{code}, compiled here by the driver, is right at {sum(also.values())} of {shapes}, as that for this GPU is"
    return passed(f"{text}; the same bytes at {seen['same_bytes_at']}")


def _described(compute_capability: int) -> str:
    return f"{compute_capability // 10}.{compute_capability % 10}"


def _outputs(target: Target) -> list[Call]:
    calls = target.calls(target.cases, target.plain)
    value_calls(calls, [case.expected for case in target.cases])
    return calls
