"""Does Triton's compiler take every kernel that the host code launches at the claimed shape, where none is compiled?

The emulated device interprets kernels, which takes some that the compiler refuses. Triton's front end needs no GPU. It
is asked about the claimed kernel alone, for the GPU that the claim names or a newer one. A refusal that another version
of Triton, another GPU or this machine may explain does not count.
"""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any

from audit.build.notes import refused_finding
from audit.build.second_compiler import NEWEST, Refusal
from audit.build.settings import EmulatedPythonSettings
from audit.model import Finding
from audit.model.errors import AuditError
from audit.probes.concluding.own_kernels import own_kernels
from audit.probes.observing import claimed_shape
from audit.probes.observing.called import Mode
from audit.probes.observing.target import Target

OTHERWISE = re.compile(
    r"has\sno\sattribute|no\smodule|unexpected\skeyword|positional\sargument|not\ssupported\sin\sthis|"
    r"fp8|AttributeError|ImportError|NotImplementedError|deprecated|not\simplemented|internal",
    re.IGNORECASE,
)
"""Refusals that a version of Triton, a GPU or a limit of its front end explains."""
NOWHERE = re.compile(
    r"module 'triton\.language' has no attribute '(?:tanh|pow|round|isnan|mean|sign|relu|gelu)'(?! from partially)|"
    r"module 'triton\.language\.math' has no attribute 'recip'|"
    r"\bclamp\(\) missing 1 required positional argument: '(?:min|max)'"
)
"""Functions of torch that `triton.language` lacks in 2.1, 3.0 and 3.7; `recip`, which its `math` lacks in 3.7 and two
earlier sources of 3.x; and `clamp`, which takes both bounds since it is there. No version explains a refusal."""


def counts(message: str) -> bool:
    """Return whether a refusal of the front end is one of the kernel, whatever the version of Triton and the GPU."""
    return NOWHERE.search(message) is not None or OTHERWISE.search(message) is None


def finding(target: Target) -> Finding | None:
    """Return the finding of a claimed kernel that Triton refuses; None where it does not, or that is unknown."""
    settings = target.built.settings(**Mode()._asdict())
    if target.variant.role != "claimed" or not (isinstance(settings, EmulatedPythonSettings) and settings.triton):
        return None
    own = own_kernels(target.reference.parent / target.variant.file)
    newest = max(NEWEST, settings.configuration.compute_capability)
    for one in _refusals(target, newest):
        if one["kernel"] in own and counts(one["message"]):
            place = f"{target.variant.file}({one['line']})" if one["line"] else target.variant.file
            log = f"{place}: error: {one['message']} ({one['kernel']})"
            compiler = Refusal(f"Triton {metadata.version('triton')}", log)
            return refused_finding(target.variant.name, log, compiler, line=one["line"])
    return None


def _refusals(target: Target, compute_capability: int) -> list[dict[str, Any]]:
    """Return the reports at the claimed shape or, where its memory cannot be had, at the largest asked."""
    found: list[dict[str, Any]] = []
    for shape in (target.claim.shapes.claimed, target.largest.shape):
        try:
            found, raised = claimed_shape.compiled(target, shape, compute_capability=compute_capability)
        except AuditError:
            continue
        if found or raised is None or not claimed_shape.NO_MEMORY.search(raised):
            break
    return found
