"""Could a wrong value come from undefined behaviour that a GPU happens to hide? Then it is not proved."""

from __future__ import annotations

from audit.probes.called import Case
from audit.probes.target import Target

CHANGES_VALUES = ("exited-lane-read", "warp-mask", "barrier-divergence", "race-shared", "race-global")
"""Undefined behaviour whose outcome here is one of many: lanes that take no part, and accesses nothing orders."""
UNINITIALISED = "uninitialised-read"


def undefined_beside(target: Target, case: Case) -> str | None:
    """The first undefined behaviour of a checked call at that case that can change values; None if there is none.

    Never-initialised shared memory counts, since it holds NaN here and mostly old finite values on a GPU;
    never-initialised device memory does not, since the allocator hands out any contents.
    """
    if target.built.tensor_device == "cuda":
        return None  # what real hardware got wrong is wrong
    (call,) = target.session(["claim"], cases=[case], memory=target.built.nan_memory, check=True)
    for report in call.reports:
        shared = report["kind"] == UNINITIALISED and "shared" in report["message"]
        if report["kind"] in CHANGES_VALUES or shared:
            return f"{report['kind']}: {report['message']}"
    return None
