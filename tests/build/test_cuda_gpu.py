"""What nvidia-smi says, read as text; no GPU is needed."""

import os
import stat
from pathlib import Path

import pytest

from audit.build.cuda import gpu
from audit.model.errors import BadInput


def test_the_first_gpu_is_described() -> None:
    text = "NVIDIA H100 80GB HBM3, 9.0, 580.159.04, 81559\nTesla T4, 7.5, 580.159.04, 15360\n"
    found = gpu.parse_identity(text, driver_cuda=(13, 0))
    assert (found.name, found.compute_capability, found.version) == ("NVIDIA H100 80GB HBM3", 90, "9.0")
    assert (found.driver, found.memory_mib, found.driver_cuda) == ("580.159.04", 81559, (13, 0))


@pytest.mark.parametrize(("capability", "arch"), [(75, "7.5"), (89, "8.9"), (90, "9.0a"), (100, "10.0")])
def test_the_target_of_a_hopper_has_its_own_instructions(capability: int, arch: str) -> None:
    assert gpu.Gpu("", capability, "", 0, None).arch == arch


@pytest.mark.parametrize("text", ["", "No devices were found\n", "Tesla T4, [N/A], 580, 15360", "Tesla T4, 7.5"])
def test_an_answer_without_a_gpu_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="names no GPU"):
        gpu.parse_identity(text, driver_cuda=None)


def test_clocks_power_and_what_slows_the_gpu() -> None:
    result = gpu.parse_state("1980, 2619, 118.53, 34, 0x0000000000000024\n")
    assert (result.sm_mhz, result.memory_mhz, result.power_w, result.temperature_c) == (1980.0, 2619.0, 118.53, 34.0)
    assert result.slowed_by == ("power cap", "software thermal limit")
    assert result.evidence()["slowed_by"] == "power cap, software thermal limit"


def test_an_idle_gpu_is_not_slowed_and_a_missing_number_is_not_zero() -> None:
    result = gpu.parse_state("210, [N/A], [Not Supported], 30, 0x0000000000000001")
    assert (result.memory_mhz, result.power_w, result.slowed_by) == (None, None, ())
    assert result.evidence()["power_w"] is None
    assert result.evidence()["slowed_by"] == "nothing"


def test_an_answer_with_other_fields_is_refused() -> None:
    with pytest.raises(BadInput, match="clocks"):
        gpu.parse_state("1980, 2619")


def program(folder: Path, text: str) -> None:
    file = folder / "nvidia-smi"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def test_no_driver_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match="no NVIDIA driver here"):
        gpu.find()


def test_a_driver_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path, "echo 'NVIDIA-SMI has failed: no driver'; exit 9")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(BadInput, match="NVIDIA-SMI has failed"):
        gpu.find()
    assert gpu.state() is None


def test_the_visible_gpu_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = 'case "$*" in *query*--id=3*) echo "Tesla T4, 7.5, 560.35, 15360";; *query*) exit 4;; '
    program(tmp_path, answer + '*) echo "| NVIDIA-SMI 560.35   CUDA Version: 12.6 |";; esac')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    found = gpu.find()
    assert (found.name, found.driver_cuda) == ("Tesla T4", (12, 6))
