"""The table of formats in docs/importers.md."""

from __future__ import annotations

from audit.claims.importers import IMPORTERS


def table() -> str:
    """A row a format: what it takes, and what even a complete source does not tell."""
    rows = [
        f"| `{name}` | {one.TAKES} | {', '.join(f'`{key}`' for key in one.LACKS)} |" for name, one in IMPORTERS.items()
    ]
    return "\n".join(["| `--format` | takes | always missing |", "|---|---|---|", *rows]) + "\n"
