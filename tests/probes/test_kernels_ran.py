"""Whose kernels ran, from the launches a session tells."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from audit.model import Finding
from audit.probes import kernels_ran
from audit.probes.called import Call, SessionBroken
from audit.probes.target import Target

SOURCE = "__global__ void scale(float* x) { x[0] = 1; }\nvoid run(float* x) { scale<<<1, 1>>>(x); }\n"
LIBRARY = "void at::native::vectorized_elementwise_kernel<4, scale_functor>(int)"


def launch(kernel: str, microseconds: float | None = 1.0) -> dict[str, Any]:
    told = {"kernel": kernel, "line": None, "grid": [1, 1, 1], "block": [32, 1, 1], "refused": None}
    return told if microseconds is None else told | {"microseconds": microseconds, "registers": 16, "stream": 7}


def asked(folder: Path, *launches: dict[str, Any], source: str = SOURCE, **event: Any) -> Finding:
    (folder / "claimed.cu").write_text(source)
    call = Call({"returned": "Tensor", "launches": list(launches), **event}, folder / "0.bin")
    target = SimpleNamespace(
        largest=SimpleNamespace(label="N=4096", shape={"N": 4096}),
        built=SimpleNamespace(traced_memory="traced"),
        reference=folder / "reference.py",
        variant=SimpleNamespace(file="claimed.cu", name="claimed"),
        session=lambda runs, *, cases, memory: [call],  # noqa: ARG005
    )
    return kernels_ran.run(cast(Target, target))


def test_own_kernels_beside_a_librarys_pass_with_their_share(tmp_path: Path) -> None:
    found = asked(tmp_path, launch(LIBRARY, 3.0), launch("scale(float*)", 1.0))
    assert found.outcome == "pass"
    assert "1 of 2 launches are of the source's own kernels, 25.0 % of the GPU time" in found.summary
    assert found.evidence["own_share"] == 0.25


def test_a_source_whose_kernels_never_ran_is_convicted(tmp_path: Path) -> None:
    found = asked(tmp_path, launch(LIBRARY))
    assert found.convicts
    assert "none of the source's kernels ran (scale); 1 launches of others did" in found.summary


def test_a_refused_launch_did_not_run(tmp_path: Path) -> None:
    assert asked(tmp_path, launch("scale(float*)") | {"refused": "invalid argument"}).convicts


def test_a_source_that_launches_nothing_is_convicted(tmp_path: Path) -> None:
    found = asked(tmp_path, launch(LIBRARY), source="at::Tensor forward(at::Tensor x) { return at::relu(x); }\n")
    assert found.convicts
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
    assert kernels_ran.is_one_of(kernel, ["scale"]) is own
