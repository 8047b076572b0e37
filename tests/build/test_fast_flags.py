"""Published flags reach NVRTC with the same meaning, or are refused by name."""

from __future__ import annotations

import pytest

from audit.build.cuda.fast_host import translated
from audit.build.cuda.fast_toolchain import NotFast


def device(*flags: str) -> tuple[str, ...]:
    return translated(flags, compute_capability=75, standard="c++17").device


def test_the_target_and_torchs_own_flags_are_always_there() -> None:
    assert device()[0] == "--gpu-architecture=sm_75"
    assert "-D__CUDA_NO_HALF_OPERATORS__" in device()
    assert "--std=c++17" in device()


@pytest.mark.parametrize(("portable", "target"), [(False, "sm_90a"), (True, "compute_90")])
def test_a_hopper_is_compiled_for_with_its_own_instructions(portable: bool, target: str) -> None:
    flags = translated((), compute_capability=90, standard="c++17", portable=portable)
    assert flags.device[0] == f"--gpu-architecture={target}"


def test_flags_with_a_twin_are_passed_on() -> None:
    added = device("-O3", "--use_fast_math", "-fmad=false", "-maxrregcount=32", "-Xptxas=-O1")[len(device()) :]
    assert added == ("--use_fast_math", "--fmad=false", "--maxrregcount=32", "--ptxas-options=-O1")


def test_a_published_standard_replaces_torchs() -> None:
    assert [flag for flag in device("-std=c++20") if "std" in flag] == ["--std=c++20"]


def test_macros_reach_both_parts_in_order() -> None:
    flags = translated(("-DTILE=32", "-DFAST", "-U__CUDA_NO_HALF_OPERATORS__"), compute_capability=90, standard="c++17")
    assert flags.device[-3:] == ("-DTILE=32", "-DFAST", "-U__CUDA_NO_HALF_OPERATORS__")
    assert flags.defines == "#define TILE 32\n#define FAST 1\n#undef __CUDA_NO_HALF_OPERATORS__\n"


@pytest.mark.parametrize("flag", ["-G", "-O0", "--default-stream=per-thread", "-rdc=true", "-lcublas", "-made-up"])
def test_a_flag_of_unknown_effect_is_refused(flag: str) -> None:
    with pytest.raises(NotFast, match=f"the flag {flag}"):
        device("-O3", flag)
