"""The site of `docs/` builds without a warning, names every page, and no link of it leaves the site unresolved."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from audit.apps.pages import site

ROOT = Path(__file__).resolve().parents[1]
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def named(entries: Any) -> list[str]:
    """The pages of a navigation, in order."""
    if isinstance(entries, str):
        return [entries]
    values = entries.values() if isinstance(entries, dict) else entries
    return [page for one in values for page in named(one)]


def test_every_page_is_in_the_navigation_once() -> None:
    pages = sorted(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md"))
    assert sorted(named(CONFIG["nav"])) == pages
    assert named(CONFIG["nav"])[0] == "index.md"


def test_it_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert f'src="{site.REPOSITORY}/raw/main/reports/triangular_mm/h100/figures/coverage.png"' in page
    assert f'href="{site.REPOSITORY}/blob/main/reports/triangular_mm/h100/report.md"' in page
    assert not re.search(r'(?:href|src)="[^"]*\.\./(?:reports|kernels|audit)/', page)


def test_the_output_is_not_committed() -> None:
    assert f"/{CONFIG['site_dir']}/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
