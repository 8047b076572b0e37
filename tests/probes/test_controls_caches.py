"""A result kept from an earlier call is caught by any key on the emulated device; a key of all contents is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from audit import claims
from audit.build.emulated.device import EmulatedDevice
from audit.device_run import DeviceRun
from audit.model import Finding, Variant
from audit.probes.observing.runner import ask
from audit.run.processes.pool import Workers

pytestmark = pytest.mark.audits

FOLDER = claims.load("controls_caches")
VARIANTS = {variant.name: variant for variant in FOLDER.claim.variant}
KNOWN_BAD = [variant for variant in VARIANTS.values() if variant.role == "known_bad"]
ASKED = ("fresh_values", "repeat", "dead_inputs")
RIGHT = ("by_hash_good", "by_ends_good", "in_the_callers_dict_good")


@pytest.fixture(scope="module")
def device_run(tmp_path_factory: pytest.TempPathFactory, workers: Workers) -> Iterator[DeviceRun]:
    device = EmulatedDevice()
    device.prepare()
    scratch = tmp_path_factory.mktemp("caches")
    opened = DeviceRun(FOLDER, device, workers=workers, scratch=scratch, keep=lambda _: None)
    opened.make_cases(entropy=5)
    yield opened


def findings(device_run: DeviceRun, variant: Variant, probes: tuple[str, ...] = ASKED) -> dict[str, Finding]:
    build = device_run.build(variant, device_run.device.levels.first)
    assert build.built is not None, build.note.log
    target = device_run.target(variant, build.built)
    return {probe: ask(probe, target) for probe in probes}


def test_every_known_bad_control_has_a_twin_and_one_of_the_probes_about_later_calls() -> None:
    for bad in KNOWN_BAD:
        twin = VARIANTS[bad.name.replace("_bad", "_good")]
        assert (twin.role, twin.probe) == ("known_good", bad.probe)
        assert bad.probe in ASKED


@pytest.mark.parametrize("variant", KNOWN_BAD, ids=lambda variant: variant.name)
def test_a_kept_result_is_proved_wrong(device_run: DeviceRun, variant: Variant) -> None:
    assert variant.probe is not None
    finding = findings(device_run, variant, (variant.probe,))[variant.probe]
    assert (finding.outcome, finding.grade) == ("fail", "proved"), finding.summary


@pytest.mark.parametrize("name", RIGHT)
def test_what_looks_alike_and_computes_is_right(device_run: DeviceRun, name: str) -> None:
    found = findings(device_run, VARIANTS[name])
    assert {probe: one.outcome for probe, one in found.items()} == dict.fromkeys(ASKED, "pass")


def test_freed_memory_came_back_with_other_values(device_run: DeviceRun) -> None:
    """What `by_version` and `by_address` are asked with rests on an allocator that hands out freed blocks."""
    finding = findings(device_run, VARIANTS["by_hash_good"], ("fresh_values",))["fresh_values"]
    result = finding.evidence["shapes"]
    assert isinstance(result, list)
    changes = [one["change"] for one in result if isinstance(one, dict)]
    assert "other values in the memory of inputs that were freed" in changes
    assert "two elements exchanged at the same address" in changes


def test_something_left_in_the_callers_dict_is_a_hint(device_run: DeviceRun) -> None:
    finding = findings(device_run, VARIANTS["in_the_callers_dict_bad"], ("inputs_intact",))["inputs_intact"]
    assert (finding.outcome, finding.grade, finding.evidence["left_in"]) == ("fail", "hint", [1])
