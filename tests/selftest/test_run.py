"""A self-test of two controls on the emulated device, and of a machine whose certain answers come out wrong."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from audit.apps import cli
from audit.apps.selftest import SelfTest, command, controls, read, run, write
from audit.apps.selftest.score import shortfalls
from audit.model.errors import BadInput
from audit.run.processes.pool import Workers
from tests.small_claim import trimmed

pytestmark = pytest.mark.audits

PAIR = ("coverage_bad", "coverage_good")


def execute(
    root: Path,
    workers: Workers,
    *,
    json: bool = False,
    out: Path | None = None,
    seed: int | None = None,
) -> int:
    """`audit self-test --device emulated` with the controls of that folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "run", partial(run, root=root, workers=workers))
        return command.self_test(device="emulated", json=json, out=out, seed=seed)


def kernels(folder: Path) -> Path:
    """A folder of claims: the two certain variants and one pair of controls, one level further down."""
    trimmed(controls.CLAIM, folder, (f"{controls.WRONG}.cu", f"{controls.RIGHT}.cu"), N=300)
    trimmed("controls", folder / "deeper", tuple(f"{name}.cu" for name in PAIR))
    return folder


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kernels(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="module")
def record(root: Path, tmp_path_factory: pytest.TempPathFactory, workers: Workers) -> SelfTest:
    out = tmp_path_factory.mktemp("out") / "deeper/self_test.json"
    assert execute(root, workers, out=out) == 0
    return read(out)


def test_the_known_bad_one_is_proved_and_its_twin_passes(record: SelfTest) -> None:
    results = {row.control: (row.folder, row.result) for row in record.rows}
    assert results == {
        "coverage_bad": ("deeper/controls", "proved"),
        "coverage_good": ("deeper/controls", "passed"),
    }


def test_answers_are_kept_and_a_pass_needs_no_words(record: SelfTest) -> None:
    bad, good = (next(row for row in record.rows if row.control == name) for name in PAIR)
    assert bad.answers["coverage"].grade == "proved"
    assert "rows written" in bad.answers["coverage"].summary
    assert {answer.grade for answer in good.answers.values()} <= {None, "hint"}
    assert good.answers["coverage"].summary == ""
    assert all((answer.outcome == "pass") == (answer.summary == "") for answer in good.answers.values())


def test_the_machine_is_blessed_and_described(record: SelfTest) -> None:
    assert record.blessed
    assert [(check.control, check.found) for check in record.checks] == [
        ("triangular_mm/claimed", "failed"),
        ("triangular_mm/fixed_grid2d", "passed"),
    ]
    assert record.device.kind == "emulated"
    assert "cores" in record.environment.machine
    assert {"files", "network", "metadata"} <= {one.name for one in record.environment.sandbox}


def test_json_goes_to_stdout_alone_and_the_seed_gives_the_same_answers(
    root: Path, record: SelfTest, workers: Workers, capsys: pytest.CaptureFixture[str]
) -> None:
    (seed,) = record.environment.seeds
    assert execute(root, workers, json=True, seed=seed) == 0
    printed = capsys.readouterr()
    result = SelfTest.model_validate(json.loads(printed.out), strict=False)
    assert result.rows == record.rows
    assert "verify" in printed.err


def test_a_machine_where_a_certain_answer_is_wrong_is_not_blessed(
    root: Path, workers: Workers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Path(shutil.copytree(root, tmp_path / "kernels"))
    claim = broken / controls.CLAIM
    shutil.copy(claim / f"{controls.RIGHT}.cu", claim / f"{controls.WRONG}.cu")
    assert execute(broken, workers, out=tmp_path / "self_test.json") == 1
    assert "claimed must come out failed, not passed" in capsys.readouterr().err
    left = read(tmp_path / "self_test.json")
    assert not left.blessed
    assert left.rows == ()


def test_a_self_test_that_was_cut_goes_on_where_it_ended(
    root: Path, record: SelfTest, workers: Workers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both, out = tmp_path / "kernels", tmp_path / "self_test.json"
    trimmed("controls", Path(shutil.copytree(root, both)), ("order_bad.cu", "order_good.cu"))
    cut = record.model_copy(update={"unasked": ("controls",)})
    assert shortfalls(cut) == ["cut before it asked controls: the same command goes on"]
    write(cut, out)
    assert execute(both, workers, out=out) == 0
    whole = read(out)
    assert [one.control for one in whole.rows] == ["order_bad", "order_good", "coverage_bad", "coverage_good"]
    assert whole.rows[2:] == record.rows
    assert whole.environment == record.environment
    assert whole.seconds > record.seconds
    assert whole.unasked == ()
    said = capsys.readouterr().out
    assert [line.split("controls ")[1] for line in said.splitlines() if line.endswith("2 kernels")] == [
        "triangular_mm: 2 kernels",
        "controls: 2 kernels",
    ]


def test_bad_files_are_one_sentence(record: SelfTest, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"schema": 7}', encoding="utf-8")
    with pytest.raises(BadInput, match=r"broken\.json: not the record of a self-test: schema"):
        read(tmp_path / "broken.json")
    with pytest.raises(BadInput, match=r"absent\.json: cannot be read"):
        read(tmp_path / "absent.json")
    with pytest.raises(BadInput, match="cannot be written"):
        write(record, tmp_path / "broken.json" / "out.json")


def test_an_unknown_device_is_bad_usage() -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["self-test", "--device", "abacus"])
    assert stop.value.code == 2
