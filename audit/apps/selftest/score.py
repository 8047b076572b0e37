"""From the findings of an audit to one row a control, from the rows to the auditor's error rates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, sqrt

from audit import judge
from audit.apps.selftest.record import Answer, Result, Row, SelfTest
from audit.claims import ClaimFolder
from audit.judge import evidence
from audit.model import Claim, Finding, Variant
from audit.model.errors import BadInput
from audit.review import reach

_ONE_IN_TWENTY, _RESOLUTION = 0.05, 1e-6
AIMS = {"emulated": 0.90, "cuda": 0.95}
"""The least share of the known-bad controls that exist on a device which the probe made for them must catch."""
_COMMENT = re.compile(r"""^[\s/#*"']+""")
OPEN = "skipped"
"""A result of machines that cannot answer, for want of Triton for example; it is no difference."""


@dataclass(frozen=True)
class Rates:
    """Counts of controls by how the auditor answered about them.

    The mechanism of `known_bad` ones exists on the device; `proved` ones were failed by the probe made for them with
    proof, `flagged` ones with undefined behaviour or a hint, as is due to a race. Of
    `not_concluded` ones the source reaches the process that checks it. `hinted` ones of `known_good` passed
    and drew a hint.
    """

    known_bad: int
    proved: int
    flagged: int
    known_good: int
    passed: int
    falsely_failed: int
    not_concluded: int
    hinted: int

    @property
    def caught(self) -> int:
        """Known-bad controls that their probe failed, with whatever grade."""
        return self.proved + self.flagged


def row(place: str, folder: ClaimFolder, variant: Variant, *, findings: Iterable[Finding]) -> Row:
    """One control with its result, from the findings of its folder's audit; `place` is the folder below the root."""
    own = [finding for finding in findings if finding.target == variant.name]
    answers = {
        one.probe: Answer(outcome=one.outcome, grade=one.grade, summary="" if one.outcome == "pass" else one.summary)
        for one in own
    }
    bad = variant.role == "known_bad"
    result, reason = _of_known_bad(variant, own) if bad else _of_known_good(folder.claim, variant, own)
    return Row(
        folder=place,
        control=variant.name,
        sha256=folder.digest_of(variant),
        role="known_bad" if bad else "known_good",
        mechanism=mechanism(folder, variant),
        probe=variant.probe,
        result=result,
        reason=reason,
        answers=answers,
    )


def rates(rows: Sequence[Row]) -> Rates:
    """The counts over all rows; a skipped control counts nowhere."""
    asked = [one for one in rows if one.result != "skipped"]
    results = [one.result for one in asked]
    good = [one for one in asked if one.role == "known_good"]
    return Rates(
        known_bad=len(asked) - len(good),
        proved=results.count("proved"),
        flagged=results.count("flagged"),
        known_good=len(good),
        passed=results.count("passed"),
        falsely_failed=results.count("falsely failed"),
        not_concluded=results.count("not concluded"),
        hinted=sum(any(answer.grade == "hint" for answer in one.answers.values()) for one in good),
    )


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


def interval(number: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, 0 to 1, of Wilson (J. Am. Stat. Assoc. 22, 1927); of nothing it is all."""
    if of == 0:
        return 0.0, 1.0
    z, share = 1.96, number / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def shortfalls(record: SelfTest) -> list[str]:
    """Reasons why this machine's answers cannot be relied on, in sentences; empty where they can."""
    if not record.blessed:
        failed = [check for check in record.checks if not check.passed]
        what = "; ".join(f"{check.control} must come out {check.expected}, not {check.found}" for check in failed)
        return [f"this machine must not audit anything: {what}"]
    if record.unasked:
        return [f"cut before it asked {', '.join(record.unasked)}: the same command goes on"]
    known, aim = rates(record.rows), AIMS[record.device.kind]
    unclear = known.known_good - known.passed - known.falsely_failed - known.not_concluded
    reasons = []
    if known.falsely_failed:
        reasons.append(f"{known.falsely_failed} of {known.known_good} known-good controls falsely failed")
    if unclear:
        reasons.append(f"{unclear} of {known.known_good} known-good controls without an answer")
    blind = any(one.probe is None for one in record.rows if one.role == "known_bad")
    if not blind and not known.caught >= aim * known.known_bad:
        reasons.append(f"{known.caught} of {known.known_bad} known-bad controls caught, at least {aim:.0%} must be")
    return reasons


def differences(now: SelfTest, before: SelfTest, *, whole: bool = True) -> list[str]:
    """One sentence a control whose result or an answer about it changed, or that only one of the two asked; of a part
    of the controls, not `whole`, those that it left out are none.

    Raises:
        BadInput: the records are of different kinds of device.
    """
    if now.device.kind != before.device.kind:
        raise BadInput(f"--against: a record of the {before.device.kind} device, this one is {now.device.kind}")
    ours, theirs = ({row.place: row for row in one.rows} for one in (now, before))
    left = theirs.keys() - ours.keys() if whole else ()
    found = [f"{place}: {theirs[place].result} before, not asked now" for place in left]
    found += [f"{place}: {ours[place].result}, not asked before" for place in ours.keys() - theirs.keys()]
    for place in ours.keys() & theirs.keys():
        result, known = ours[place].result, theirs[place].result
        if OPEN in (result, known):
            continue
        if result != known:
            found.append(f"{place}: {known} before, {result} now {ours[place].reason}".rstrip())
        found += [f"{place}: {change}" for change in _changed(ours[place], theirs[place])]
    return sorted(found)


def _changed(now: Row, before: Row) -> list[str]:
    """The probes that both asked and that answered otherwise; a skip, for want of a tool for example, is no change.

    Of a known-bad control only its own probe: another failure may depend on the moment, of a late thread or a race.
    """
    asked = now.answers.keys() & before.answers.keys() & ({now.probe} if now.role == "known_bad" else {*now.answers})
    both = [(probe, now.answers[probe], before.answers[probe]) for probe in sorted(asked)]
    return [
        f"{probe} {known.outcome} before, {new.outcome} now: {new.summary}".rstrip(": ")
        for probe, new, known in both
        if (new.outcome, new.grade) != (known.outcome, known.grade) and "skip" not in (new.outcome, known.outcome)
    ]


def _of_known_bad(variant: Variant, findings: list[Finding]) -> tuple[Result, str]:
    build = _named(findings, evidence.BUILD)
    if build is not None and build.outcome != "pass":
        return ("skipped" if build.outcome == "skip" else "missed"), build.summary
    if variant.probe is None:
        return _by_any(findings)
    made_for = _named(findings, variant.probe)
    if made_for is None:
        return "missed", f"{variant.probe}: not asked"
    if made_for.outcome == "fail":
        return ("proved", "") if made_for.fails_kernel else ("flagged", f"{made_for.grade}: {made_for.summary}")
    return ("skipped" if made_for.outcome == "skip" else "missed"), made_for.summary


def _by_any(findings: list[Finding]) -> tuple[Result, str]:
    """Of a control that no probe was made for: its strongest failure."""
    failed = [finding for finding in findings if finding.outcome == "fail" and finding.claimed]
    if any(finding.fails_kernel for finding in failed):
        return "proved", ""
    if failed:
        worst = min(failed, key=lambda finding: finding.grade == "hint")
        return "flagged", f"{worst.grade}: {_text(worst)}"
    errors = [finding for finding in findings if finding.outcome == "error"]
    return "missed", _text(errors[0]) if errors else "no probe and no rule says anything"


def _of_known_good(claim: Claim, variant: Variant, findings: list[Finding]) -> tuple[Result, str]:
    build = _named(findings, evidence.BUILD)
    if build is not None and build.outcome == "skip":
        return "skipped", build.summary
    failures = [finding for finding in findings if finding.grade in ("proved", "undefined")]
    if failures:
        return "falsely failed", _text(failures[0])
    errors = [finding for finding in findings if finding.outcome == "error"]
    if errors:
        beyond = {finding.probe for finding in errors} == {reach.NAME}
        return "not concluded" if beyond else "no answer", _text(errors[0])
    (rung,) = (rung for rung in judge.ladder(claim, findings) if rung.variant == variant.name)
    return ("passed", "") if rung.state == "passed" else ("no answer", rung.reason)


def _named(findings: list[Finding], probe: str) -> Finding | None:
    return next((finding for finding in findings if finding.probe == probe), None)


def _text(finding: Finding) -> str:
    return f"{finding.probe}: {finding.summary}"


def mechanism(folder: ClaimFolder, variant: Variant) -> str:
    """The mechanism of a control, as the first line of its file says after its name."""
    lines = folder.source_of(variant).read_text(encoding="utf-8").splitlines()
    first = next((line for line in lines if line.strip()), "")
    text = _COMMENT.sub("", first).rstrip(" \"'")
    return text.removeprefix(f"{variant.name}:").strip()
