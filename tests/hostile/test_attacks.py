"""Every attack through a real audit: how it ends, that nothing is lost, and that nobody after it notices."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from audit import judge
from audit.model import Finding, Record
from audit.review import reach
from tests.hostile import leftovers
from tests.hostile.conftest import ROOT, SECRET, Stage
from tests.hostile.header import Attack, Outcome, attacks

FIRST, OF = (int(number) for number in os.environ.get("PART", "1/1").split("/"))
ATTACKS = attacks()[FIRST - 1 :: OF]
"""All attacks, or every OF-th from the FIRST on, where PART says so."""
SEEN = ROOT / "out/hostile"
KNOWN_GOOD = "known_good"
LET_THROUGH = "let through"
"""What an attack raises that found no limit."""
LATE = {
    "limit_s": re.compile(r"did not finish within (\d+) s"),
    "compile_limit_s": re.compile(r"not ended after (\d+) s"),
}
"""The words of an outcome that says which limit ended the attack, and after how many seconds."""
MOST_CHARACTERS = 500_000


@pytest.mark.hostile
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack(stage: Stage, attack: Attack) -> None:
    if stage.device not in attack.outcomes:
        pytest.skip(f"{attack.name} is not asked on {stage.device}")
    want = attack.outcomes[stage.device]
    claim = stage.claim(attack, attack.name)
    places = stage.guarded()
    before = leftovers.look(places, stage.judge.pid)
    started = time.monotonic()
    timed = attack.claims is not None and stage.device == "cuda"
    record = stage.audit(claim, **patience(want), published=want.probe == "build" or timed, timed=timed)
    seconds = time.monotonic() - started
    assert leftovers.differences(before, places, stage.judge.pid) == []
    check_outcome(record, want, attack.name, timed=timed)
    check_whole(record)
    check_text(claim / "out/record.json")
    keep(attack, stage.device, record, seconds)
    stage.attacked(attack.name)


def patience(want: Outcome) -> dict[str, float]:
    """The limits of a session and of a compiler that an attack which ends by them alone has for itself."""
    found = {name: words.search(want.words) for name, words in LATE.items()}
    return {name: float(match[1]) for name, match in found.items() if match}


def check_outcome(record: Record, want: Outcome, name: str, *, timed: bool) -> None:
    """The attack ends as its header says, accused of nothing but that, and its neighbour is unaffected.

    One on times may return right values: a time of it that is contradicted confirms no ratio.
    """
    states = {rung.role: rung.state for rung in judge.ladder(record.claim.statement, _read(record, want))}
    assert states["repair"] == "passed", against(record, KNOWN_GOOD)
    about, result = [one for one in record.findings if one.target == name], against(record, name)
    assert not [one for one in result if LET_THROUGH in one]
    assert timed or (states["claimed"] == "passed") == (want.probe is None), result
    assert want.outcome == "fail" or not [one for one in about if one.fails_kernel], result
    if want.probe is not None:
        (finding,) = [one for one in about if one.probe == want.probe]
        assert (finding.outcome, want.words in finding.summary) == (want.outcome, True), finding.summary
    others = ("overstated", "weak baseline") if timed else ()
    assert record.verdict.name in ("undecided", "wrong", "mistimed", "no defect found", *others)


def _read(record: Record, want: Outcome) -> list[Finding]:
    """The findings, without that of the source's constructs where the attack is to come to nothing by itself."""
    return [one for one in record.findings if want.probe == reach.NAME or one.probe != reach.NAME]


def against(record: Record, name: str) -> list[str]:
    """What does not speak for that variant."""
    about = [one for one in record.findings if one.target == name and one.outcome not in ("pass", "skip")]
    return [f"{one.probe} {one.outcome}: {one.summary}" for one in about]


def check_whole(record: Record) -> None:
    """The audit went through to the verdict, and each variant was built and asked, or it is said why not."""
    assert {one.probe for one in record.findings if one.target == KNOWN_GOOD} >= {"build", "contract", "agreement"}
    assert record.environment.stages
    assert record.ladder


def check_text(path: Path) -> None:
    """The record holds no word of what is secret, and not more of claimed code's words than anybody reads."""
    text = path.read_text(encoding="utf-8")
    assert SECRET not in text
    assert len(text) < MOST_CHARACTERS


def keep(attack: Attack, device: str, record: Record, seconds: float) -> None:
    """What was seen, for `tests.hostile.table`."""
    SEEN.mkdir(parents=True, exist_ok=True)
    machine = record.device.name if device == "cuda" else record.environment.machine
    row = {"attack": attack.name, "device": device, "machine": machine, "seconds": round(seconds, 1)}
    row["seen"] = _seen(record, attack, device)
    (SEEN / f"{device}-{attack.name}.json").write_text(json.dumps(row) + "\n", encoding="utf-8")


def _seen(record: Record, attack: Attack, device: str) -> str:
    probe = attack.outcomes[device].probe
    found: list[Finding] = [one for one in record.findings if (one.target, one.probe) == (attack.name, probe)]
    blocked = any((one.target, one.probe) == (attack.name, reach.NAME) for one in record.findings)
    cleared = f"cleared but for `{reach.NAME}`" if blocked else "passed"
    return found[0].summary if found else f"{cleared}; verdict {record.verdict.name}"
