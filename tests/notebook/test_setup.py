"""The setup cell as Colab runs it: clone and packages apart, each made again where it broke off."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from audit import __version__

pytestmark = pytest.mark.audits

ROOT = Path(__file__).resolve().parents[2]
AWAY = "Kit not fetched: is the network away? Run this cell again."
UNINSTALLED = "Packages not installed: see pip above. Run this cell again."
URL = "https://github.com/kernel-claim-audit/kernel-claim-audit"


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A repository with what the cell needs of the kit: its list of packages, none here, and its package."""
    place = tmp_path / "origin"
    (place / "notebooks").mkdir(parents=True)
    (place / "audit" / "apps" / "notebook").mkdir(parents=True)
    (place / "notebooks" / "requirements-colab.txt").touch()
    for folder in ("audit", "audit/apps", "audit/apps/notebook"):
        (place / folder / "__init__.py").touch()
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*author, "commit", "-qm", "kit")):
        subprocess.run(["git", *words], cwd=place, check=True)
    return place


def set_up(kit: Path, address: str) -> subprocess.CompletedProcess[str]:
    """Run the cell with another place and address, in an IPython that takes itself for Colab's."""
    cells = nbformat.read(ROOT / "notebooks" / "audit_claim.ipynb", as_version=4).cells
    (source,) = [cell.source for cell in cells if cell.get("id") == "setup"]
    assert source.count('"/content/kit"') == 1 and source.count(URL) == 1
    text = source.replace("/content/kit", str(kit)).replace(URL, address)
    file = kit.with_name("setup.ipy")
    file.write_text(text + "\nprint('imported from', notebook.__file__)\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", str(file)]
    told = {**environment, "COLAB_RELEASE_TAG": "x", "IPYTHONDIR": str(kit.with_name("ipython"))}
    return subprocess.run(command, env=told, capture_output=True, text=True, check=False, cwd=kit.parent, timeout=120)


def test_it_takes_the_tag_of_this_release_and_the_main_branch_while_there_is_none(tmp_path: Path, origin: Path) -> None:
    assert "imported from" in set_up(tmp_path / "untagged", str(origin)).stdout
    subprocess.run(["git", "tag", f"v{__version__}"], cwd=origin, check=True)
    (origin / "later").touch()
    subprocess.run(["git", "add", "."], cwd=origin, check=True)
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"], cwd=origin, check=True)
    assert "imported from" in set_up(tmp_path / "tagged", str(origin)).stdout
    assert not (tmp_path / "tagged" / "later").exists(), "what came after the tag"


def test_without_a_network_it_says_one_sentence_then_fetches_the_kit_once(tmp_path: Path, origin: Path) -> None:
    kit, part, away = tmp_path / "kit", tmp_path / "kit.part", str(tmp_path / "away")
    done = set_up(kit, away)
    assert AWAY in done.stdout + done.stderr and "imported" not in done.stdout
    (part / ".git").mkdir(parents=True)
    assert f"imported from {kit}" in set_up(kit, str(origin)).stdout
    assert not part.exists(), "a clone that broke off is made again"
    assert f"imported from {kit}" in set_up(kit, away).stdout, "nothing is fetched again"


def test_packages_that_could_not_be_installed_are_installed_the_next_time(tmp_path: Path, origin: Path) -> None:
    kit = tmp_path / "kit"
    (origin / "notebooks" / "requirements-colab.txt").write_text("no-such-file.whl\n", encoding="utf-8")
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "x"], cwd=origin, check=True)
    done = set_up(kit, str(origin))
    assert UNINSTALLED in done.stdout + done.stderr and kit.exists()
    (kit / "notebooks" / "requirements-colab.txt").write_text("", encoding="utf-8")
    assert f"imported from {kit}" in set_up(kit, str(tmp_path / "away")).stdout
