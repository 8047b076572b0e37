"""From the findings of an audit to one row a control, from the rows to the auditor's error rates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb

from audit import judge
from audit.apps.selftest.controls import mechanism
from audit.apps.selftest.record import Answer, Result, Row, SelfTest
from audit.claims import ClaimFolder
from audit.judge import clearing
from audit.model import Claim, Finding, Variant

_ONE_IN_TWENTY, _RESOLUTION = 0.05, 1e-6
AIMS = {"emulated": 0.90, "cuda": 0.95}
"""The least share of the rogues that exist on a device which the probe made for them must catch."""


@dataclass(frozen=True)
class Rates:
    """How often the auditor was wrong; counts of controls.

    `existing` rogues have a mechanism that exists on the device; of these `convicted` were proved wrong by the probe
    made for them, and `flagged` failed it with a grade that convicts nobody, as is due to a race or a hint of the
    source. `hinted` honest kernels were cleared and drew a hint.
    """

    existing: int
    convicted: int
    flagged: int
    honest: int
    cleared: int
    accused: int
    hinted: int

    @property
    def caught(self) -> int:
        """Rogues that their probe failed, with whatever grade."""
        return self.convicted + self.flagged


def row(place: str, folder: ClaimFolder, variant: Variant, *, findings: Iterable[Finding]) -> Row:
    """What became of one control.

    Args:
        place: path of its folder below the root of the controls.
        folder: its folder.
        variant: the control.
        findings: all of its folder's audit on one device.
    """
    own = [finding for finding in findings if finding.target == variant.name]
    rogue = variant.role == "rogue"
    result, reason = _of_rogue(variant, own) if rogue else _of_honest(folder.claim, variant, own)
    return Row(
        folder=place,
        control=variant.name,
        sha256=next(source.sha256 for source in folder.audited.sources if source.file == variant.file),
        role="rogue" if rogue else "honest",
        mechanism=mechanism(folder, variant),
        probe=variant.probe,
        result=result,
        reason=reason,
        answers={finding.probe: _answer(finding) for finding in own},
    )


def rates(rows: Sequence[Row]) -> Rates:
    """The counts over all rows; what is skipped counts nowhere."""
    asked = [one for one in rows if one.result != "skipped"]
    results = [one.result for one in asked]
    honest = [one for one in asked if one.role == "honest"]
    return Rates(
        existing=len(asked) - len(honest),
        convicted=results.count("convicted"),
        flagged=results.count("flagged"),
        honest=len(honest),
        cleared=results.count("cleared"),
        accused=results.count("falsely accused"),
        hinted=sum(any(answer.grade == "hint" for answer in one.answers.values()) for one in honest),
    )


def shortfalls(record: SelfTest) -> list[str]:
    """Why this machine's answers cannot be relied on, in sentences; empty where they can."""
    if not record.blessed:
        failed = [check for check in record.checks if not check.passed]
        what = "; ".join(f"{check.control} must come out {check.expected}, not {check.found}" for check in failed)
        return [f"this machine must not audit anything: {what}"]
    known, aim = rates(record.rows), AIMS[record.device.kind]
    unclear = known.honest - known.cleared - known.accused
    told = []
    if known.accused:
        told.append(f"{known.accused} of {known.honest} honest kernels accused")
    if unclear:
        told.append(f"{unclear} of {known.honest} honest kernels without an answer")
    blind = any(one.probe is None for one in record.rows if one.role == "rogue")
    if not blind and not known.caught >= aim * known.existing:
        told.append(f"{known.caught} of {known.existing} rogues caught, at least {aim:.0%} must be")
    return told


def _of_rogue(variant: Variant, findings: list[Finding]) -> tuple[Result, str]:
    build = _named(findings, clearing.BUILD)
    if build is not None and build.outcome != "pass":
        return ("skipped" if build.outcome == "skip" else "missed"), build.summary
    if variant.probe is None:
        return _by_any(findings)
    made_for = _named(findings, variant.probe)
    if made_for is None:
        return "missed", f"{variant.probe}: not asked"
    if made_for.outcome == "fail":
        return ("convicted", "") if made_for.convicts else ("flagged", f"{made_for.grade}: {made_for.summary}")
    return ("skipped" if made_for.outcome == "skip" else "missed"), made_for.summary


def _by_any(findings: list[Finding]) -> tuple[Result, str]:
    """Of a control that no probe was made for: what the strongest failure says of it."""
    failed = [finding for finding in findings if finding.outcome == "fail" and finding.claimed]
    if any(finding.convicts for finding in failed):
        return "convicted", ""
    if failed:
        worst = min(failed, key=lambda finding: finding.grade == "hint")
        return "flagged", f"{worst.grade}: {_told(worst)}"
    errors = [finding for finding in findings if finding.outcome == "error"]
    return "missed", _told(errors[0]) if errors else "no probe and no rule says anything"


def upper_bound(events: int, trials: int) -> float:
    """The largest rate, 0 to 1, at which so few events in so many trials still happen one time in twenty.

    The one-sided 95 % bound of Clopper and Pearson (Biometrika 26, 1934): 0 of 47 gives 0.062.
    """
    if events >= trials:
        return 1.0
    low, high = 0.0, 1.0
    while high - low > _RESOLUTION:
        rate = (low + high) / 2
        chance = sum(comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(events + 1))
        low, high = (rate, high) if chance > _ONE_IN_TWENTY else (low, rate)
    return high


def _of_honest(claim: Claim, variant: Variant, findings: list[Finding]) -> tuple[Result, str]:
    build = _named(findings, clearing.BUILD)
    if build is not None and build.outcome == "skip":
        return "skipped", build.summary
    accusations = [finding for finding in findings if finding.grade in ("proved", "undefined")]
    if accusations:
        return "falsely accused", _told(accusations[0])
    errors = [finding for finding in findings if finding.outcome == "error"]
    if errors:
        return "no answer", _told(errors[0])
    (rung,) = (rung for rung in judge.ladder(claim, findings) if rung.variant == variant.name)
    return ("cleared", "") if rung.state == "cleared" else ("no answer", rung.reason)


def _named(findings: list[Finding], probe: str) -> Finding | None:
    return next((finding for finding in findings if finding.probe == probe), None)


def _told(finding: Finding) -> str:
    return f"{finding.probe}: {finding.summary}"


def _answer(finding: Finding) -> Answer:
    summary = "" if finding.outcome == "pass" else finding.summary
    return Answer(outcome=finding.outcome, grade=finding.grade, summary=summary)
