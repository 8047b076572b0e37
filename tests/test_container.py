"""The Containerfile installs what `environment.yml` lists, at the pinned versions, for a user who is not root."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
STEPS = [line.split(maxsplit=1) for line in TEXT.splitlines() if line and not line.startswith("#")]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA = {"pytorch": "torch", "python-xxhash": "xxhash"}
"""Names of conda-forge, and those of the Python packages."""
OF_THE_SYSTEM = {"gxx": "g++", "python": "python3-venv", "pip": "python3-venv"}


def installed() -> dict[str, Requirement]:
    (extras,) = re.findall(r"/src\[([\w,]+)\]", TEXT)
    groups = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][one] for one in extras.split(","))]
    return {found.name: found for group in groups for found in map(Requirement, group)}


def test_it_installs_what_the_environment_lists() -> None:
    listed = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    names = {re.split(r"[ <>=]", one)[0] for one in listed}
    assert len(names) > 10
    system = {name for name in names if name in OF_THE_SYSTEM}
    assert all(OF_THE_SYSTEM[name] in TEXT.split() for name in system)
    assert "cuda-nvcc" in names and re.search(r"^FROM \S+/nvidia/cuda:[\d.]+-devel-", TEXT, re.MULTILINE)
    assert {CONDA.get(name, name) for name in names - system - {"cuda-nvcc"}} <= set(installed())


def test_versions_are_those_of_the_constraints() -> None:
    assert "--constraint /src/constraints.txt" in TEXT
    pins = [
        Requirement(one) for one in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if "==" in one
    ]
    known = installed()
    shared = [pin for pin in pins if pin.name in known]
    assert {"torch"} <= {pin.name for pin in shared}
    for pin in shared:
        (exact,) = pin.specifier
        assert known[pin.name].specifier.contains(exact.version), pin.name


def test_it_runs_audit_as_a_user_who_is_not_root() -> None:
    last = dict(STEPS)
    assert last["ENTRYPOINT"] == '["audit"]'
    assert last["USER"] not in ("root", "0")
    assert f"useradd --create-home --shell /usr/sbin/nologin {last['USER']}" in TEXT
    order = [word for word, _ in STEPS]
    assert order.index("USER") > max(place for place, word in enumerate(order) if word in ("RUN", "COPY"))


def test_what_it_copies_is_there() -> None:
    copied = [name for word, rest in STEPS if word == "COPY" for name in rest.split()[:-1]]
    assert {"audit", "kernels", "notebooks", "setup.py"} <= set(copied)
    assert all((ROOT / name).exists() for name in copied)
