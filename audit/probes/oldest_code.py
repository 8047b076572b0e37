"""Is the code for the oldest GPU a file says it runs on right at the same shapes as the code for this GPU?

Asked where a newer GPU is at hand: the driver compiles the older code, as PTX, for it. That answers for branches by
`__CUDA_ARCH__` and for the compiler; not for the older GPU's limits (shared memory, registers) nor for its time. A
difference fails no kernel, since a published kernel need not say which GPUs it is for.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from audit.model import Finding
from audit.probes import agreement
from audit.probes.answer import answer
from audit.probes.called import Call, SessionBroken, value_calls
from audit.probes.target import Target

NAME = "oldest_code"


def run(own: Target, oldest: Target, *, found: Iterable[Finding]) -> Finding:
    """Compares the bytes of both builds' outputs on memory filled with NaN, and what differs with the oracle's.

    Args:
        own: the build for this GPU.
        oldest: the same source for the variant's least compute capability.
        found: what the probes found of the build for this GPU.
    """
    code = f"the code for compute capability {_told(own.variant.compute_capability)}"
    try:
        right, ours = agreement.right_at(own.cases, found), _outputs(own)
    except SessionBroken as error:
        return answer(NAME, own, "skip", f"the code for this GPU gives nothing to compare with ({error})")
    try:
        theirs = _outputs(oldest)
    except SessionBroken as error:
        return answer(NAME, own, "fail", f"{code} does not run as that for this GPU does: {error}", grade="hint")
    same = [one.same_bits(other) for one, other in zip(ours, theirs, strict=True)]
    also = [
        good if equal else oldest.compared(call, case).right
        for good, equal, call, case in zip(right, same, theirs, oldest.cases, strict=True)
    ]
    evidence: dict[str, JsonValue] = {
        "compute_capability": own.variant.compute_capability,
        "right": {case.label: good for case, good in zip(own.cases, also, strict=True)},
        "same_bytes_at": sum(same),
    }
    shapes = f"{len(own.cases)} shapes"
    if right != also:
        differ = [case.label for case, one, other in zip(own.cases, right, also, strict=True) if one != other]
        text = (
            f"{code} is right at {sum(also)} of {shapes}, that for this GPU at {sum(right)}: {', '.join(differ)} differ"
        )
        return answer(NAME, own, "fail", text, grade="hint", evidence=evidence)
    text = f"{code}, compiled here by the driver, is right at {sum(also)} of {shapes}, as that for this GPU is"
    return answer(NAME, own, "pass", f"{text}; the same bytes at {sum(same)}", evidence=evidence)


def without(own: Target, why: str) -> Finding:
    """The finding where there is no such code to ask."""
    return answer(NAME, own, "skip", f"no code for compute capability {_told(own.variant.compute_capability)}: {why}")


def _told(compute_capability: int) -> str:
    return f"{compute_capability // 10}.{compute_capability % 10}"


def _outputs(target: Target) -> list[Call]:
    calls = target.calls(target.cases, target.plain)
    value_calls(calls, [case.expected for case in target.cases])
    return calls
