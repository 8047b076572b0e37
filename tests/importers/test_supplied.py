"""What the user says where a source does not: tolerance, ratios, sizes; and the line that says what to type."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from audit import claims
from audit.apps import cli
from audit.build.emulated.device import capability_named
from audit.claims import importers
from audit.claims.importers import GIVEN, writer
from audit.claims.importers.facts import Given
from audit.probes.observing.shapes_asked import again, unusable
from audit.run.processes.pool import Ending, Reply
from tests.importers import published

NO_TOLERANCE = published.REFERENCE.replace("RTOL = 1e-4\n", "")


def run(folder: Path, *options: str, to: str = "claim") -> int:
    source = published.write(folder / "source", scaled__cu=published.CU, reference__py=NO_TOLERANCE)
    return cli.main(["import", str(source), "--to", str(folder / to), *options])


def test_what_is_missing_is_said_with_the_line_to_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 2
    result = capsys.readouterr().out
    assert f"to type: audit import {tmp_path}/source --to {tmp_path}/claim_2 --tolerance 1e-3\n" in result
    assert "next: audit run" not in result


def test_the_sizes_of_a_definition_without_a_workload_are_typed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line shown names the axes, keeps the options there were, and is one that does."""
    source = published.write(
        tmp_path / "source", solution__json=published.SOLUTION_JSON, definition__json=published.DEFINITION
    )
    assert cli.main(["import", str(source), "--to", str(tmp_path / "claim"), "--claimed", "T4=4.2"]) == 2
    line = capsys.readouterr().out.partition("to type: audit ")[2].strip()
    assert line == f"import {source} --claimed T4=4.2 --to {tmp_path}/claim_2 --shape rows=64"
    assert cli.main(line.split()) == 0
    claim = claims.load(str(tmp_path / "claim_2")).claim
    assert (claim.shapes.claimed, claim.tolerance.relative) == ({"rows": 64}, 1e-2)


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        ({}, "SOL-ExecBench's default: max_atol = 0.01, max_rtol = 0.01, required_matched_ratio = 0.99"),
        ({"tolerance": {"max_rtol": 0.003}}, "the workload's own: max_atol = 0.01, max_rtol = 0.003, "),
    ],
)
def test_a_workload_without_a_tolerance_has_the_benchmarks(tmp_path: Path, stated: Any, reason: str) -> None:
    workload = {name: one for name, one in published.SOL_WORKLOAD.items() if name != "tolerance"} | stated
    files = published.FORMATS["sol_execbench"] | {"workload__jsonl": published.lines(workload)}
    found = importers.read([published.write(tmp_path / "source", **files)]).tolerance
    assert found is not None
    assert found.reason.startswith(reason)


def test_large_tensors_of_fixed_axes_are_no_reason_against_an_audit(tmp_path: Path) -> None:
    definition = published.DEFINITION | {
        "axes": {**published.DEFINITION["axes"], "features": {"type": "const", "value": 1 << 20}}
    }
    files = published.FORMATS["flashinfer_bench"] | {"definition__json": definition}
    found = importers.read([published.write(tmp_path / "source", **files)])
    assert found.auditable, found.blocking()
    assert found.shapes is not None
    assert len(found.shapes.emulated) == 1
    assert found.shapes.emulated[0]["rows"] < found.shapes.claimed["rows"]


def test_no_line_is_shown_that_would_not_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = published.write(tmp_path / "source", scaled__cu=published.CU)
    assert cli.main(["import", str(source), "--to", str(tmp_path / "claim")]) == 2
    result = capsys.readouterr().out
    assert "MISSING, no audit without it: reference.py: no task was found" in result
    assert "to type:" not in result


def test_a_reference_that_is_no_python_is_said_to_be_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = published.write(tmp_path / "source", scaled__cu=published.CU, reference__py="def reference(x:\n")
    assert cli.main(["import", str(source), "--to", str(tmp_path / "claim")]) == 2
    assert "reference.py: line 1: not valid Python" in capsys.readouterr().out


