"""The preflight card: what each machine has, and what it means for the claim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from audit import claims
from audit.apps.doctor import Check
from audit.apps.notebook.claim import ClaimForm
from audit.apps.notebook.form import AuditForm
from audit.apps.notebook.preflight import Gpu, Machine, _gpu, card, preflight

T4 = Gpu("Tesla T4", "580.82.07", 75, "SM 585 of 1590 MHz, memory 5000 MHz")
COLAB = Machine(T4, free_bytes=70 << 30, runtime="release-colab-2026.08")
TRIANGULAR = claims.load("triangular_mm")
PYTHON = claims.load("controls_python")


def lines(machine: Machine, claim: claims.ClaimFolder | None = TRIANGULAR) -> dict[str, Check]:
    return {check.name: check for check in card(machine, claim)}


def test_a_t4_in_colab() -> None:
    result = lines(COLAB)
    assert list(result) == ["GPU", "clocks", "disk", "runtime"]
    assert result["GPU"].found == "Tesla T4, compute capability 7.5, driver 580.82.07"
    assert result["GPU"].mark == "--"
    too_new = "wmma_tf32.cu, mma_split.cu, mma_tf32.cu, wgmma_tf32.cu, wgmma_f16.cu, wgmma_split.cu"
    assert result["GPU"].advice == f"a GPU the claim names; not built here, too new for it: {too_new}"
    assert result["disk"].found == "70.0 GiB free"
    assert result["runtime"].found.startswith("release-colab-2026.08, Python 3")


def test_triton_on_a_t4_has_no_tensor_cores() -> None:
    result = lines(COLAB, PYTHON)["Triton"]
    assert result.mark == "--"
    assert "without tensor cores" in result.advice
    ampere = replace(COLAB, gpu=replace(T4, name="NVIDIA A100-SXM4-40GB", compute_capability=80))
    assert lines(ampere, PYTHON)["Triton"].mark == "ok"
    assert "Triton" not in lines(COLAB, TRIANGULAR)


def test_without_a_gpu() -> None:
    result = lines(Machine(None, free_bytes=1 << 30, runtime="not Colab"), PYTHON)
    assert "NOT MEASURED" in result["GPU"].advice
    assert {result[name].mark for name in ("GPU", "disk")} == {"--"}


def test_a_gpu_the_claim_does_not_name() -> None:
    result = lines(replace(COLAB, gpu=replace(T4, name="NVIDIA L40S", compute_capability=89)))["GPU"]
    assert "times here decide no claim" in result.advice


def test_what_nvidia_smi_says() -> None:
    assert _gpu("Tesla T4, 580.82.07, 7.5, 585, 5000, 1590\n") == T4
    assert _gpu(None) is None
    assert _gpu("Tesla T4, 580.82.07, [N/A], 585, 5000, 1590\n") is None


def test_the_card_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    result = preflight(ClaimForm.read(claim="triangular_mm"))
    assert result._repr_markdown_() == str(result)
    rows = result.splitlines()
    assert all(row.count("|") == rows[0].count("|") for row in rows)
    assert {"✓", "⚠", "✗"} >= {row.split("|")[1].strip() for row in rows[2:]}
    assert len(preflight(AuditForm.read()).splitlines()) == len(rows)
