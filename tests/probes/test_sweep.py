"""Sizes around a claim: which are right, wrong or refused, in one sentence with the rule and its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from audit import claims
from audit.build.emulated.device import EmulatedDevice
from audit.device_run import DeviceRun
from audit.model import Finding
from audit.probes import OF_THE_CLAIM, PROBES, sweep
from audit.probes.concluding import answer
from audit.probes.observing import sized
from audit.probes.observing.called import Call, ProtocolViolated, SessionBroken
from audit.probes.observing.cases import Case
from audit.probes.observing.runner import ask
from audit.probes.observing.sized import At
from audit.probes.observing.target import Target
from audit.run.processes.pool import Workers
from tests.small_claim import CLAIM

SHAPES = """claimed = { rows = 512, cols = 1024 }
others = []
emulated = [{ rows = 1, cols = 8 }, { rows = 3, cols = 64 }, { rows = 6, cols = 256 }]"""
REFERENCE = """
import torch

def inputs(shape, generator):
    if shape["cols"] == 65:
        raise ValueError("65 columns are none of this task's")
    return [torch.randn(shape["rows"], shape["cols"], generator=generator)]

def reference(x):
    return 2 * x

def oracle(x):
    return 2 * x.double()

def cost(shape):
    return {"flops": float(shape["rows"] * shape["cols"]), "bytes": 8.0 * shape["rows"] * shape["cols"]}
