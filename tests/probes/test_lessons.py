"""Every lesson of a claim is right: all probes on the emulated device, at the claim's small shapes and at odd ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.build.emulated.device import EmulatedDevice
from audit.device_run import DeviceRun
from audit.model import Variant
from audit.run.processes.pool import Workers
from tests.conftest import part

pytestmark = pytest.mark.audits

CLAIM = claims.load("triangular_mm", lessons=True)
LESSONS = [one for one in CLAIM.claim.variant if one.role == "lesson"]
SIZES = (1, 33, 130, 255)


@pytest.fixture(scope="module")
def device_run(tmp_path_factory: pytest.TempPathFactory, workers: Workers) -> DeviceRun:
    shapes = CLAIM.claim.shapes.model_copy(update={"emulated": tuple({"N": size} for size in SIZES)})
    folder = CLAIM.stating(shapes=shapes)
    scratch: Path = tmp_path_factory.mktemp("lessons")
    device_run = DeviceRun(folder, EmulatedDevice(), workers=workers, scratch=scratch, keep=lambda _: None)
    device_run.device.prepare()
    device_run.make_cases(entropy=11)
    return device_run


def test_an_audit_asks_no_lesson() -> None:
    asked = claims.load("triangular_mm").claim
    assert [one for one in CLAIM.claim.variant if one not in LESSONS] == [*asked.variant]
    assert len(LESSONS) >= 11


@pytest.mark.parametrize("lesson", part(LESSONS), ids=lambda lesson: lesson.name)
def test_a_lesson_is_right(lesson: Variant, device_run: DeviceRun) -> None:
    build = device_run.build(lesson, device_run.device.levels.first)
    assert build.built is not None, build.note
    found = {one.probe: one for one in device_run.verify(lesson, build.built)}
    assert found["agreement"].outcome == found["coverage"].outcome == found["memory_access"].outcome == "pass"
    wrong = [f"{one.probe}: {one.summary}" for one in found.values() if one.fails_kernel or one.outcome == "error"]
    assert not wrong
