"""docs/datasets.md names the rules and formats there are, and no others."""

from __future__ import annotations

from pathlib import Path

from audit.lint.datasets.formats import FORMATS
from audit.lint.datasets.rules import RULES

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")


def test_every_rule_stands_with_its_question() -> None:
    questions = {name: (rule.__doc__ or "").partition("\n\n")[0].split() for name, rule in RULES.items()}
    rows = [f"| `{name}` | {' '.join(words)} |" for name, words in questions.items()]
    assert "\n".join(rows) in TEXT


def test_every_format_stands_with_its_columns() -> None:
    rows = [f"| {one.name} | {', '.join(f'`{name}`' for name in one.needs)} |" for one in FORMATS.values()]
    assert "\n".join(rows) in TEXT
