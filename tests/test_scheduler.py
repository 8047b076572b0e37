"""An audit whose device builds in two ways: what is asked first, what counts, and what is said where they differ."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from audit import claims
from audit.audit import Audit
from audit.build import second_compiler
from audit.build.device import BuiltVariant, Levels
from audit.build.emulated.device import EmulatedDevice
from audit.device_run import Build, DeviceRun, VariantResult, merge
from audit.model import BuildNote, Finding, Record, Variant
from audit.model.errors import CompileError, Unsupported
from audit.report.found import outcome
from audit.report.progress import Progress
from audit.run.processes.pool import Workers
from tests.conftest import finding

pytestmark = pytest.mark.audits

FOLDER = claims.load("triangular_mm")
NAMES = ("claimed", "fixed_grid2d")


@dataclass(frozen=True)
class TwoWays(EmulatedDevice):
    """The emulated device, with O2 as the fast build and O0 as the published one, which ends when it is released."""

    released: threading.Event = field(default_factory=threading.Event)

    @property
    def levels(self) -> Levels:
        return Levels(first="O2", published="O0")

    def build(self, source: Path, variant: Variant, *, optimisation: str) -> BuiltVariant:
        if optimisation == "O0":
            self.released.wait()
        return super().build(source, variant, optimisation=optimisation)


class OlderCode(TwoWays):
    """O0 stands for the code of an older GPU, which the no-op control does not have."""

    @property
    def levels(self) -> Levels:
        return Levels(first="O2", oldest="O0")

    def build(self, source: Path, variant: Variant, *, optimisation: str) -> BuiltVariant:
        if (variant.name, optimisation) == ("no_op", "O0"):
            raise Unsupported("no_op.cu")
        if (variant.name, optimisation) == ("fixed_grid2d", "O0"):
            source = source.with_name("no_op.cu")
        return super().build(source, variant, optimisation=optimisation)


class NothingPublished(TwoWays):
    def build(self, source: Path, variant: Variant, *, optimisation: str) -> BuiltVariant:
        if optimisation == "O0":
            self.released.wait()
            raise CompileError("claimed.cu:1: error: refused", header_set="published")
        return super().build(source, variant, optimisation=optimisation)


class NothingFast(TwoWays):
    def build(self, source: Path, variant: Variant, *, optimisation: str) -> BuiltVariant:
        if optimisation == "O2":
            raise Unsupported("any source")
        return super().build(source, variant, optimisation=optimisation)


def audited(device: TwoWays, out: Path, workers: Workers, *, names: tuple[str, ...] = NAMES) -> Record:
    with Audit(FOLDER.only(*names), device, out, entropy=3, workers=workers, progress=Progress(io.StringIO())) as audit:
        for stage in (audit.prepare, audit.build, audit.verify):
            stage()
        device.released.set()
        audit.confirm()
        audit.judge()
        return audit.record


def about(record: Record, target: str) -> dict[str, Finding]:
    return {one.probe: one for one in record.findings if one.target == target}


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, workers: Workers) -> tuple[Record, list[tuple[str, str]]]:
    """The record of an audit, and in order which variant was begun to be asked about, and which probe answered."""
    asked: list[tuple[str, str]] = []
    verify = DeviceRun.verify

    def listed(run: DeviceRun, variant: Variant, *rest: Any, **how: Any) -> Iterator[Finding]:
        asked.append((variant.name, "begun"))
        for one in verify(run, variant, *rest, **how):
            asked.append((variant.name, one.probe))
            yield one

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeviceRun, "verify", listed)
        return audited(TwoWays(), tmp_path_factory.mktemp("two"), workers), asked


@pytest.fixture(scope="module")
def record(watched: tuple[Record, list[tuple[str, str]]]) -> Record:
    return watched[0]


def test_the_published_build_is_what_counts_and_confirms_the_first(record: Record) -> None:
    claimed = about(record, "claimed")
    assert record.verdict.name == "wrong"
    assert claimed["coverage"].fails_kernel
    assert claimed["coverage"].confirmed
    assert [one.probe for one in record.findings if one.target == "claimed"].count("coverage") == 1


def test_no_other_variant_is_asked_before_the_claimed_kernel_answered_the_first_questions(
    watched: tuple[Record, list[tuple[str, str]]],
) -> None:
    asked = watched[1]
    begun = asked.index(("fixed_grid2d", "begun"))
    assert {probe for _, probe in asked[:begun]} >= {"agreement", "order", "coverage", "inherited"}


def test_both_builds_return_the_same_bytes(record: Record) -> None:
    agree = about(record, "claimed")["builds_agree"]
    assert agree.outcome == "pass"
    assert agree.summary.startswith("the same bytes at every shape (3)")
    assert agree.evidence["changed"] == {}


def test_only_the_claimed_kernel_is_built_as_published(record: Record) -> None:
    built = {(note.variant, note.optimisation) for note in record.environment.builds}
    assert built == {("claimed", "O2"), ("claimed", "O0"), ("fixed_grid2d", "O2")}
    assert "builds_agree" not in about(record, "fixed_grid2d")


def test_the_code_for_the_oldest_gpu_is_compared_and_fails_no_kernel(tmp_path: Path, workers: Workers) -> None:
    device = OlderCode()
    device.released.set()
    record = audited(device, tmp_path, workers, names=("claimed", "fixed_grid2d", "no_op"))
    older = {name: about(record, name)["oldest_code"] for name in ("claimed", "fixed_grid2d", "no_op")}
    assert {name: one.outcome for name, one in older.items()} == {
        "claimed": "pass", "fixed_grid2d": "fail", "no_op": "skip",
    }  # fmt: skip
    assert "right at 1 of 3 shapes, as that for this GPU is; the same bytes at 3" in older["claimed"].summary
    assert "is right at 0 of 3 shapes, that for this GPU at 3" in older["fixed_grid2d"].summary
    assert not any(one.fails_kernel for one in older.values())


def test_every_finding_names_its_device(record: Record) -> None:
    assert {one.device for one in record.findings} == {"emulated"}


@pytest.mark.parametrize("early", [True, False])
def test_a_published_build_that_fails_leaves_nothing_proved_and_keeps_what_was_seen(
    early: bool, tmp_path: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_compiler, "of_nvcc", lambda _, **__: None)
    device = NothingPublished()
    if early:
        device.released.set()
    record = audited(device, tmp_path, workers)
    claimed = about(record, "claimed")
    assert (claimed["coverage"].outcome, claimed["coverage"].confirmed) == ("error", False)
    assert "1 of 255 rows written" in claimed["coverage"].summary
    assert record.verdict.name == "undecided"
    assert any("refused" in text for text in record.verdict.missing)
    assert not any(one.fails_kernel for one in claimed.values())


def test_a_published_build_that_is_there_already_is_asked_at_once(tmp_path: Path, workers: Workers) -> None:
    device = TwoWays()
    device.released.set()
    record = audited(device, tmp_path, workers)
    claimed = about(record, "claimed")
    assert record.verdict.name == "wrong"
    assert claimed["builds_agree"].outcome == "pass"
    assert [one.probe for one in record.findings if one.target == "claimed"].count("coverage") == 1


def test_what_the_first_level_cannot_take_is_built_as_published(tmp_path: Path, workers: Workers) -> None:
    record = audited(NothingFast(), tmp_path, workers)
    assert record.verdict.name == "wrong"
    states = {rung.variant: rung.state for rung in record.ladder}
    assert states == {"claimed": "failed", "fixed_grid2d": "passed"}, record.ladder
    refused = [note for note in record.environment.builds if note.outcome == "not supported"]
    assert {note.variant for note in refused} == set(NAMES)


def result(*findings: Finding, built: bool = True) -> VariantResult:
    outcome = "built" if built else "does not compile"
    note = BuildNote.model_validate({
        "variant": "claimed", "optimisation": "O2", "outcome": outcome, "header_set": None, "compiler": None,
        "flags": (), "seconds": 1.0, "from_cache": False,
    })  # fmt: skip
    variant = FOLDER.claim.variant[0]
    return VariantResult(variant, Build(note, cast(BuiltVariant, object()) if built else None), findings)


def test_the_published_build_counts_and_says_what_the_fast_one_proved_too() -> None:
    proved, passed = finding("coverage", "fail"), finding("order", "pass")
    merged = merge(result(proved, passed), result(proved, finding("order", "fail")))
    assert [(one.probe, one.outcome, one.confirmed) for one in merged.findings] == [
        ("coverage", "fail", True), ("order", "fail", False),
    ]  # fmt: skip
    assert (merged.merged, merged.timeable) == (True, True)
    unasked = merge(result(), result(proved))
    assert [one.confirmed for one in unasked.findings] == [None]


def test_without_a_published_build_nothing_of_the_fast_one_is_proved_and_it_is_not_timed() -> None:
    fast = result(finding("coverage", "fail"), finding("order", "pass"))
    merged = merge(fast, result(built=False))
    assert merged.build == fast.build
    assert [(one.probe, one.outcome) for one in merged.findings] == [("coverage", "error"), ("order", "pass")]
    assert (merged.merged, merged.timeable) == (True, False)


def test_progress_names_what_takes_long() -> None:
    progress = Progress(io.StringIO())
    with progress.doing("building claimed.cu"), progress.doing("asking about no_op.cu"):
        assert re.fullmatch(r"building claimed\.cu \(0 s\), asking about no_op\.cu \(0 s\)", progress.under_way())
    assert progress.under_way() == ""


def test_progress_names_what_counts_before_what_is_only_noted() -> None:
    hint = finding("layout", "fail", grade="hint")
    assert outcome([finding("order"), hint]) == "passed every other probe; only noted: layout"
    wrong = [finding("order", "fail"), finding("repeat", "error"), finding("alias", "fail", grade="undefined")]
    assert outcome([*wrong, hint]) == "failed: order; undefined behaviour: alias; no answer: repeat; only noted: layout"
    assert outcome([finding("order"), finding("layout", "skip")]) == "passed every probe"
    assert outcome([finding("contract", "skip"), finding("order", "skip")]) == "no answer: contract"
