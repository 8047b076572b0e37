"""Do the fast build and the published build of one source return the same bytes and the same answers?

Not asked of every variant: the pipeline asks it where both builds exist. A difference fails no kernel, since it may be
the fast build's: the published one is what counts.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.called import Call, SessionBroken
from audit.probes.target import Target

NAME = "builds_agree"


def run(fast: Target, published: Target, *, found: Iterable[Finding], again: Iterable[Finding]) -> Finding:
    """Compares outputs on memory filled with NaN at every case, and the outcomes of all probes.

    Args:
        fast: the first build.
        published: the second, of the same source and cases.
        found: what the probes found of the first.
        again: what they found of the second.
    """
    outcomes = {finding.probe: _outcome(finding) for finding in found}
    other = {finding.probe: _outcome(finding) for finding in again}
    changed = sorted(name for name in outcomes.keys() & other.keys() if outcomes[name] != other[name])
    answered = [name for name in changed if "skip" not in (outcomes[name], other[name])]
    bytes_told, differing = _bytes(fast, published)
    evidence: dict[str, JsonValue] = {
        "outputs": bytes_told,
        "outcomes_changed": [f"{name}: {outcomes[name]}, then {other[name]}" for name in changed],
    }
    if not answered and not differing:
        text = f"{bytes_told}; {len(outcomes.keys() & other.keys())} probes asked of both, none decided otherwise"
        return answer(NAME, published, "pass", text, evidence=evidence)
    told = [f"{name} was {outcomes[name]} and is {other[name]}" for name in answered]
    text = f"the fast and the published build differ: {'; '.join([bytes_told, *told])}; the published build counts"
    return answer(NAME, published, "fail", text, grade="hint", evidence=evidence)


def _bytes(fast: Target, published: Target) -> tuple[str, bool]:
    """What the outputs' bytes tell, and whether they differ for another reason than chance."""
    try:
        ours, theirs = _outputs(fast), _outputs(published)
    except SessionBroken as error:
        return f"outputs not compared ({error})", False
    differing = _differing(ours, theirs)
    if not differing:
        return f"the same bytes at {len(ours)} shapes", False
    if _differing(theirs, _outputs(published)):
        return "outputs differ, as two runs of the published build do", False
    return f"outputs differ at {', '.join(fast.cases[k].label for k in differing)}", True


def _outputs(target: Target) -> list[Call]:
    calls = target.calls(target.cases, target.plain)
    raised = next((call.raised for call in calls if call.raised is not None), None)
    if raised is not None or any("shape" not in call.event for call in calls):
        raise SessionBroken(f"a call raised {raised}" if raised else "a call returned no tensor")
    return calls


def _differing(ours: list[Call], theirs: list[Call]) -> list[int]:
    return [k for k, (one, other) in enumerate(zip(ours, theirs, strict=True)) if not one.same_bits(other)]


def _outcome(finding: Finding) -> str:
    return f"{finding.outcome} ({finding.grade})" if finding.grade else finding.outcome
