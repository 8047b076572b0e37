"""Which findings have one cause, where they were seen, and what launch and coverage prove together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit import judge
from audit.judge import causes, root_causes
from audit.model import Finding, Place, Record, store
from audit.review.hints import Source, reviewed
from tests.conftest import finding

REPORTS = Path(__file__).resolve().parents[2] / "reports"
SHAPE = {"N": 255}
SIDE = {"right": False, "elements_wrong": 5, "index": [1, 0]}
UNWRITTEN = finding("coverage", "fail", evidence={"shape": SHAPE, "elements": 65025, "elements_written": 255,
                                                  "rows": 255, "rows_written": 1, "launches": []})  # fmt: skip
INHERITED = finding("inherited", "fail", evidence={"shape": SHAPE, "elements_inherited": 64770})
STALE = finding("order", "fail", evidence={"shape": SHAPE, "claim_first": SIDE, "reference_first": {"right": True}})
NAN = finding("agreement", "fail", evidence={"shapes": [{"shape": SHAPE, "right": False, "elements_wrong": 64770}]})
ALIAS = finding("alias", "fail", evidence={"shape": SHAPE})


def grouped(*findings: Finding) -> list[list[str]]:
    return [[one.probe for one in members] for members in causes.causes(findings)]


def test_elements_that_nobody_writes_are_one_cause_however_many_probes_see_them() -> None:
    assert grouped(NAN, STALE, UNWRITTEN, INHERITED) == [["agreement", "order", "coverage", "inherited"]]
    assert grouped(NAN, ALIAS, UNWRITTEN) == [["agreement", "coverage"], ["alias"]]


def test_wrong_in_both_orders_does_not_depend_on_what_was_in_memory() -> None:
    both = finding("order", "fail", evidence={"shape": SHAPE, "claim_first": SIDE, "reference_first": SIDE})
    assert grouped(both, UNWRITTEN) == [["order"], ["coverage"]]


def test_a_result_that_changes_its_shapes_from_call_to_call_is_one_cause() -> None:
    first = finding("contract", "fail", evidence={"shape": SHAPE, "expected": "2 tensors", "got": "3 tensors"})
    later = finding("repeat", "fail", evidence={"shape": SHAPE, "first": "2 tensors", "later": "3 tensors"})
    assert grouped(first, later) == [["contract", "repeat"]]
    refused = finding("contract", "fail", evidence={"shape": {"N": 9}, "refused": "no blocks"})
    wrong = finding("repeat", "fail", evidence={"shape": SHAPE, "shapes": [{"shape": SHAPE, **SIDE}]})
    assert grouped(refused, later) == [["contract"], ["repeat"]]
    assert grouped(first, wrong) == [["contract"], ["repeat"]]


@pytest.mark.parametrize(
    ("other", "one_cause"),
    [
        ({"shape": SHAPE, "elements_wrong": 7, "index": [1, 0]}, True),
        ({"shape": SHAPE, "elements_wrong": 5, "index": [9, 9]}, True),
        ({"shape": SHAPE, "elements_wrong": 7, "index": [9, 9]}, False),
        ({"shape": {"N": 33}, "elements_wrong": 5, "index": [1, 0]}, False),
    ],
)
def test_the_same_elements_at_the_same_shape_are_one_cause(other: dict[str, Any], one_cause: bool) -> None:
    first = finding("repeat", "fail", evidence={"shapes": [{"shape": SHAPE, **SIDE}]})
    second = finding("fresh_values", "fail", evidence={"shapes": [{"right": False, **other}]})
    assert len(causes.causes([first, second])) == (1 if one_cause else 2)


def test_a_result_that_keeps_its_bits_is_one_cause() -> None:
    replayed = finding("fresh_values", "fail", summary=f"other values: 9 of 9 wrong; {causes.FIRST_BITS}")
    dead = {"inputs": [{"input": "input_0_x", "right": False, "elements_moved": 9, "elements_dead": 9}]}
    partly = {"inputs": [{"input": "input_0_x", "right": False, "elements_moved": 9, "elements_dead": 2}]}
    assert len(causes.causes([replayed, finding("dead_inputs", "fail", evidence=dead)])) == 1
    assert len(causes.causes([replayed, finding("dead_inputs", "fail", evidence=partly)])) == 2


def test_three_findings_joined_by_the_third_are_one_cause() -> None:
    first = finding("repeat", "fail", evidence={"shapes": [{"shape": SHAPE, "right": False, "elements_wrong": 3}]})
    second = finding("alias", "fail", evidence={"shapes": [{"shape": SHAPE, "right": False, "index": [4]}]})
    both = {"shape": SHAPE, "right": False, "elements_wrong": 3, "index": [4]}
    joining = finding("fresh_values", "fail", evidence={"shapes": [both]})
    assert grouped(first, second) == [["repeat"], ["alias"]]
    assert grouped(first, second, joining) == [["repeat", "alias", "fresh_values"]]


def test_the_reason_is_the_sentence_that_says_most() -> None:
    assert causes.reason([NAN, STALE, UNWRITTEN]) == "coverage: coverage fail; seen too by agreement, order"
    assert causes.reason([ALIAS]) == "alias: alias fail"


def test_places_are_those_of_every_device_with_their_builds(record: Record) -> None:
    beside = record.device.model_copy(update={"kind": "cuda", "name": "a GPU"})
    seen = [
        UNWRITTEN.model_copy(update={"device": "emulated", "confirmed": True}),
        UNWRITTEN.model_copy(update={"device": "cuda", "shape": {"N": 4096}, "evidence": {}}),
        UNWRITTEN.model_copy(update={"device": "cuda", "shape": {"N": 3}, "claimed": False}),
    ]
    changed = record.model_copy(update={"findings": tuple(seen), "secondary_devices": (beside,)})
    assert causes.shown_at(changed, seen[:1]) == (
        Place(shape=SHAPE, device="emulated device", builds=2),
        Place(shape={"N": 4096}, device="a GPU", builds=1),
    )


def test_the_shape_of_an_older_finding_is_read_from_its_sentence() -> None:
    assert causes.shape_of(finding("contract", "fail", summary="M=17, N=1: expected a tensor")) == {"M": 17, "N": 1}
    assert causes.shape_of(finding("contract", "fail", summary="the call raised x=3: no")) is None
    worst = {"shapes": [{"shape": {"N": n}, "right": False, "elements_wrong": n} for n in (3, 9, 5)]}
    assert causes.shape_of(finding("agreement", "fail", evidence=worst)) == {"N": 9}


LAUNCH = {"kernel": "k", "line": 13, "grid": [255, 1, 1], "block": [256, 1, 1]}
SOURCE = """#include <torch/extension.h>
__global__ void k(const float* a, float* c, int n) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < n) {
        c[row * n + col] = a[row * n + col];
    }
}
torch::Tensor forward(torch::Tensor a) {
    auto c = torch::empty_like(a);
    const int n = a.size(0);
    const int threads = 256;
    k<<<(n + threads - 1) / threads, threads>>>(a.data_ptr<float>(), c.data_ptr<float>(), n);
    return c;
}
"""


def with_coverage(record: Record, source: str, **evidence: object) -> Record:
    hints = [one for one in reviewed(Source(source, "claimed")) if one.probe == root_causes.GEOMETRY]
    changed = UNWRITTEN.model_copy(update={"evidence": UNWRITTEN.evidence | evidence})
    return record.model_copy(update={"findings": (*hints, changed)})


def test_launch_and_coverage_prove_the_cause_without_an_ablation(record: Record) -> None:
    result = with_coverage(record, SOURCE, launches=[LAUNCH])
    sentence = "The launch on line 13 has extent 1 along y, from which the kernel takes an index on line 3; "
    assert root_causes.geometry_cause(result) == f"{sentence}rows written: 1 of 255."
    assert judge.judge(result).root_cause == root_causes.geometry_cause(result)


@pytest.mark.parametrize(
    "evidence",
    [
        {"rows_written": 2, "elements_written": 510},
        {"rows_written": 1, "elements_written": 200},
        {"launches": [{**LAUNCH, "grid": [255, 255, 1]}]},
        {"launches": [{**LAUNCH, "block": [16, 16, 1]}]},
    ],
)
def test_where_the_two_do_not_agree_there_is_no_cause(record: Record, evidence: dict[str, Any]) -> None:
    assert root_causes.geometry_cause(with_coverage(record, SOURCE, **evidence)) is None


def test_without_the_hint_or_without_lost_elements_there_is_no_cause(record: Record) -> None:
    spanned = SOURCE.replace("k<<<(n + threads - 1) / threads, threads>>>", "k<<<dim3(n, n), threads>>>")
    assert root_causes.geometry_cause(with_coverage(record, spanned)) is None
    whole = with_coverage(record, SOURCE)
    passed = finding("coverage", evidence=whole.findings[-1].evidence)
    assert root_causes.geometry_cause(whole.model_copy(update={"findings": (*whole.findings[:-1], passed)})) is None


def test_columns_that_nobody_writes_agree_too(record: Record) -> None:
    turned = SOURCE.replace("int row = blockIdx.y * blockDim.y + threadIdx.y", "int col = blockIdx.y * blockDim.y + "
                            "threadIdx.y").replace("int col = blockIdx.x * blockDim.x + threadIdx.x", "int row = "
                            "blockIdx.x * blockDim.x + threadIdx.x")  # fmt: skip
    result = with_coverage(record, turned, rows_written=255, elements_written=255)
    assert (root_causes.geometry_cause(result) or "").endswith("columns written: 1 of 255.")


@pytest.mark.parametrize("device", ["emulated", "h100"])
def test_the_first_claim_needs_no_ablation_for_its_cause(device: str) -> None:
    record = store.read(REPORTS / "triangular_mm" / device / "record.json")
    alone = tuple(one for one in record.findings if not one.target.startswith("ablation"))
    verdict = judge.judge(record.model_copy(update={"findings": alone}))
    assert verdict.name == "wrong"
    assert (verdict.root_cause or "").startswith("The launch on line 36 has extent 1 along y")
    whole = judge.judge(record).root_cause or ""
    assert whole.startswith(f"{verdict.root_cause} Ablation confirms it: Changing only the 2-D grid")
    assert verdict.result is not None
    assert verdict.result.causes == 1
    assert verdict.confidence == "high"
    assert (verdict.confidence_reason or "").endswith("the source says the same")


@pytest.mark.parametrize(
    ("device", "confirmed", "level"),
    [("emulated", None, "medium"), ("emulated", True, "medium"), ("cuda", True, "high")],
)
def test_confidence_counts_causes_devices_and_builds(
    record: Record, device: str, confirmed: bool | None, level: str
) -> None:
    gpu = record.device.model_copy(update={"kind": "cuda", "name": "a GPU"})
    probes = [one.model_copy(update={"confirmed": confirmed, "device": "emulated"}) for one in (NAN, STALE, UNWRITTEN)]
    others = [one.model_copy(update={"device": device}) for one in probes]
    changed = record.model_copy(update={"secondary_devices": (gpu,), "findings": (*probes, *others)})
    assert judge.judge(changed).confidence == level
    apart = changed.model_copy(update={"findings": (*probes, ALIAS.model_copy(update={"device": "emulated"}))})
    assert judge.judge(apart).confidence == ("high" if confirmed else "medium")


def hinted(*lines: dict[str, Any], kinds: list[str] | None = None) -> Finding:
    known = {} if kinds is None else {"kinds": kinds}
    evidence = {"confirm_with": "memory_access", "hints": [*lines], **known}
    return finding("review.partial_collective", "fail", grade="hint", line=lines[0]["line"], evidence=evidence)


LATER, IN_K = {"line": 9, "message": "later"}, {"line": 3, "message": "first", "kernels": ["k"]}


@pytest.mark.parametrize(
    ("hint", "line"),
    [
        (hinted(IN_K, kinds=["race-shared"]), 3),
        (hinted({**IN_K, "kernels": ["other"]}, {**LATER, "kernels": ["other", "k"]}, kinds=["race-shared"]), 9),
        (hinted({**IN_K, "kernels": ["other"]}, kinds=["race-shared"]), None),
        (hinted(IN_K, kinds=["barrier-divergence"]), None),
        (hinted(LATER, kinds=["race-shared"]), 9),
        (hinted(IN_K), 3),
    ],
)
def test_a_line_of_the_source_is_a_cause_of_its_own_kinds_of_behaviour(
    record: Record, hint: Finding, line: int | None
) -> None:
    """In a kernel where such behaviour was seen; a rule that names no kinds, as of an older record, of any."""
    seen = {"kind": "race-shared", "kernel": "k<int>", "line": 4, "grade": "undefined"}
    race = finding("memory_access", "fail", grade="undefined", evidence={"shape": SHAPE, "reports": [seen]})
    found = root_causes.read_in_source(record.model_copy(update={"findings": (hint, race)}))
    assert [one["line"] for _, one, _ in found] == ([] if line is None else [line])


def test_a_hint_about_threads_names_the_kernels_that_reach_its_line() -> None:
    text = """
