"""A page a verdict: what it says and does not, the rules that give it, and published records that have it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from audit.judge import RULES
from audit.model import VerdictName, store
from audit.pages.texts import VerdictText, read

_PAGE = """# `{name}`
{says}

It does not say: {silent}

## When it is given
{rules}

## If it is about your kernel
{author}

The [FAQ for authors](../faq_for_authors.md) says how to reply, how to run the audit again and how to have it corrected.

## If you have read such a report
{reader}

## Published records with this verdict
{records}

All verdicts, and the grades they rest on: [docs/verdicts.md](../verdicts.md). This page is made by
`python -m audit.pages`.
"""


def pages(reports: Path) -> dict[str, str]:
    """Every page by the name of its verdict; the records are those below `reports`."""
    known = {path: store.read(path) for path in sorted(reports.glob("*/*/record.json"))}
    found: dict[str, list[str]] = {}
    for path, record in known.items():
        place = path.parent.relative_to(reports.parent).as_posix()
        line = f"- [{record.claim.statement.title}](../../{place}/report.md), on {record.device.name}"
        found.setdefault(record.verdict.name, []).append(line)
    texts = read("verdicts", VerdictText, sorted(get_args(VerdictName)))
    return {
        name: _PAGE.format(
            name=name,
            rules=_rules(name),
            records="\n".join(found.get(name, ["None yet."])),
            **text.model_dump(),
        )
        for name, text in texts.items()
    }


def _rules(name: str) -> str:
    """The judge's rules that can give it, with their place in the order they are tried."""
    lines = [
        f"- Rule {place} of {len(RULES)}, *{rule.name}*: {rule.when}."
        for place, rule in enumerate(RULES, 1)
        if name in rule.verdicts
    ]
    return "\n".join(lines) or "No rule gives it."
