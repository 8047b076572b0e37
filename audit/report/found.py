"""What the probes found about a variant, in the line of the progress that ends its questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from audit.model import Finding
from audit.probes import contract

if TYPE_CHECKING:
    from audit.report.view import Tone


def mark(findings: Sequence[Finding]) -> tuple[str, Tone]:
    """Return the word of `outcome` that a terminal colours."""
    return ("failed:", "fails") if any(one.fails_kernel for one in findings) else ("passed", "holds")


def outcome(findings: Sequence[Finding]) -> str:
    """Say what the probes found about a variant, the failures that count first."""
    kinds = {
        "failed": [one for one in findings if one.fails_kernel],
        "undefined behaviour": [one for one in findings if one.grade == "undefined" and one.claimed],
        "no answer": [one for one in findings if one.outcome == "error" or _unasked(one)],
    }
    named = {one.probe for group in kinds.values() for one in group}
    kinds["only noted"] = [one for one in findings if one.outcome == "fail" and one.probe not in named]
    parts = [f"{kind}: {', '.join(one.probe for one in group)}" for kind, group in kinds.items() if group]
    passed = "passed every other probe" if parts else "passed every probe"
    return "; ".join([*parts] if named else [passed, *parts])


def _unasked(finding: Finding) -> bool:
    """Return whether no shape was there to ask at, so that no other probe has an answer either."""
    return finding.probe == contract.NAME and finding.outcome == "skip"
