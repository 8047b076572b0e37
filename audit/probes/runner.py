"""Asks probes, and confirms what would convict: the only place where any exception becomes a finding."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from audit.errors import AuditError, Unsupported
from audit.model import Finding
from audit.probes import PROBES, contract
from audit.probes.target import Target

AT_ONCE = 3
"""Probes asked at once where most share one process: those that need fresh ones go on beside them."""


def ask_all(target: Target, *, second: Callable[[], Target] | None = None) -> Iterator[Finding]:
    """Every probe about one target, each finding as soon as it and those before it are there; see `ask`.

    Cases whose call raised, out of memory for instance, are told by `contract` and left out of further questions. If no
    call came back at all (a crash, a time-out), nothing else is asked: every probe would wait for the same end.
    """
    first = ask(contract.NAME, target, second=second)
    yield first
    others = [probe for probe in PROBES if probe != contract.NAME]
    if first.outcome == "error":
        answered = first.evidence.get("answered")
        if not isinstance(answered, list) or not answered:
            why = f"not asked, since contract has no answer: {first.summary}"
            yield from (_unanswered(probe, target.variant.name, "error", why) for probe in others)
            return
        cases = tuple(case for index, case in enumerate(target.cases) if index in answered)
        target, whole = replace(target, cases=cases), second
        second = None if whole is None else (lambda: replace(whole(), cases=cases))
    with ThreadPoolExecutor(AT_ONCE if target.shared else 1) as threads:
        yield from threads.map(lambda probe: ask(probe, target, second=second), others)


def ask(probe: str, target: Target, *, second: Callable[[], Target] | None = None) -> Finding:
    """The finding of one probe about one target.

    Args:
        probe: a name of `PROBES`.
        target: the build to ask about.
        second: gives the same variant built at another optimisation level; a proved failure must show there too,
            else it is the device's own fault and becomes an error.
    """
    started = time.monotonic()
    finding = _asked(probe, target.variant.name, lambda: target)
    if finding.convicts and second is not None:
        finding = _confirmed(finding, _asked(probe, target.variant.name, second))
    return finding.model_copy(update={"seconds": round(time.monotonic() - started, 3)})


def seen_again(again: Finding, *, by: Iterable[Finding]) -> Finding:
    """A finding of a second build; a failure that convicts is marked with whether the first build's convicted too."""
    if not again.convicts:
        return again
    return again.model_copy(update={"confirmed": any(one.probe == again.probe and one.convicts for one in by)})


def unconfirmed(findings: Iterable[Finding], *, why: str) -> list[Finding]:
    """Findings of a first build whose second does not exist: what would convict becomes an error."""
    return [_not_concluded(one, why) if one.convicts else one for one in findings]


def _asked(probe: str, variant: str, target: Callable[[], Target]) -> Finding:
    try:
        return PROBES[probe](target())
    except Unsupported as error:
        outcome, summary = "skip", str(error)
    except AuditError as error:
        outcome, summary = "error", str(error)
    except Exception as error:
        outcome, summary = "error", f"the probe itself failed: {type(error).__name__}: {error}"
    return _unanswered(probe, variant, outcome, summary)


def _unanswered(probe: str, variant: str, outcome: str, summary: str) -> Finding:
    return Finding.model_validate({"probe": probe, "target": variant, "outcome": outcome, "summary": summary})


def _confirmed(first: Finding, again: Finding) -> Finding:
    if again.convicts:
        return first.model_copy(update={"confirmed": True})
    return _not_concluded(first, f"not seen in a second build ({again.outcome}: {again.summary})")


def _not_concluded(finding: Finding, why: str) -> Finding:
    text = f"{finding.summary} - {why}; nothing is concluded"
    return finding.model_copy(update={"outcome": "error", "grade": None, "confirmed": False, "summary": text})
