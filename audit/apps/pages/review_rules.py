"""The page `docs/review_rules.md`, made from the tables of rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from audit.review import rules
from audit.review.rule import Rule

_HEAD = """# Rules of source review

`audit review FILE...` asks these rules about CUDA C++ and Python sources without building or running anything. CUDA in
string constants of a Python file is read too. A rule points at lines; it fails no kernel. The last column names the
probe that can confirm it on a device.

A *hint* goes into the record of every audit as `review.<rule>`, launch geometry as `launch_geometry`. *Advice* is about
care that a sound kernel may do without under the conditions it was measured in; `audit review` tells it, and the record
tells it of the claimed kernel. Rules about rounding keep quiet about variants that declare a lower precision than fp32.

This page is printed by `python -m audit.apps.pages`.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_table("CUDA C++", rules.CUDA), *_table("Python", rules.PYTHON)])


def _table(title: str, listed: Iterable[Rule[Any]]) -> list[str]:
    rows = [
        f"| `{rule.name}` | {rule.question} | {rule.silent_on} | {rule.standing} | `{rule.confirm_with}` |"
        for rule in listed
    ]
    head = ["| rule | asks | keeps quiet | standing | probe |", "|---|---|---|---|---|"]
    return [f"## {title}", "", *head, *(row.replace("||", "\\|\\|") for row in rows), ""]
