"""What the independent prover is given and what is read from it; asked for real only where it is installed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from audit import claims
from audit.build import race_prover
from audit.build.race_prover import parameters, proofs, read

PTX = """
.visible .entry _Z4rowsPKfPfilx(
	.param .u64 .ptr .align 1 _Z4rows_param_0,
	.param .u64 .ptr .align 1 _Z4rows_param_1,
	.param .u32 _Z4rows_param_2,
	.param .u64 _Z4rows_param_3,
	.param .align 8 .b8 _Z4rows_param_4[16]
)
{ ret; }
"""
FREE = {"result": "race_free", "checks": {"memory": "passed", "synchronization": "passed"}, "diagnostics": []}


def witness(
    first: str, second: str, *, file: str = "kernels.cu", overlap: str = "constant byte ranges intersect"
) -> Any:
    places = [
        {"mode": mode, "location": {"file": f"/x/{file}", "line": line}} for mode, line in ((first, 7), (second, 9))
    ]
    return {"first": places[0], "second": places[1], "overlap": overlap}


def race(*witnesses: Any) -> str:
    return json.dumps({"result": "potential_race", "races": list(witnesses), "diagnostics": [{"code": "unordered"}]})


def test_the_types_of_parameters() -> None:
    assert parameters(PTX, "_Z4rowsPKfPfilx") == ["u64", "u64", "u32", "u64", "b8"]


def test_a_proof_that_there_is_no_race() -> None:
    assert read(json.dumps(FREE)) == ("free of races", (), "")


def test_a_race_has_the_lines_of_both_accesses() -> None:
    assert read(race(witness("write", "read"))) == ("race", (7, 9), "")


def test_two_writes_may_write_one_value() -> None:
    assert read(race(witness("write", "write")))[0] == "equal writes or a race"
    assert read(race(witness("write", "write"), witness("read", "write")))[0] == "race"


def test_lines_of_other_files_are_not_the_sources() -> None:
    assert read(race(witness("write", "read", file="prelude.h"))) == ("race", (), "")


@pytest.mark.parametrize(
    "text",
    [
        race(witness("write", "read", overlap="symbolic offsets may overlap")),
        race(),
        json.dumps({"result": "not_wellsynced", "diagnostics": [{"code": "not_wellsynced"}]}),
        json.dumps({**FREE, "checks": {"memory": "incomplete"}}),
        json.dumps({"result": "unsupported", "diagnostics": []}),
        json.dumps([1]),
        "",
    ],
)
def test_anything_else_is_no_answer(text: str) -> None:
    answer, lines, why = read(text)
    assert (answer, lines) == ("no answer", ())
    assert why


@pytest.mark.skipif(race_prover.version() is None, reason="the extra `prover` is not installed")
@pytest.mark.parametrize(("control", "answer"), [("race_shared_bad", "race"), ("race_shared_good", "free of races")])
def test_the_prover_itself(control: str, answer: str) -> None:
    launch = {"kernel": "rows_kernel", "grid": [2, 1, 1], "block": [256, 1, 1], "arguments": [None, None, 40]}
    source = claims.KERNELS / "controls_undefined" / f"{control}.cu"
    (proof,) = proofs(source, [launch, launch, {**launch, "refused": "no"}])
    assert proof.answer == answer, proof.why
