"""What the notebooks install in Colab fits what is there: nothing of Colab's own is moved, and the kit runs on it."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.conftest import some

ROOT = Path(__file__).resolve().parents[2]
LISTS = sorted((Path(__file__).parent / "colab").glob("*.toml"))
FROZEN = {"torch", "numpy", "pandas", "ipykernel", "ipython", "ipywidgets"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def installed_by_the_notebooks() -> list[Requirement]:
    lines = (ROOT / "notebooks" / "requirements-colab.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def colab(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def there(runtime: dict[str, Any]) -> dict[str, str]:
    return {**runtime["packages"], **runtime["jupyter"]}


def needed(requirements: list[Requirement], runtime: dict[str, Any]) -> list[Requirement]:
    """Those and all that they need there, followed through what the runtime does not have."""
    environment = {"python_version": ".".join(runtime["python"].split(".")[:2]), "extra": ""}
    waiting, found = list(requirements), []
    while waiting:
        one = waiting.pop()
        if one.marker is not None and not one.marker.evaluate(environment):
            continue
        found.append(one)
        name = canonicalize_name(one.name)
        if name not in there(runtime) and name not in runtime["unrecorded"]:
            waiting += needs(name)
    return found


def needs(name: str) -> list[Requirement]:
    """What a package needs; ninja needs nothing, and a machine without a GPU may lack it."""
    try:
        return [Requirement(text) for text in metadata.requires(name) or []]
    except metadata.PackageNotFoundError:
        assert name == "ninja"
        return []


@pytest.fixture(params=LISTS, ids=[path.stem for path in LISTS])
def runtime(request: pytest.FixtureRequest) -> dict[str, Any]:
    return colab(request.param)


def test_the_lists_are_the_current_and_the_previous_runtime() -> None:
    assert [colab(path)["release"] for path in LISTS] == ["2026.07", "2026.08"]


def test_only_what_colab_lacks_is_installed(runtime: dict[str, Any]) -> None:
    assert {canonicalize_name(one.name) for one in installed_by_the_notebooks()} <= set(runtime["absent"])


def test_nothing_of_colabs_own_is_moved(runtime: dict[str, Any]) -> None:
    own = {canonicalize_name(one.name) for one in installed_by_the_notebooks()}
    assert not own & FROZEN
    for one in needed(installed_by_the_notebooks(), runtime):
        name = canonicalize_name(one.name)
        version = there(runtime).get(name)
        assert version is not None or name in own or name in runtime["unrecorded"], f"{name} would be new"
        assert version is None or one.specifier.contains(version, prereleases=True), f"{one} would move {version}"


def test_the_kit_runs_on_what_is_there_then(runtime: dict[str, Any]) -> None:
    assert SpecifierSet(PROJECT["requires-python"]).contains(runtime["python"])
    wanted = PROJECT["dependencies"]
    own = {canonicalize_name(one.name): one for one in installed_by_the_notebooks()}
    for one in map(Requirement, wanted):
        name = canonicalize_name(one.name)
        if name in own:
            assert own[name].specifier == one.specifier, "requirements-colab.txt and pyproject.toml differ"
        elif name not in runtime["unrecorded"]:
            assert one.specifier.contains(there(runtime)[name], prereleases=True), one


def test_the_notebook_extra_takes_colabs_jupyter(runtime: dict[str, Any]) -> None:
    for one in some(map(Requirement, PROJECT["optional-dependencies"]["notebook"])):
        version = there(runtime).get(canonicalize_name(one.name))
        assert version is None or one.specifier.contains(version), one
