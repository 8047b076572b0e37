"""One name for one thing, the field's name: words that the kit once had for it do not come back."""

from __future__ import annotations

import re
from pathlib import Path

import audit

ROOT = Path(audit.__file__).parents[1]
INSTEAD = {
    "zygote": "fork server",
    "teller": "event writer",
    "strawman": "trivial candidate",
    "guise": "fake CUDA tensors",
    "enclose": "sandbox",
    "stranger": "untrusted",
    "inquiry": "scheduler",
    "ledger": "record writer",
    "accuses": "fails",
    "accused": "failed",
    "accuse": "fail",
    "rogue": "known-bad control",
    "rogues": "known-bad controls",
    "convicts": "fails",
    "convicted": "failed",
    "cleared": "passed",
    "exhibit": "unverified timing",
    "walls": "sandbox",
    "forged": "protocol violation",
}
PROSE = (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("bench/*.py"), *(ROOT / "audit").rglob("*.py"))
MADE = ("docs/hostile.md", "CHANGELOG.md")
"""Printed from the headers of the attacks, and history."""
OLDER = ("audit/model/old_words.py", "audit/apps/selftest/record.py")
"""Read records of older schemas, which have those words."""


def test_the_words_of_the_field() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word}: say {INSTEAD[word.lower()]}"
        for path in PROSE
        if path.relative_to(ROOT).as_posix() not in (*MADE, *OLDER)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for word in re.findall(rf"\b({'|'.join(INSTEAD)})\b", line, re.IGNORECASE)
    ]
    assert len(PROSE) > 100
    assert found == []
