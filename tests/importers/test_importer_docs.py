"""The page about importers says what the importers say of themselves."""

from __future__ import annotations

from pathlib import Path

from audit.claims.importers import IMPORTERS, entries
from audit.claims.importers import published as numbers

PAGE = (Path(__file__).parents[2] / "docs/importers.md").read_text(encoding="utf-8")


def test_formats_contracts_and_units_are_named() -> None:
    for name in (*IMPORTERS, *entries.CONTRACTS, *numbers.FACTORS):
        assert f"`{name}`" in PAGE, name