"""
KERNEL = """#include <torch/extension.h>
// Four columns a thread, since cols is a multiple of 4 at the claimed shape.
__global__ void twice(const float* x, float* y, int cols) {
  const float4* from = reinterpret_cast<const float4*>(x + BLOCK * cols);
  float4* to = reinterpret_cast<float4*>(y + BLOCK * cols);
  for (int i = threadIdx.x; i < cols / 4; i += blockDim.x) {
    float4 v = from[i];
    to[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  }
}
torch::Tensor forward(torch::Tensor x) {
  CHECK
  auto y = torch::empty_like(x);
  twice<<<GRID, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
VARIANTS = {
    "vectors": {"BLOCK": "blockIdx.x", "GRID": "x.size(0)", "CHECK": ""},
    "checked": {
        "BLOCK": "blockIdx.y",
        "GRID": "dim3(1, x.size(0))",
        "CHECK": 'TORCH_CHECK(x.size(1) % 4 == 0, "cols must be a multiple of 4");',
    },
}


@pytest.fixture(scope="module")
def answered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, workers: Workers) -> Finding:
    """What is found of a claim of that variant."""
    folder, scratch = tmp_path_factory.mktemp("kernels") / "claim", tmp_path_factory.mktemp("scratch")
    folder.mkdir()
    head, shapes, rest = CLAIM.format(harness="").partition("[shapes]")
    rest = rest[rest.index("[[variant]]") :].replace("claimed.py", "claimed.cu")
    (folder / "claim.toml").write_text(f"{head}{shapes}\n{SHAPES}\n\n{rest}", encoding="utf-8")
    (folder / "reference.py").write_text(REFERENCE, encoding="utf-8")
    source = KERNEL
    for name, text in VARIANTS[request.param].items():
        source = source.replace(name, text)
    (folder / "claimed.cu").write_text(source, encoding="utf-8")
    device_run = DeviceRun(
        claims.load(str(folder)), EmulatedDevice(), workers=workers, scratch=scratch, keep=lambda _: None
    )
    device_run.device.prepare()
    device_run.make_cases(entropy=7)
    (variant,) = claims.load(str(folder)).claim.variant
    built = device_run.build(variant, device_run.device.levels.first).built
    assert built is not None
    return ask("sweep", device_run.target(variant, built))


def results(found: Finding, name: str) -> dict[int, str]:
    """The results by the size of that name, where the other is the base's."""
    result = cast(list[dict[str, Any]], found.evidence["sizes"])
    base = cast(dict[str, int], found.evidence["around"])
    alone = [one for one in result if {**base, name: one["sizes"][name]} == one["sizes"]]
    return {one["sizes"][name]: one["result"] for one in alone}


@pytest.mark.parametrize("answered", ["vectors"], indirect=True)
def test_a_kernel_of_whole_vectors_is_told_with_its_rule_and_line_and_fails_no_kernel(answered: Finding) -> None:
    assert (answered.outcome, answered.grade, answered.claimed) == ("fail", "hint", False), answered.summary
    assert not answered.fails_kernel
    assert answered.evidence["around"] == {"rows": 3, "cols": 64}
    assert answered.evidence["rule"] == "cols % 4 != 0"
    assert answered.summary.startswith("right at rows=3, cols=64; wrong at ")
    assert f"exactly where cols % 4 != 0; see line {answered.line}; " in answered.summary
    assert answered.line in (6, 7), "where cols is divided by 4, or where an access is seen to be misaligned"
    assert answered.summary.endswith("not of the task: 2 more; none of these sizes is claimed")
    by_cols = results(answered, "cols")
    assert by_cols[65] == "not_taken"
    assert {size: one for size, one in by_cols.items() if size != 65} == {
        size: "wrong" if size % 4 else "right" for size in by_cols if size != 65
    }
    assert set(results(answered, "rows").values()) == {"right"}


@pytest.mark.parametrize("answered", ["checked"], indirect=True)
def test_sizes_that_a_kernel_refuses_are_no_failure_but_a_launch_that_nobody_checks_is(answered: Finding) -> None:
    assert (answered.outcome, answered.grade, answered.claimed) == ("fail", "hint", False), answered.summary
    assert answered.evidence["rule"] is None
    assert "exactly where cols % 4 != 0" in answered.summary
    assert "refused by an exception at" in answered.summary
    assert {one for size, one in results(answered, "cols").items() if size % 4 and size != 65} == {"refused"}
    by_rows = results(answered, "rows")
    assert (by_rows[65_535], by_rows[65_536]) == ("launched", "launch_refused")
    assert (answered.shape, answered.line) == ({"rows": 65_536, "cols": 64}, 14)


def at(size: int, result: str, why: str = "", line: int | None = None) -> At:
    case = Case({"N": size}, Path(f"{size}"), np.ones(size), "float32", scope="other")
    return At({"N": size}, cast(sized.Result, result), why, line, case)


@pytest.mark.parametrize(
    ("right", "got", "why"),
    [
        ([0.0, 0.0], [0.0, -9e-11], "the right result is zero everywhere, and what the kernel returns is rounding"),
        ([0.0, 0.0], [0.0, 2e-3], None),
        ([0.0, 0.0], [0.0, np.nan], None),
        ([0.0, 1.0], [9e-11, 1.0], None),
        ([np.nan, 1.0], [3.0, 1.0], "the right result is NaN at 1 of its elements"),
    ],
)
def test_rounding_beside_a_result_of_zeros_is_no_answer(right: list[float], got: list[float], why: str | None) -> None:
    """As the cross entropy of one class is: no element has a size that rounding could be held to."""
    case = Case({"N": 2}, Path("2"), np.array(right), "float32", scope="other")
    call = cast(Call, SimpleNamespace(values=lambda: np.array(got, dtype=np.float32)))
    target = cast(Target, SimpleNamespace(tolerance=SimpleNamespace(relative=1e-3)))
    assert sized._no_answer(target, case, call, 1) == why


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ([at(8, "right"), at(9, "right")], "right at all 2 sizes asked around N=8"),
        (
            [at(8, "right"), at(9, "wrong", "off"), at(10, "right")],
            "right at N=8; wrong at 1 of 3 sizes asked around N=8, exactly where N % 2 != 0; see line 3; N=9: off",
        ),
        (
            [at(8, "right"), at(9, "wrong", "off"), at(12, "right")],
            "right at N=8; wrong at 1 of 3 sizes asked around N=8; see line 3; N=9: off",
        ),
        (
            [at(8, "wrong", "off"), at(2, "wrong"), at(1, "right")],
            "wrong at 2 of 3 sizes asked around N=8, exactly where N > 1; see line 3; N=8: off",
        ),
        (
            [at(8, "wrong", "off"), at(9, "wrong"), at(1, "right")],
            "wrong at 2 of 3 sizes asked around N=8; see line 3; N=8: off",
        ),
        ([at(8, "wrong", "off"), at(9, "wrong")], "wrong at all 2 sizes asked around N=8; see line 3; N=8: off"),
        (
            [at(8, "right"), at(9, "refused", "no"), at(16, "refused"), At({"N": 7}, "not_taken", "no")],
            "right at all 1 sizes asked around N=8; refused by an exception at 2 more, exactly where N > 8; "
            "not of the task: 1 more",
        ),
        (
            [at(8, "right"), at(12, "refused", "no"), at(16, "refused")],
            "right at all 1 sizes asked around N=8; refused by an exception at 2 more",
        ),
    ],
)
def test_the_sentence(found: list[At], sentence: str) -> None:
    seen = sweep.seen_at(found, numbers=(), source="", claimed=target_of().claim.shapes)
    text = sweep.conclude(seen | {"line": 3, "claimed": True}).summary
    assert text == sentence


