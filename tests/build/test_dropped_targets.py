"""Flags for architectures that nvcc no longer has: which they are, and what a build says of them."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from audit.build.cuda.gpu import Gpu
from audit.build.cuda.toolchain import CudaToolchain
from audit.build.python import cuda
from audit.build.python.cuda import may_be_left_out, oldest, parted

NVCC = "nvcc 13.0.88"
SEEN: dict[str, Any] = {"dropped": ["-arch=sm_70"]}


@pytest.mark.parametrize(
    ("flags", "dropped"),
    [
        (["-O3", "-arch=sm_70"], ["-arch=sm_70"]),
        (["-gencode", "arch=compute_70,code=sm_70", "-O3"], ["-gencode arch=compute_70,code=sm_70"]),
        (["-O3", "--generate-code=arch=compute_60,code=[sm_60,compute_60]"], None),
        (["-O3", "-arch=sm_75"], []),
        (["-O3", "-gencode=arch=compute_70,code=sm_90a"], []),
        (["-O3", "-DNAME=sm_70", "-arch=native"], []),
    ],
)
def test_a_flag_is_dropped_if_all_its_architectures_are_older(flags: list[str], dropped: list[str] | None) -> None:
    kept, left_out = parted(flags, 75)
    assert left_out == (flags[1:] if dropped is None else dropped)
    assert kept == (["-O3"] if left_out else flags)
    assert parted(flags, 0) == (flags, [])


def test_nvcc_says_its_oldest_architecture(tmp_path: Path) -> None:
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\necho compute_80\necho compute_75\necho compute_120\n")
    nvcc.chmod(nvcc.stat().st_mode | stat.S_IXUSR)
    assert (oldest(nvcc), oldest(tmp_path / "none")) == (75, 0)


def test_a_claim_for_a_gpu_that_may_be_of_that_architecture_keeps_its_flag() -> None:
    assert may_be_left_out([]) and may_be_left_out(["L40S", "T4", "RTX PRO 6000", "H100"])
    assert not may_be_left_out(["L40S", "Tesla V100-SXM2-16GB"]) and not may_be_left_out(["GTX 1080"])


def test_a_build_without_the_flag_says_so(tmp_path: Path) -> None:
    tools = CudaToolchain(Path("/nowhere"), NVCC, "2.11.0", (13, 0), Path("/nowhere"))
    builder = cuda.PythonBuilder(Gpu("NVIDIA H200", 90, "580", 143771, (13, 0)), tools)
    (tmp_path / cuda.MANIFEST).write_text(json.dumps(SEEN))
    expected = "built for sm_90 without the published -arch=sm_70: an architecture that nvcc 13.0.88 no longer has"
    assert builder._left_out(tmp_path) == expected
    (tmp_path / cuda.MANIFEST).write_text(json.dumps({"dropped": []}))
    assert builder._left_out(tmp_path) == builder._left_out(None) == ""


def test_a_refusal_names_the_flag_and_finds_the_words_of_a_verbose_build() -> None:
    output = "nvcc fatal   : Unsupported gpu architecture 'sm_70'\nTraceback (most recent call last):\n  File ...\n"
    kept = cuda._refusal(SEEN, "Error building extension 'm'", output, left_out=False, nvcc=NVCC)
    assert kept.splitlines() == [
        "error: -arch=sm_70 asks for an architecture that nvcc 13.0.88 no longer has",
        "nvcc fatal   : Unsupported gpu architecture 'sm_70'",
    ]
    other = cuda._refusal({"dropped": []}, "x.cu(3): error: no such name", output, left_out=True, nvcc=NVCC)
    assert other == "x.cu(3): error: no such name"


IN_PLACE_OF_TORCH = """
from torch.utils import cpp_extension
from audit.build.python import cuda

def refuse(*given, **named):
    raise RuntimeError(" ".join(named["extra_cuda_cflags"]))

cpp_extension.load_inline = refuse
cuda.main()
"""


@pytest.mark.parametrize(("leave_out", "passed"), [(True, "-O3"), (False, "-arch=sm_70 -O3")])
def test_the_builder_gets_the_flag_only_where_it_is_kept(*, leave_out: bool, passed: str, tmp_path: Path) -> None:
    text = "from torch.utils.cpp_extension import load_inline as made\n"
    text += "made('m', '', extra_cuda_cflags=['-arch=sm_70', '-O3'])"
    (tmp_path / "claimed.py").write_text(text)
    request = {"source": str(tmp_path / "claimed.py"), "entry": "forward", "init_inputs": [], "oldest": 75,
               "leave_out": leave_out, "folder": str(tmp_path)}  # fmt: skip
    subprocess.run([sys.executable, "-c", IN_PLACE_OF_TORCH, json.dumps(request)], check=False, capture_output=True)
    seen = json.loads((tmp_path / cuda.MANIFEST).read_text())
    assert ([*seen["extensions"].values()], seen["dropped"]) == ([passed], ["-arch=sm_70"])
