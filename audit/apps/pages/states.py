"""The table of states and exit codes in docs/batch.md."""

from __future__ import annotations

from audit.apps.batch.state import EXIT_CODES, MEANINGS, SEVERITY


def table() -> str:
    """Markdown, from best to worst."""
    rows = [f"| {state} | {EXIT_CODES[state]} | {MEANINGS[state]} |" for state in SEVERITY]
    return "\n".join(["| state | exit code | meaning |", "|---|---:|---|", *rows]) + "\n"
