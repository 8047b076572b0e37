"""Which answers decide where a GPU and the emulated device were both asked."""

import pytest

from audit.judge.evidence import deciding
from audit.model import Finding
from tests.conftest import finding


def by(device: str, probe: str, outcome: str = "pass", grade: str | None = None) -> Finding:
    result = finding(probe, outcome, grade=grade) if grade else finding(probe, outcome)
    return result.model_copy(update={"device": device})


def outcomes(findings: list[Finding]) -> list[tuple[str | None, str, str]]:
    return [(one.device, one.probe, one.outcome) for one in deciding(findings)]


def test_one_device_alone_decides() -> None:
    known = [by("emulated", "order", "fail"), by("emulated", "coverage", "skip")]
    assert deciding(known) == known


def test_a_failure_where_the_claimed_path_does_not_lead_is_outside_the_claim() -> None:
    other = finding("agreement", "fail").model_copy(update={"shape": {"n": 64}})
    own = finding("coverage", "fail").model_copy(update={"shape": {"n": 4096}})
    without = finding("kernels_ran", "fail", evidence={"own_there": False}).model_copy(update={"shape": {"n": 4096}})
    there = finding("claimed_blocks", "pass", evidence={"shape": {"n": 4096}})
    assert [one.claimed for one in deciding([other, own, without, there])] == [False, True, True, True]
    assert [one.outcome for one in deciding([other, own, without])] == ["error", "fail", "fail"], "nobody asked there"
    runs_everywhere = without.model_copy(update={"evidence": {}})
    assert all(one.claimed for one in deciding([other, own, runs_everywhere]))


def test_the_gpu_decides_and_the_same_answer_is_not_counted_twice() -> None:
    known = [
        by("cuda", "order", "fail"),
        by("emulated", "order", "fail"),
        by("emulated", "coverage"),
        by("cuda", "coverage"),
    ]
    assert outcomes(known) == [("cuda", "order", "fail"), ("cuda", "coverage", "pass")]


def test_the_emulated_device_answers_what_the_gpu_could_not() -> None:
    known = [by("cuda", "memory_access", "skip"), by("emulated", "memory_access")]
    assert outcomes(known) == [("emulated", "memory_access", "pass")]


@pytest.mark.parametrize("outcome", ["skip", "error"])
def test_what_the_emulated_device_cannot_answer_blocks_nothing(outcome: str) -> None:
    known = [by("cuda", "order"), by("emulated", "order", outcome), by("emulated", "build", "error")]
    assert outcomes(known) == [("cuda", "order", "pass")]


def test_an_error_of_the_gpu_is_not_covered() -> None:
    known = [by("cuda", "order", "error"), by("emulated", "order")]
    assert outcomes(known) == [("cuda", "order", "error")]


def test_a_proof_that_the_gpu_contradicts_proves_nothing() -> None:
    (left,) = deciding([by("cuda", "agreement"), by("emulated", "agreement", "fail")])
    assert (left.outcome, left.grade) == ("error", None)
    assert "one of them errs" in left.summary


def test_a_bad_access_stands_whatever_the_gpu_saw() -> None:
    known = [by("cuda", "memory_access"), by("emulated", "memory_access", "fail")]
    assert outcomes(known) == [("emulated", "memory_access", "fail"), ("cuda", "memory_access", "pass")]


def test_undefined_behaviour_is_added_to_a_pass_of_the_gpu() -> None:
    known = [by("cuda", "agreement"), by("emulated", "agreement", "fail", "undefined")]
    assert outcomes(known) == [("emulated", "agreement", "fail"), ("cuda", "agreement", "pass")]


def test_what_no_device_said_stays() -> None:
    hint = finding("launch_geometry", "fail", grade="hint")
    assert hint in deciding([hint, by("cuda", "order")])


def outside(device: str, probe: str, shape: dict[str, int]) -> Finding:
    return by(device, probe, "fail").model_copy(update={"claimed": False, "shape": shape})


def test_a_failure_outside_the_claim_is_added_where_the_gpu_was_not_asked_about_that_shape() -> None:
    passed = by("cuda", "agreement").model_copy(update={"evidence": {"shapes": [{"shape": {"N": 33}}]}})
    seen = outcomes([passed, outside("emulated", "agreement", {"N": 3})])
    assert seen == [("emulated", "agreement", "fail"), ("cuda", "agreement", "pass")]
    assert outcomes([passed, outside("emulated", "agreement", {"N": 33})]) == [("cuda", "agreement", "pass")]


def test_a_proof_beside_a_gpu_that_is_right_where_the_claim_speaks_proves_nothing() -> None:
    (left,) = deciding([outside("cuda", "agreement", {"N": 3}), by("emulated", "agreement", "fail")])
    assert (left.outcome, left.grade) == ("error", None)


def test_a_size_around_the_claim_that_the_gpu_was_right_at_is_no_failure() -> None:
    asked = {"sizes": [{"sizes": {"N": 3}, "result": "right"}]}
    gpu = by("cuda", "sweep").model_copy(update={"evidence": asked})
    other = by("emulated", "sweep", "fail", "hint").model_copy(update={"claimed": False, "shape": {"N": 3}})
    assert outcomes([gpu, other]) == [("cuda", "sweep", "pass")]
    elsewhere = other.model_copy(update={"shape": {"N": 5}})
    assert outcomes([gpu, elsewhere]) == [("emulated", "sweep", "fail"), ("cuda", "sweep", "pass")]
