"""How each verdict that a finding settles is worded; which findings settle it, `audit.judge` decides."""

from __future__ import annotations

import re
from collections.abc import Sequence

from audit.model import Finding, Record, Verdict

DEAD_INPUTS = "dead_inputs"
NAMED = re.compile(r"input_(\d+)_(\w+)")
"""An input as `dead_inputs` names it in its evidence: its place and the parameter's name."""


def wrong(convictions: list[Finding], *, root_cause: str | None, strawmen: Sequence[Finding] = ()) -> Verdict:
    """Proved failures of the claimed kernel: it does not compute what it claims to; `strawmen` pass its task too."""
    probes = {finding.probe for finding in convictions}
    confirmed = all(finding.confirmed is not False for finding in convictions)
    high = len(probes) > 1 and confirmed
    return Verdict(
        name="wrong",
        reasons=tuple(f"{finding.probe}: {finding.summary}" for finding in (*convictions, *strawmen)),
        root_cause=root_cause or _unread(convictions),
        confidence="high" if high else "medium",
        confidence_reason=f"{len(probes)} independent probe{'s' * (len(probes) > 1)} failed"
        + (
            f", {'each ' * (len(probes) > 1)}also in a second build"
            if all(one.confirmed for one in convictions)
            else ""
        ),
        scope="the kernel as audited, on any GPU: a result that is wrong here is wrong everywhere; "
        "no speed of it is reported",
    )


def _unread(convictions: Sequence[Finding]) -> str | None:
    """Inputs that the result does not follow, as the cause where no ablation shows one."""
    dead = next((finding for finding in convictions if finding.probe == DEAD_INPUTS), None)
    told = dead.evidence.get("inputs") if dead else None
    inputs = [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []
    names = [NAMED.sub(r"input \1 (\2)", str(one["input"])) for one in inputs if one.get("right") is False]
    return f"The result does not follow {', '.join(names)}." if names else None


def vacuous(strawmen: list[Finding], elsewhere: Sequence[Finding] = ()) -> Verdict:
    """Kernels that compute nothing pass the task as well; `elsewhere` speaks for the claimed kernel beyond it."""
    return Verdict(
        name="vacuous",
        reasons=(
            *(finding.summary for finding in strawmen),
            *(f"the claimed kernel where it can tell: {finding.summary}" for finding in elsewhere),
        ),
        confidence="high",
        confidence_reason="a strawman passes the task at its own tolerance and shape",
        scope="the task as stated: passing it says nothing about any kernel",
    )


def not_its_own(record: Record, finding: Finding) -> Verdict:
    """A right result that none of the source's kernels produced."""
    return Verdict(
        name="overstated",
        reasons=(f"{finding.probe}: {finding.summary}",),
        confidence="medium",
        confidence_reason="the result is right, and none of the source's kernels produced it",
        scope=f"the shape of the finding, on {record.device.name}; a published time is that of the library",
    )


def void(found: Finding) -> Verdict:
    """Clocks or checks that claimed code replaced in its process."""
    return Verdict(
        name="mistimed",
        reasons=(f"{found.probe}: {found.summary}",),
        confidence="medium",
        confidence_reason="the result is right; clocks or checks of its process were not what they were before it ran",
        scope="whatever was timed or checked in one process with this code",
    )


def unseen(late: list[Finding], *, root_cause: str | None) -> Verdict:
    """Work that nothing on the caller's stream waits for."""
    return Verdict(
        name="mistimed",
        reasons=tuple(f"{finding.probe}: {finding.summary}" for finding in late),
        root_cause=root_cause,
        confidence="high" if len(late) > 1 else "medium",
        confidence_reason=f"{len(late)} independent probe{'s' * (len(late) > 1)} read the result behind the call and "
        "found it unfinished; it is right once the whole device has come to rest",
        scope="whatever was timed on the caller's stream, and whoever reads the result there without synchronising",
    )


def mistimed(record: Record, impossible: list[Finding]) -> Verdict:
    """Published times that the hardware they name does not allow."""
    gpus = ", ".join(finding.target for finding in impossible)
    return Verdict(
        name="mistimed",
        reasons=tuple(finding.summary for finding in impossible),
        confidence="medium",
        confidence_reason="the kernel passed every correctness probe; the published time is under a data-sheet floor",
        scope=f"the published times on {gpus}; nothing was timed on {record.device.name}",
    )
