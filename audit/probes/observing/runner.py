"""Ask probes, and confirm findings that would fail a kernel. Here alone does any exception become a finding."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache

from audit.model import Finding
from audit.model.errors import AuditError, Unsupported
from audit.probes import NEEDS, OF_THE_CLAIM, PROBES, agreement, claimed_blocks, claimed_launches, contract
from audit.probes.concluding import answer
from audit.probes.concluding.answer import not_concluded
from audit.probes.observing import battery, launched_alike, own_reference
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target

AT_ONCE = 3
"""Probes asked at once where most share one process: those that need fresh processes run in parallel."""
UNCONFIRMED = {"confirmed": False}


def ask_all(
    target: Target, *, second: Callable[[], Target] | None = None, only: Collection[str] | None = None
) -> Iterator[Finding]:
    """Yield the findings of every probe, or only those, about one target, in order; see `ask`.

    Cases whose call raised, out of memory for instance, and useless cases that the claim does not name are reported by
    `contract` and left out of further probes. If no call returned (a crash, a time-out), no other probe is asked: each
    would wait for the same end. Where no shape is of use, the claimed one's launches and blocks are asked for alone.
    """
    if (alike := launched_alike.scoped(target)) is not target:
        target, second = alike, _with_cases(second, alike.cases)
    _ask_ahead(target, NEEDS if target.merges_modes else [agreement.NAME])
    first = ask(contract.NAME, target, second=second)
    yield first
    others = [probe for probe in PROBES if probe != contract.NAME]
    others += OF_THE_CLAIM if target.variant.role == "claimed" else ()
    others = [probe for probe in others if only is None or probe in only]
    answered, refuses = first.evidence.get("answered"), "takes" in first.evidence
    if first.outcome == "error" or refuses or (answered is not None and first.outcome != "fail"):
        if not isinstance(answered, list) or not answered:
            outcome = "error" if first.outcome == "error" else "skip"
            why = f"not asked, since contract {'failed' if refuses else 'has no answer'}: {first.summary}"
            target, second = replace(target, cases=()), _with_cases(second, ())
            for probe in others:
                if probe in (claimed_launches.NAME, claimed_blocks.NAME) and first.outcome == "skip":
                    yield ask(probe, target, second=second)
                else:
                    yield _unanswered(probe, target.variant.name, outcome, why)
            return
        cases = tuple(case for index, case in enumerate(target.cases) if index in answered)
        target, second = replace(target, cases=cases), _with_cases(second, cases)
    if agreement.NAME in others:  # a reader's first question, and its calls are made already
        others.remove(agreement.NAME)
        found = ask(agreement.NAME, target, second=second)
        if found.outcome == "fail" and found.grade != "hint" and claimed_blocks.NAME in others:
            others.remove(claimed_blocks.NAME)
            yield (blocks := ask(claimed_blocks.NAME, target, second=second))
            if (other := launched_alike.decided_by(target, blocks, found)) is not None:
                target, second = other, _with_cases(second, other.cases)
                found = ask(agreement.NAME, target, second=second)
        yield found
    if not target.merges_modes:
        _ask_ahead(target, NEEDS)
    with suppress(AuditError):  # each probe that needs one of those calls reports why there is none
        if only is None:
            battery.ask_together(target)
    with ThreadPoolExecutor(AT_ONCE if target.shared else 1) as threads:
        yield from threads.map(lambda probe: ask(probe, target, second=second), others)


def ask(probe: str, target: Target, *, second: Callable[[], Target] | None = None) -> Finding:
    """Return the finding of one probe about one target. A failure counts only if the task's own reference does not
    fail, and so does undefined behaviour that wrong values show.

    `second` returns the same variant built at another optimisation level; a proved failure must show there too. Where
    that build shows undefined behaviour, its finding counts; else it is the device's fault and becomes an error.
    """
    started = time.monotonic()
    finding = _asked(probe, target.variant.name, lambda: target)
    if finding.fails_kernel or (finding.grade == "undefined" and finding.claimed and _wrong_values(finding)):
        finding = against_reference(finding, target)
    if finding.fails_kernel and second is not None:
        finding = _confirmed(finding, _asked(probe, target.variant.name, second))
    return finding.model_copy(update={"seconds": round(time.monotonic() - started, 3)})


def _wrong_values(finding: Finding) -> bool:
    """Return whether a failure rests on elements that differ from the right result, so that the tolerance matters."""
    parts = [finding.evidence, *finding.evidence.values()]
    return any(isinstance(part, dict) and bool(part.get("elements_wrong")) for part in parts)


def against_reference(finding: Finding, target: Target, *, probe: str | None = None) -> Finding:
    """Return a failure of a kernel, as an error where the task's own reference fails the same probe, or `probe` where
    the finding's own cannot be asked of it."""
    question = probe or own_reference.ASKED_INSTEAD.get(finding.probe, finding.probe)
    if question in own_reference.NOT_ASKED:
        return finding
    own = target.references.answer(question, target, lambda reference: _of_reference(question, reference))
    return finding if own_reference.stands(own) else not_concluded(finding, own_reference.why_not(own))


def seen_again(again: Finding, *, by: Iterable[Finding]) -> Finding:
    """Return a finding of a second build; a proved failure is marked with whether the first build proved it too."""
    if not again.fails_kernel:
        return again
    return again.model_copy(update={"confirmed": any(one.probe == again.probe and one.fails_kernel for one in by)})


def unconfirmed(finding: Finding) -> Finding:
    """Return a finding of a first build without a published build: a failure of the kernel becomes an error."""
    why = "the published build that had to confirm it does not exist"
    return not_concluded(finding, why).model_copy(update=UNCONFIRMED) if finding.fails_kernel else finding


def _with_cases(second: Callable[[], Target] | None, cases: tuple[Case, ...]) -> Callable[[], Target] | None:
    """Return what makes the second build, once, with those cases."""
    return None if second is None else cache(lambda: replace(second(), cases=cases))


def _ask_ahead(target: Target, probes: Iterable[str]) -> None:
    """Make the plain calls that those probes need; a probe reports why one is missing."""
    with suppress(AuditError):
        target.ask_ahead(need for probe in probes for need in NEEDS[probe](target))


def _asked(probe: str, variant: str, asking: Callable[[], Target]) -> Finding:
    try:
        target = asking()
        if probe in NEEDS:
            _ask_ahead(target, [probe])
        return answer.ask(PROBES.get(probe) or OF_THE_CLAIM[probe], target)
    except Unsupported as error:
        outcome, summary = "skip", str(error)
    except AuditError as error:
        outcome, summary = "error", str(error)
    except Exception as error:
        outcome, summary = "error", f"the probe itself failed: {type(error).__name__}: {error}"
    return _unanswered(probe, variant, outcome, summary)


def _of_reference(probe: str, reference: Target) -> Finding:
    own = _asked(probe, own_reference.NAME, lambda: reference)
    return own if own_reference.stands(own) else own_reference.with_key(own, reference)


def _unanswered(probe: str, variant: str, outcome: str, summary: str) -> Finding:
    return Finding.model_validate({"probe": probe, "target": variant, "outcome": outcome, "summary": summary})


def _confirmed(first: Finding, again: Finding) -> Finding:
    if again.fails_kernel:
        return first.model_copy(update={"confirmed": True})
    if again.grade == "undefined" and again.claimed:
        return again
    why = f"not seen in a second build ({again.outcome}: {again.summary})"
    return not_concluded(first, why).model_copy(update=UNCONFIRMED)