@pytest.mark.parametrize(
    ("rule", "where"), [("N % 2 != 0", ", exactly where N % 2 != 0"), (None, ", by no single rule")]
)
def test_an_older_record_keeps_its_words(rule: str | None, where: str) -> None:
    found = [at(8, "right"), at(9, "wrong", "off"), at(12, "right")]
    seen = sweep.seen_at(found, numbers=(), source="", claimed=target_of().claim.shapes)
    del seen[sweep.TESTED], seen["number_line"]
    text = sweep.conclude(seen | {"rule": rule, "line": None, "claimed": True}).summary
    assert text == f"right at N=8; wrong at 1 of 3 sizes asked around N=8{where}; N=9: off"


@pytest.mark.parametrize(("limit", "rule", "line"), [(24, "N < 24", 2), (30, "N < 30", None)])
def test_further_sizes_find_the_limit_and_its_line(
    monkeypatch: pytest.MonkeyPatch, limit: int, rule: str, line: int | None
) -> None:
    asked: list[list[int]] = []

    def called(_: Target, shapes: Sequence[dict[str, int]], **__: int) -> list[At]:
        asked.append([one["N"] for one in shapes])
        return [at(size, "right" if size >= limit else "wrong", "off") for size in asked[-1]]

    monkeypatch.setattr(sweep, "called", called)
    found = [at(40, "right"), at(32, "right"), at(23, "wrong", "off"), at(1, "wrong", "off")]
    found += sweep._told_apart(target_of(), found, {24})
    seen = sweep.seen_at(found, numbers={24}, source="\nx < 24\n", claimed=target_of().claim.shapes)
    assert (seen["rule"], seen["number_line"]) == (rule, line)
    assert 1 <= len(asked) <= sweep.ROUNDS
    assert 24 in asked[0], "a number of the source comes first"


@pytest.mark.parametrize(("limit", "line"), [(2, None), (3, 2)])
def test_a_number_of_most_sources_points_at_no_line(limit: int, line: int | None) -> None:
    found = [at(size, "right" if size >= limit else "wrong") for size in (5, 4, 3, 2, 1)]
    seen = sweep.seen_at(found, numbers={limit}, source=f"\nx / {limit}\n", claimed=target_of().claim.shapes)
    assert (seen["rule"], seen["number_line"]) == (f"N < {limit}", line)


def test_a_launch_that_is_refused_has_no_part_in_the_line_of_the_wrong_sizes() -> None:
    found = [at(8, "right"), at(9, "wrong", "off"), at(10, "right"), at(65_536, "launch_refused", "grid", 21)]
    seen = sweep.seen_at(found, numbers=(), source="x % 3", claimed=target_of().claim.shapes)
    assert (seen["rule"], seen["line"]) == ("N % 2 != 0", None)
    refused = sweep.seen_at([found[0], found[2], found[3]], numbers=(), source="", claimed=target_of().claim.shapes)
    assert (refused["rule"], refused["line"]) == (None, 21)


@pytest.mark.parametrize(("nans", "result"), [(3, "not_taken"), (1, "wrong")])
def test_a_size_whose_right_result_is_nan_is_not_of_the_task(nans: int, result: str) -> None:
    expected = np.ones(4)
    expected[:nans] = np.nan
    case = Case({"N": 4}, Path("x"), expected, "float32", scope="other")
    compared = SimpleNamespace(right=False, elements_wrong=3, evidence=lambda: {"index": None, "elements": 4})
    fake = SimpleNamespace(built=SimpleNamespace(located=lambda _: []), compared=lambda *_: compared)
    found = sized._at(cast(Target, fake), case, Call({"raised": None, "step": 0}, Path()))
    assert found.result == result, found.why


@pytest.mark.parametrize(
    ("numbers", "line"), [((4,), 3), ((16,), 2), ((99, 16), 2), ((5,), None), ((32,), 4), ((1024,), 1)]
)
def test_the_line_that_holds_the_number_of_a_rule(numbers: tuple[int, ...], line: int | None) -> None:
    source = "int most = 1024, four = 4; // 5 and 16\n#define TILE 16\nfloat4 v; /* 32\n 32 */ x % 32;\n"
    assert sweep.line_of(numbers, source) == line


