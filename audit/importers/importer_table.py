"""The table of docs/importers.md, made from the importers: `python -m audit.importers.importer_table`."""

from __future__ import annotations

from audit.importers import IMPORTERS

BEGIN, END = "<!-- printed by audit.importers.importer_table -->", "<!-- end of the printed table -->"


def markdown() -> str:
    """A row a format: what it takes, and what even a complete source does not tell."""
    rows = [
        f"| `{name}` | {one.TAKES} | {', '.join(f'`{key}`' for key in one.LACKS)} |" for name, one in IMPORTERS.items()
    ]
    return "\n".join([BEGIN, "| `--format` | takes | always missing |", "|---|---|---|", *rows, END])


if __name__ == "__main__":
    print(markdown())
