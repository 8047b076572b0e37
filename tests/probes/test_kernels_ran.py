"""Whose kernels ran, from the launches a session tells."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from audit.model import Finding
from audit.probes import kernels_ran
from audit.probes.concluding import own_kernels
from audit.probes.concluding.answer import ask
from audit.probes.observing import claimed_shape
from audit.probes.observing.called import Call, SessionBroken
from audit.probes.observing.claimed_shape import Launched
from audit.probes.observing.target import Target
from audit.probes.observing.variations import DISCRIMINATING

SOURCE = "__global__ void scale(float* x) { x[0] = 1; }\nvoid run(float* x) { scale<<<1, 1>>>(x); }\n"
LIBRARY = "void at::native::vectorized_elementwise_kernel<4, scale_functor>(int)"


def launch(kernel: str, microseconds: float | None = 1.0) -> dict[str, Any]:
    values = {"kernel": kernel, "line": None, "grid": [1, 1, 1], "block": [32, 1, 1], "refused": None}
    return values if microseconds is None else values | {"microseconds": microseconds, "registers": 16, "stream": 7}


def asked(
    folder: Path,
    *launches: dict[str, Any],
    source: str = SOURCE,
    compiled: tuple[str, ...] = (),
    claimed: int = 4096,
    without: tuple[bool, bool] | None = None,
    ratio: bool = False,
    others: dict[int, str] | None = None,
    **event: Any,
) -> Finding:
    (folder / "claimed.cu").write_text(source)
    call = Call({"returned": "Tensor", "launches": list(launches), **event}, folder / "0.bin")
    case = SimpleNamespace(label="N=4096", shape={"N": 4096}, counts=True)
    made = {
        size: SimpleNamespace(shape={"N": size}, made=Call({"launches": [launch(kernel)]}, folder / "1.bin"))
        for size, kernel in (others or {}).items()
    }
    target = SimpleNamespace(
        largest=case,
        cases=(case, *made.values()),
        is_reference=False,
        built=SimpleNamespace(
            traced_memory="traced",
            nan_memory="poison_nan",
            tensor_device="cuda" if without is None else "cpu",
            checks_accesses=True,
            defines=lambda kernel: kernel in compiled,
            note=SimpleNamespace(optimisation="O2"),
        ),
        compared=lambda _, asked: SimpleNamespace(right=without and without[asked is not case]),
        claim=SimpleNamespace(
            shapes=SimpleNamespace(claimed={"N": claimed}, others=[{"N": size} for size in made], module=()),
            speedup=["a ratio"] if ratio else [],
        ),
        reference=folder / "reference.py",
        variant=SimpleNamespace(file="claimed.cu", name="claimed"),
        call=lambda case, mode: call,  # noqa: ARG005
        calls=lambda cases, mode: [getattr(one, "made", call) for one in cases],  # noqa: ARG005
    )
    return ask(kernels_ran, cast(Target, target))


def test_own_kernels_beside_a_librarys_pass_with_their_share(tmp_path: Path) -> None:
    filled = launch("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>", 9.0)
    found = asked(tmp_path, launch(LIBRARY, 1.0), launch("scale(float*)", 19.0), filled)
    assert found.outcome == "pass"
    assert "launches of the source's own kernels: 1 of 3, 95.0 % of the GPU time" in found.summary
    assert found.evidence["own_share"] == 0.95


@pytest.mark.parametrize(
    ("ratio", "elsewhere", "grade"),
    [(False, "scale(float*)", "hint"), (True, "scale(float*)", "proved"), (False, LIBRARY, "proved")],
)
def test_a_claim_without_a_ratio_may_use_its_kernels_at_some_of_its_shapes(
    ratio: bool, elsewhere: str, grade: str, tmp_path: Path
) -> None:
    found = asked(tmp_path, launch(LIBRARY), ratio=ratio, others={32: elsewhere, 64: LIBRARY})
    assert (found.outcome, found.grade) == ("fail", grade)
    assert ("none of the source's kernels (scale); it does at N=32, which the claim" in found.summary) == (
        grade == "hint"
    )


@pytest.mark.parametrize(("librarys", "share"), [(1.0, "75.0"), (297.0, "1.0")])
def test_a_library_that_takes_a_tenth_of_the_time_is_a_hint(tmp_path: Path, librarys: float, share: str) -> None:
    found = asked(tmp_path, launch(LIBRARY, librarys), launch("scale(float*)", 3.0))
    assert (found.outcome, found.grade) == ("fail", "hint")
    assert f"1 of 2, {share} % of the GPU time; a library's took the rest" in found.summary


@pytest.mark.parametrize("kernel", ["void cub::DeviceReduceKernel<float>(float*)", "made_by_a_macro(float*)"])
def test_what_the_library_of_the_source_defines_is_its_own(tmp_path: Path, kernel: str) -> None:
    assert asked(tmp_path, launch(kernel), compiled=(kernel,)).outcome == "pass"
    assert asked(tmp_path, launch(kernel)).fails_kernel


@pytest.mark.parametrize(
    ("condition", "grade"), [("n < 1024", "hint"), ("n == LIMIT", "hint"), ("n > 0", "proved"), ("n < m", "proved")]
)
def test_a_smaller_shape_proves_nothing_where_sizes_are_compared(tmp_path: Path, condition: str, grade: str) -> None:
    source = SOURCE.replace("{ scale<<<", f"{{ int n = size(x); if ({condition}) return library(x); scale<<<")
    assert asked(tmp_path, launch(LIBRARY), source=source, claimed=8192).grade == grade
    assert asked(tmp_path, launch(LIBRARY), source=source, claimed=4096).grade == "proved"


def test_a_source_whose_kernels_never_ran_is_failed(tmp_path: Path) -> None:
    found = asked(tmp_path, launch(LIBRARY))
    assert found.fails_kernel
    assert "none of the source's kernels ran (scale); launches of others: 1" in found.summary


@pytest.mark.parametrize(
    ("kernels", "outcome", "words"),
    [
        (
            [],
            "fail",
            "N=8192, the claimed shape: the host code launches none of the source's kernels (scale), nor",
        ),
        ([LIBRARY], "fail", "launches none of the source's kernels (scale)"),
        ([LIBRARY, "scale(float*)"], "pass", "N=8192, the claimed shape: 1 of 2 do"),
    ],
)
def test_launches_at_the_claimed_shape_decide_where_a_smaller_one_ran_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernels: list[str], outcome: str, words: str
) -> None:
    there = Launched({"N": 8192}, None, [launch(kernel) for kernel in kernels], [])
    monkeypatch.setattr(claimed_shape, "needed", lambda _: there.shape)
    monkeypatch.setattr(claimed_shape, "launched", lambda *_: [there])
    found = asked(tmp_path, claimed=8192)
    assert (found.outcome, found.claimed, found.fails_kernel) == (outcome, True, outcome == "fail")
    assert words in found.summary


def test_a_result_that_is_no_tensor_may_launch_when_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = Launched({"N": 8192}, None, [], [], tensors=False)
    monkeypatch.setattr(claimed_shape, "needed", lambda _: lazy.shape)
    monkeypatch.setattr(claimed_shape, "launched", lambda *_: [lazy])
    assert asked(tmp_path, launch("scale(float*)"), claimed=8192).outcome == "pass"


def test_a_refused_launch_did_not_run(tmp_path: Path) -> None:
    assert asked(tmp_path, launch("scale(float*)") | {"refused": "invalid argument"}).fails_kernel


def test_a_source_that_launches_nothing_is_failed(tmp_path: Path) -> None:
    found = asked(tmp_path, launch(LIBRARY), source="at::Tensor forward(at::Tensor x) { return at::relu(x); }\n")
    assert found.fails_kernel
    assert "the source has no kernel of its own; 1 launches of a library's did the work" in found.summary


@pytest.mark.parametrize("line", ['#include "own.cuh"', "cuLaunchKernel(f, 1);", "#define RUN(k) k<<<1, 1>>>()"])
def test_a_source_that_may_launch_what_it_does_not_show_is_a_hint(tmp_path: Path, line: str) -> None:
    found = asked(tmp_path, launch(LIBRARY), source=f"{line}\nint forward() {{ return 0; }}\n")
    assert (found.outcome, found.grade) == ("fail", "hint")


def test_a_device_without_times_tells_no_share(tmp_path: Path) -> None:
    found = asked(tmp_path, launch("scale", None))
    assert (found.outcome, found.evidence["own_share"]) == ("pass", None)
    assert "%" not in found.summary


def test_a_call_that_raised_answers_nothing(tmp_path: Path) -> None:
    with pytest.raises(SessionBroken, match="CUDA error"):
        asked(tmp_path, raised="AcceleratorError: CUDA error: an illegal memory access was encountered")


@pytest.mark.parametrize(
    ("kernel", "own"),
    [
        ("scale(float*)", True),
        ("void (anonymous namespace)::scale<float, 256>(float*)", True),
        ("scale<T, 256>", True),
        ("scale", True),
        ("void upscale<float>(float*)", False),
        ("scale_functor(float*)", False),
        (LIBRARY, False),
    ],
)
def test_names_are_matched_whole(kernel: str, own: bool) -> None:
    assert own_kernels.is_one_of(kernel, ["scale"]) is own


@pytest.mark.parametrize("telling", [(), ("telling",)], ids=["no other inputs", "inputs that tell"])
def test_a_result_that_is_right_without_its_kernels_is_the_librarys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, telling: tuple[str, ...]
) -> None:
    varied = [SimpleNamespace(group=DISCRIMINATING, case=one) for one in telling]
    monkeypatch.setattr(kernels_ran, "wanted", lambda _: SimpleNamespace(middle=None))
    monkeypatch.setattr(kernels_ran, "trusted", lambda *_: varied)

    def found(*wrong: str) -> Finding:
        return asked(tmp_path, launch("scale", None), without=("N=4096" not in wrong, "telling" not in wrong))

    assert found().fails_kernel
    assert "right at every shape without its own launches (1)" in found().summary
    assert found("N=4096").outcome == "pass"
    assert found("telling").fails_kernel is not bool(telling)  # a filled result may be right at the task's own inputs
