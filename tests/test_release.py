"""The date of a release: the newest in the changelog, and the one that a citation names."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from audit import __version__

ROOT = Path(__file__).resolve().parents[1]


def test_changelog_and_citation_name_this_version_and_one_date() -> None:
    newest = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert newest is not None
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert newest.groups() == (__version__, cited["date-released"].isoformat())
    assert cited["version"] == __version__