def test_what_is_typed_becomes_a_claim(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--tolerance", "1e-3", "--claimed", "T4=4.2", "H100=9", "--shape", "rows=512"]
    assert run(tmp_path, *options, to="A_Claim") == 0
    assert f"next: audit run {tmp_path}/A_Claim --device" in capsys.readouterr().out
    claim = claims.load(str(tmp_path / "A_Claim")).claim
    assert claim.name == "a_claim"
    assert claim.tolerance.relative == 1e-3
    assert [(one.gpu, one.ratio, one.by) for one in claim.speedup] == [
        ("T4", 4.2, "the user"),
        ("H100", 9.0, "the user"),
    ]
    assert dict(claim.shapes.claimed) == {"rows": 512}
    assert claim.shapes.emulated_by == "importer" and max(one["rows"] for one in claim.shapes.emulated) <= 512


@pytest.mark.parametrize(("ending", "said"), [("stopped", True), ("timed out", True), ("raised", False)])
def test_a_task_that_needs_too_much_memory_says_what_to_type(ending: Ending, said: bool, tmp_path: Path) -> None:
    assert run(tmp_path, "--tolerance", "1e-3", "--shape", "rows=4096") == 0
    folder = claims.load(str(tmp_path / "claim"))
    text, _, typed = str(unusable(folder, Reply(ending, (), "the session held 14.2 GiB"))).partition("; ")
    assert text == f"claim/reference.py: {ending}: the session held 14.2 GiB"
    assert bool(typed) is said
    if said:
        command = shlex.split(typed.partition(": ")[2])
        assert command == ["audit", "import", f"{folder.path}/original", "--to", f"{folder.path}_2", "--shape",
                           "rows=512", "--tolerance", "0.001"]  # fmt: skip
        assert cli.main(command[1:]) == 0
        assert dict(claims.load(f"{folder.path}_2").claim.shapes.claimed) == {"rows": 512}


def test_sizes_of_a_module_are_named_too(tmp_path: Path) -> None:
    task = published.TASK.replace("features = 24", "features = 2048")
    source = published.write(tmp_path / "source", task__py=task, solution__py=published.SOLUTION)
    assert cli.main(["import", str(source), "--out", str(tmp_path / "claim")]) == 0
    assert str(again(claims.load(str(tmp_path / "claim")))).endswith("--shape batch_size=512 features=256")


def test_a_table_of_ratios_by_size_is_stated(tmp_path: Path) -> None:
    rows = ["T4@rows=512=4.2", "T4@rows=64=2", "H100=9"]
    assert run(tmp_path, "--tolerance", "1e-3", "--claimed", *rows, "--shape", "rows=512") == 0
    claim = claims.load(str(tmp_path / "claim")).claim
    stated = [(one.gpu, one.ratio, one.shape) for one in claim.speedup]
    assert stated == [("T4", 4.2, {"rows": 512}), ("T4", 2.0, {"rows": 64}), ("H100", 9.0, None)]
    assert [one.ratio for one in claim.ratios] == [4.2, 9.0]
    assert [one.ratio for one in claim.other_ratios] == [2.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--claimed", "T4@rows=4.2"], "--claimed T4@rows: write GPU@NAME=SIZE,NAME=SIZE=RATIO"),
        (["--tolerance", "-1"], "--tolerance -1: a tolerance is finite and not negative"),
        (["--claimed", "T4=fast"], "--claimed fast: no number above zero; write it as in --claimed T4=4.2"),
        (["--claimed", "4.2"], "--claimed 4.2: write GPU=RATIO, or one of T4, "),
        (["--claimed", "H100="], "--claimed : no number above zero"),
        (["--claimed", "=2"], "--claimed =2: write NAME=VALUE"),
        (["--claimed", "Voodoo2"], "--claimed Voodoo2: write GPU=RATIO, or one of T4, "),
        (["--shape", "rows=1.5"], "--shape rows=1.5: a size is a whole number"),
        (["--shape", "columns=3"], "--shape columns: no size of this claim; known: rows"),
    ],
)
def test_what_is_typed_wrong_is_said_in_a_sentence(
    options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, *options) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "claim").exists()