__device__ void summed(float* s) { if (threadIdx.x < 5) __syncthreads(); s[0] = 1; }
__global__ void one(float* s) { summed(s); }
__global__ void other(float* s) { if (threadIdx.x < 7) __syncthreads(); }
__global__ void neither(float* s) { s[0] = 1; }
"""
    (found,) = [one for one in reviewed(Source(text, "claimed")) if "collective" in one.probe]
    assert [one["kernels"] for one in found.evidence["hints"]] == [["one"], ["other"]]
    assert "barrier-divergence" in found.evidence["kinds"]


@pytest.mark.parametrize(
    ("pairs", "cause"), [([(1.0, 0.998), (4.0, 3.992)], False), ([(1.0, 0.998), (4.0, 4.006)], True)]
)
def test_elements_that_are_off_by_one_factor_are_no_rounding(pairs: list[tuple[float, float]], cause: bool) -> None:
    wrong = [{"expected": want, "got": got, "elements_wrong": 5} for want, got in pairs]
    bits = {"within_tolerance": False, "bits": 9.0, "bits_of": {"bf16": 9.0}, "class": "bf16"}
    found = [finding("precision", "fail", evidence=bits), finding("agreement", "fail", evidence={"shapes": wrong})]
    assert (root_causes.rounding_cause(found) is not None) is cause
