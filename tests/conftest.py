"""Which files run first; a finished record without running anything, small builders, and a disk that can be filled."""

from __future__ import annotations

import functools
import gc
import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from audit import claims, judge
from audit.model import Device, Environment, Finding, Record
from audit.run.processes.pool import Workers

Item = TypeVar("Item")
LONGEST_FIRST = (
    "batch/test_ray.py", "test_audit_emulated.py", "emulated/test_conformance.py", "emulated/test_build.py",
    "emulated/test_larger_operators.py",
    "importers/test_end_to_end.py", "notebook/test_runs.py", "test_smaller_shapes.py", "test_bad_kernels.py",
    "batch/test_run.py", "test_check.py", "test_repair.py", "selftest/test_run.py", "test_smaller_modules.py",
    "test_wheel.py", "run/test_pool.py", "test_backward.py", "test_reproduction.py", "probes/test_configurations.py",
    "test_audits.py", "probes/test_right_results.py", "test_scheduler.py", "pr/test_pr.py", "bundle/test_bundle.py",
    "probes/test_lessons.py", "notebook/test_setup.py", "report/test_linear_time.py", "emulated/test_features.py",
    "importers/test_fuzz.py", "importers/test_plain_function.py", "probes/test_own_reference.py",
    "pages/test_guides.py", "emulated/test_cub.py", "run/test_triton_open_lanes.py", "emulated/test_split.py",
    "test_famous_cases.py", "batch/test_screening.py", "test_interrupted.py", "pr/test_action.py",
    "emulated/test_accesses.py", "probes/test_unbound_launch.py", "importers/test_places.py",
    "importers/test_autograd.py", "judge/test_ladder.py", "emulated/test_ptx.py",
)  # fmt: skip
"""Files that keep a worker of pytest-xdist busy for long begin before the others, so that none is left over at the end
while another worker has nothing to do; `make test` has xdist keep this order."""


gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage from here on, among what comes from here on: all tests, and torch, were looked through often."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the files, and leave out those of whole audits that are not in this part: a file's tests share audits."""
    audits = sorted({item.path for item in items if item.get_closest_marker("audits")})
    others = {*audits} - {*part(audits)}
    config.hook.pytest_deselected(items=[item for item in items if item.path in others])
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST_FIRST)}
    left = [item for item in items if item.path not in others]
    items[:] = sorted(left, key=lambda item: places.get(item.path, len(places)))


def some(items: Iterable[Item]) -> list[Item]:
    """The items, of which there must be one at least: a loop of assertions over none holds nothing."""
    found = list(items)
    assert found
    return found


def part(items: Iterable[Item]) -> list[Item]:
    """The items; where PART is K/N, every N-th from the K-th on: CI asks a quarter of a long list with each commit."""
    first, of = map(int, os.environ.get("PART", "1/1").split("/"))
    return [*items][first - 1 :: of]


opened = functools.cache(judge.opened)
"""A published record, which never changes, judged once in a process."""


def finding(probe: str, outcome: str = "pass", *, target: str = "claimed", **more: Any) -> Finding:
    grade = more.pop("grade", "proved" if outcome == "fail" else None)
    fields = {"probe": probe, "target": target, "outcome": outcome, "grade": grade, "summary": f"{probe} {outcome}"}
    return Finding.model_validate(fields | more)


def order_finding(target: str, claim_first: bool, reference_first: bool) -> Finding:
    evidence = {"claim_first": {"right": claim_first}, "reference_first": {"right": reference_first}}
    outcome = "pass" if claim_first and reference_first else "fail"
    return finding("order", outcome, target=target, evidence=evidence)


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """What an audit of one device needs of processes: a pool of its own costs each the seconds of importing torch."""
    from audit.audit import places

    with Workers(places(2)) as pool:
        yield pool


@pytest.fixture
def record() -> Record:
    """The triangular claim on the emulated device before anything was found."""
    return Record(
        claim=claims.load("triangular_mm").audited,
        device=Device(kind="emulated", name="emulated device", compute_capability=75, note="no times"),
        environment=Environment(
            kit="0", started_utc="2026-11-21T00:00:00+00:00", machine="m", system="s", python="3.11", packages={}
        ),
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 60 MB of its own; only a user who may mount has one."""
    place = tmp_path / "small_disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=60m", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"nothing can be mounted here: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
