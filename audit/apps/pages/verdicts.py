"""The made part of docs/verdicts.md: the judge's rules, what each verdict says, and published records that have it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from audit.apps.pages.texts import VerdictText, read
from audit.judge import RULES, opened
from audit.model import VerdictName
from audit.report import markdown
from audit.report.view import Table

_SECTION = """### `{name}`
{says}

It does not say: {silent}

- **Given by:** {rules}
- **If it is about your kernel.** {author}
- **If you have read such a report.** {reader}
- **Published records:** {records}
"""


def part(reports: Path) -> str:
    """The rules and the verdicts, with the records below `reports` that have each."""
    known = {path.parent: opened(path) for path in sorted(reports.glob("*/*/record.json"))}
    found: dict[str, list[str]] = {}
    for folder, record in known.items():
        place = folder.relative_to(reports.parent).as_posix()
        line = f"[{record.claim.statement.name} on {record.device.name}](../{place}/report.md)"
        found.setdefault(record.verdict.name, []).append(line)
    sections = []
    for name, text in read("verdicts", VerdictText, get_args(VerdictName)).items():
        given = ", ".join(f"*{rule.name}*" for rule in RULES if name == rule.verdict) or "no rule"
        records = ", ".join(found.get(name, ["none yet"]))
        sections.append(_SECTION.format(name=name, rules=given, records=records, **text.model_dump()))
    return f"{rules()}\n" + "\n".join(sections)


def rules() -> str:
    """The table of the judge's rules, in the order they are tried."""
    rows = tuple((rule.name, rule.verdict, rule.when) for rule in RULES)
    return f"{markdown.table(Table('', ('Rule', 'Verdict', 'When'), rows))}\n"