@pytest.mark.parametrize(
    ("format_", "size", "others"),
    [
        ("popcorn", "rows=512", []),
        ("robust_kbench", "batch_size=512", ["protocol.flags: robust-kbench's default"]),
        ("kernelbench", "batch_size=512", []),
    ],
)
def test_one_line_says_what_was_chosen_and_it_is_the_users(
    format_: str, size: str, others: list[str], tmp_path: Path
) -> None:
    folder = published.write(tmp_path, **published.FORMATS[format_])
    name, _, value = size.partition("=")
    own = importers.read([folder]).choices
    found = importers.read([folder], given=Given(tolerance=1e-3, shape=((name, int(value)),)))
    said = [one for one in found.choices if not one.startswith("shapes.emulated: ")]
    assert said == [f"shapes.claimed: {name} = {value}, {GIVEN}", f"tolerance: 0.001, {GIVEN}", *others]
    assert not any(GIVEN in one for one in own)
    counting = [one for one in found.choices if "a failure counts" in one]
    assert len(counting) == 1 and f"{name} = {found.shapes.emulated[0][name]}" in counting[0]


def test_a_ratio_of_the_user_is_the_one_of_its_gpu_and_the_sources_stay_for_others(tmp_path: Path) -> None:
    source = published.write(tmp_path / "source", **published.FORMATS["archive"])
    given = Given(gpu="H100", claimed=(("T4", 4.2), ("H100", 3.0)))
    stated = importers.read([source], given=Given(gpu="H100"))
    writer.write(stated, tmp_path / "stated")
    writer.write(importers.read([source], given=given), tmp_path / "given")
    (own,) = claims.load(str(tmp_path / "stated")).claim.speedup
    found = claims.load(str(tmp_path / "given")).claim.speedup
    assert own.gpu == "H100" and own.ratio != 3.0
    assert {one.gpu: one.ratio for one in found} == {"T4": 4.2, "H100": 3.0}


@pytest.mark.parametrize(
    ("named", "gpus", "ratios", "modelled"),
    [
        (["H100"], ("H100",), [], 90),
        (["nvidia h200"], ("H200",), [], 90),
        (["H100", "A100=2"], ("H100",), [2.0], 80),
        (["H100=1.3"], (), [1.3], 90),
        ([], (), [], 75),
    ],
)
def test_a_gpu_without_a_ratio_is_the_one_that_the_emulated_device_models(
    named: list[str], gpus: tuple[str, ...], ratios: list[float], modelled: int, tmp_path: Path
) -> None:
    assert run(tmp_path, "--tolerance", "1e-3", *(["--claimed", *named] if named else [])) == 0
    claim = claims.load(str(tmp_path / "claim")).claim
    assert claim.gpus == gpus and [one.ratio for one in claim.speedup] == ratios
    assert capability_named(claim) == modelled
    assert ("# missing: speedup" in (tmp_path / "claim" / "claim.toml").read_text()) == (not ratios)


@pytest.mark.parametrize("code", [None, "", "None", " None\n"])
def test_a_row_without_code_claims_nothing(
    code: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = published.CUDA_L1_ROW | {"custom_code": code}
    source = published.write(tmp_path / "source", h100__jsonl=published.lines(row))
    assert cli.main(["import", str(source), "--to", str(tmp_path / "claim")]) == 2
    assert "row 1, column custom_code: MISSING" in capsys.readouterr().err
    assert not (tmp_path / "claim").exists()


def test_sizes_are_given_to_a_task_that_names_none(tmp_path: Path) -> None:
    reference = """import torch

def inputs(shape, generator):
    return [torch.randn(shape["N"], generator=generator)]

def reference(x):
    return 2 * x
"""
    source = published.write(tmp_path / "source", scaled__cu=published.CU, reference__py=reference)
    options = ["--tolerance", "1e-3", "--shape", "N=256"]
    assert cli.main(["import", str(source), "--to", str(tmp_path / "claim"), *options]) == 0
    assert dict(claims.load(str(tmp_path / "claim")).claim.shapes.claimed) == {"N": 256}