class Fake:
    """A build whose sessions break or end at some cases."""

    checks_accesses, nan_memory, tensor_device = False, "poison_nan", "cuda"

    def __init__(self, breaks: Sequence[int] = (), illegal: Sequence[int] = ()) -> None:
        self.breaks, self.illegal, self.asked = breaks, illegal, list[list[int]]()

    def steps(self, _: object, *, cases: Sequence[Case], **__: object) -> list[Call]:
        sizes = [case.shape["N"] for case in cases]
        self.asked.append(sizes)
        if any(size in self.breaks for size in sizes):
            raise SessionBroken("crashed")
        raised = iter(self._raised(sizes))
        return [Call({"raised": next(raised), "step": size}, Path()) for size in sizes]

    def _raised(self, sizes: Sequence[int]) -> Iterator[str | None]:
        ended = False
        for size in sizes:
            ended = ended or size in self.illegal
            yield "AcceleratorError: an illegal memory access was encountered" if ended else None


def calls(fake: Fake, sizes: Sequence[int]) -> list[Call | str]:
    target = cast(Target, SimpleNamespace(steps=fake.steps, built=fake))
    return sized._calls(target, [cast(Case, at(size, "right").case) for size in sizes])


def test_a_call_that_a_gpu_ends_costs_no_other_size_its_answer() -> None:
    fake = Fake(illegal=(3, 5))
    found = [one for one in calls(fake, range(1, 8)) if isinstance(one, Call)]
    assert [one.event["step"] for one in found] == list(range(1, 8))
    assert [one.event["step"] for one in found if one.raised] == [3, 5]
    assert fake.asked == [[1, 2, 3, 4, 5, 6, 7], [4, 5, 6, 7], [6, 7]]


def test_sessions_that_break_end_the_questions() -> None:
    fake = Fake(breaks=(2, 4))
    found = calls(fake, range(1, 8))
    assert [isinstance(one, Call) for one in found] == [True, False, True, False, False, False, False]
    assert found[1] == "crashed"
    assert str(found[-1]).startswith("not asked")


def test_a_forged_session_is_no_answer_of_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    def violated(*_: object, **__: object) -> list[Call]:
        raise ProtocolViolated("protocol violation: a key")

    fake = Fake()
    monkeypatch.setattr(fake, "steps", violated)
    with pytest.raises(ProtocolViolated):
        calls(fake, (1, 2))


def target_of() -> Target:
    folder = claims.load("triangular_mm")
    claimed = folder.claim.claimed
    assert claimed is not None
    case = Case({"N": 33}, Path("x"), np.ones(4), "float32")
    return Target(folder.claim, claimed, cast(Any, Fake()), (case,), cast(Any, None), folder.reference, Path())


def test_no_size_is_asked_around_a_base_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    none = [replace(at(33, "refused", "the call raised RuntimeError: no")), at(34, "right"), at(35, "right")]
    monkeypatch.setattr(sweep, "called", lambda *_, **__: none)
    found = answer.ask(sweep, target_of())
    assert (found.outcome, found.grade) == ("skip", None)
    assert found.summary == "not asked: N=33: no sizes around it: the call raised RuntimeError: no"


def test_a_base_that_is_too_much_work_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "called", lambda *_, **__: [at(1, "right"), at(2, "right"), at(3, "wrong", "off")])
    assert answer.ask(sweep, target_of()).summary == "not asked: N=33: no sizes around it: a call is too much work here"


def test_a_long_exception_is_kept_in_short() -> None:
    result = cast(dict[str, Any], at(9, "refused", "the call raised " + "no " * 5000).evidence())
    assert len(result["why"]) <= sized.LONGEST
    found = [at(8, "wrong", "no " * 5000), at(9, "right")]
    seen = sweep.seen_at(found, numbers=(), source="", claimed=target_of().claim.shapes)
    assert len(sweep.conclude(seen).summary) < 2 * sized.LONGEST


def test_a_size_that_counts_is_told_as_one_of_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "called", lambda *_, **__: [at(33, "right"), at(255, "wrong", "off"), at(2, "right")])
    found = answer.ask(sweep, target_of())
    assert (found.outcome, found.grade, found.claimed, found.shape) == ("fail", "hint", True, {"N": 255})
    assert "claimed" not in found.summary


def test_it_is_no_probe_that_every_variant_is_asked() -> None:
    assert not OF_THE_CLAIM.keys() & PROBES.keys()
