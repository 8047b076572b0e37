"""The findings about HEAD as SARIF 2.1.0: one rule a probe or source rule, one result a failure, with file and line."""

from __future__ import annotations

import json
from typing import Any

from audit import __version__
from audit.apps.pr.against import SLOWER, Against
from audit.model import Finding, Record, sanitizer
from audit.report import evidence
from audit.report.evidence import against_claim

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ABOUT = "https://github.com/kernel-claim-audit/kernel-claim-audit"
RULE_SLOWER = "slower_than_base"


def text(record: Record, versus: Against, *, file: str, lines: bool) -> str:
    """Return the whole document.

    Args:
        record: judged.
        versus: HEAD against BASE.
        file: the kernel, as the repository names it.
        lines: whether lines of findings are lines of that file; a finding without one stands at line 1.
    """
    failed = [one for one in evidence.of_claim(record) if one.outcome == "fail"]
    found = [(one.probe, _level(record, one), one.summary, one.line if lines else None) for one in failed]
    if versus.state == SLOWER:
        found.append((RULE_SLOWER, "error", versus.sentence, None))
    names = list(dict.fromkeys(probe for probe, *_ in found))
    results = [
        {
            "ruleId": probe,
            "ruleIndex": names.index(probe),
            "level": level,
            "message": {"text": sanitizer.line(said)},
            "locations": [_location(file, line or 1)],
        }
        for probe, level, said, line in found
    ]
    driver = {"name": "kernel-claim-audit", "version": __version__, "informationUri": ABOUT,
              "rules": [_rule(name) for name in names]}  # fmt: skip
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _level(record: Record, finding: Finding) -> str:
    """Return "error" for what fails the kernel, "warning" for a failure outside the claim and "note" for a hint."""
    if finding.grade == "hint":
        return "note"
    return "error" if against_claim(record, finding) else "warning"


def _rule(name: str) -> dict[str, Any]:
    return {"id": name, "shortDescription": {"text": str(evidence.title(name)).replace("_", " ")}}


def _location(file: str, line: int) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": line}}}
