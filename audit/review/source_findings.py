"""The hints of the source rules as findings of the record."""

from __future__ import annotations

from dataclasses import asdict

from audit.model import Finding
from audit.review.cuda_source import parse
from audit.review.launch_geometry import hints


def review_source(text: str, *, target: str) -> list[Finding]:
    """Ask the source rules about one variant; each answers with one finding. A hint convicts nobody.

    Args:
        text: the CUDA source.
        target: the name of the variant.
    """
    source = parse(text)
    found = hints(source)
    if found:
        return [
            Finding(
                probe="launch_geometry",
                target=target,
                outcome="fail",
                grade="hint",
                summary=found[0].message,
                line=found[0].line,
                evidence={"hints": [asdict(hint) for hint in found]},
            )
        ]
    if not source.launches:
        summary = "the source shows no kernel launch, so there is nothing to hold against its kernels"
        return [Finding(probe="launch_geometry", target=target, outcome="skip", summary=summary)]
    read = len(source.launches)
    summary = f"no launch is seen to miss an axis that its kernel indexes ({read} launch{'es' * (read > 1)} read)"
    return [Finding(probe="launch_geometry", target=target, outcome="pass", summary=summary)]
