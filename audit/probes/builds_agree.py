"""Do the fast build and the published build of one source return the same bytes and the same answers?

Asked where both builds exist. A difference fails no kernel, since the fast build may cause it; the published one
counts.
"""

from __future__ import annotations

from collections.abc import Iterable

from audit.model import Finding
from audit.probes.concluding.answer import Answer, Observed, failed, finding, passed
from audit.probes.observing.called import Call, SessionBroken
from audit.probes.observing.target import Target

NAME = "builds_agree"


def run(fast: Target, published: Target, *, found: Iterable[Finding], again: Iterable[Finding]) -> Finding:
    """Compare outputs on memory filled with NaN at every case, and the outcomes of all probes: those `found` about the
    fast build with those about the published one."""
    outcomes, other = (
        {one.probe: f"{one.outcome} ({one.grade})" if one.grade else one.outcome for one in each}
        for each in (found, again)
    )
    both = outcomes.keys() & other.keys()
    outputs, differing = _bytes(fast, published)
    seen: Observed = {
        "outputs": outputs,
        "differing": differing,
        "asked_of_both": len(both),
        "changed": {name: [outcomes[name], other[name]] for name in sorted(both) if outcomes[name] != other[name]},
    }
    return finding(NAME, published.variant.name, seen, conclude)


def conclude(seen: Observed) -> Answer:
    """Fail where bytes differ, or an answer that both builds gave."""
    answered = {name: both for name, both in seen["changed"].items() if "skip" not in both}
    if not answered and not seen["differing"]:
        return passed(f"{seen['outputs']}; {seen['asked_of_both']} probes asked of both, none decided otherwise")
    found = [seen["outputs"], *(f"{name} was {was} and is {now}" for name, (was, now) in answered.items())]
    return failed(f"the fast and the published build differ: {'; '.join(found)}; the published build counts", "hint")


def _bytes(fast: Target, published: Target) -> tuple[str, bool]:
    """Return a text about the outputs' bytes, and whether they differ for another reason than chance."""
    try:
        ours, theirs = _outputs(fast), _outputs(published)
    except SessionBroken as error:
        return f"outputs not compared ({error})", False
    differing = _differing(ours, theirs)
    if not differing:
        return f"the same bytes at every shape ({len(ours)})", False
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
