"""The site of `docs/` builds without a warning, names every page, and no link of it leaves the site unresolved."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml

from audit.apps.pages import site

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
OPTIONS = re.compile(r"  # @param .*")
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def named(entries: Any) -> list[str]:
    """The pages of a navigation, in order."""
    if isinstance(entries, str):
        return [entries]
    values = entries.values() if isinstance(entries, dict) else entries
    return [page for one in values for page in named(one)]


def test_every_page_is_in_the_navigation_once() -> None:
    pages = [str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(named(CONFIG["nav"])) == sorted([*pages, *(f"notebooks/{path.stem}.md" for path in NOTEBOOKS)])
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
    assert 'href="notebooks/audit_claim/"' in page
    for path in NOTEBOOKS:
        page = (tmp_path / f"site/notebooks/{path.stem}/index.html").read_text(encoding="utf-8")
        pictures = re.findall(rf'<img alt="([^"]+)" src="\.\./({path.stem}_\d+_\d+\.png)"', page)
        assert len(pictures) == outputs(path).count("image/png")
        assert all(alt != "png" and (tmp_path / "site/notebooks" / name).is_file() for alt, name in pictures)
        assert "```" not in page and 'class="dataframe' not in page and "](<" not in page
    assert "<strong>Verdict: wrong.</strong>" in (tmp_path / "site/notebooks/audit_claim/index.html").read_text("utf-8")


def executed(path: Path) -> nbformat.NotebookNode:
    """A notebook as `bench/notebooks.py --publish` kept it."""
    return nbformat.read(ROOT / site.EXECUTED / path.name, as_version=4)


def outputs(path: Path) -> list[str]:
    """The kinds of data of every output of a notebook that ran."""
    found = [output for cell in executed(path).cells for output in cell.get("outputs", [])]
    return [kind for output in found for kind in output.get("data", {})]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_that_ran_is_the_one_that_is_there(path: Path) -> None:
    """Else run `bench/notebooks.py NAME --device emulated --publish` again."""
    ran = [cell for cell in executed(path).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in ran)
    assert not [output for cell in ran for output in cell.outputs if output.output_type == "error"]
    ours = [cell for cell in ran if "injected-parameters" not in cell.metadata.get("tags", [])]
    there = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert [OPTIONS.sub("", cell.source) for cell in ours] == [OPTIONS.sub("", cell.source) for cell in there]
    text = (ROOT / site.EXECUTED / path.name).read_text(encoding="utf-8")
    assert not re.search(r"/(?:tmp|home|root|work)/", text), "a path of the machine that ran it"
    assert outputs(path)


def test_the_output_is_not_committed() -> None:
    assert f"/{CONFIG['site_dir']}/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
