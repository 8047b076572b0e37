"""The preflight card: what each machine has, and what it means for the claim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from audit import claims
from audit.apps.doctor import Check
from audit.apps.notebook.claim import ClaimForm
from audit.apps.notebook.form import AuditForm
from audit.apps.notebook.preflight import card, preflight
from audit.build.cuda.gpu import Gpu, GpuState

T4 = Gpu("Tesla T4", 75, "580.82.07", 15360, (13, 0))
CLOCKS = GpuState(585, 5000, 30, 40, ())
TRIANGULAR = claims.load("triangular_mm")
PYTHON = claims.load("controls_python")


def lines(gpu: Gpu | None, claim: claims.ClaimFolder | None = TRIANGULAR, *, free_gib: int = 70) -> dict[str, Check]:
    found = card(gpu, CLOCKS if gpu else None, claim, free_bytes=free_gib << 30)
    return {check.name: check for check in found}


def test_a_t4_in_colab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLAB_RELEASE_TAG", "release-colab-2026.08")
    result = lines(T4)
    assert list(result) == ["GPU", "clocks", "disk", "runtime"]
    assert result["GPU"].found == "Tesla T4, compute capability 7.5, driver 580.82.07"
    assert result["clocks"].found == "SM 585 MHz, memory 5000 MHz"
    assert result["GPU"].mark == "--"
    too_new = "wmma_tf32.cu, mma_split.cu, mma_tf32.cu, wgmma_tf32.cu, wgmma_f16.cu, wgmma_split.cu"
    assert result["GPU"].advice == f"a GPU the claim names; not built here, too new for it: {too_new}"
    assert result["disk"].found == "70.0 GiB free"
    assert result["runtime"].found.startswith("release-colab-2026.08, Python 3")


def test_triton_on_a_t4_has_no_tensor_cores() -> None:
    result = lines(T4, PYTHON)["Triton"]
    assert result.mark == "--"
    assert "without tensor cores" in result.advice
    ampere = replace(T4, name="NVIDIA A100-SXM4-40GB", compute_capability=80)
    assert lines(ampere, PYTHON)["Triton"].mark == "ok"
    assert "Triton" not in lines(T4, TRIANGULAR)


def test_without_a_gpu() -> None:
    result = lines(None, PYTHON, free_gib=1)
    assert "NOT MEASURED" in result["GPU"].advice
    assert {result[name].mark for name in ("GPU", "disk")} == {"--"}


def test_a_gpu_the_claim_does_not_name() -> None:
    result = lines(replace(T4, name="NVIDIA L40S", compute_capability=89))["GPU"]
    assert "times here decide no claim" in result.advice


def test_the_card_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    result = preflight(ClaimForm.read(claim="triangular_mm"))
    assert result._repr_markdown_() == str(result)
    rows = result.splitlines()
    assert all(row.count("|") == rows[0].count("|") for row in rows)
    assert {"✓", "⚠", "✗"} >= {row.split("|")[1].strip() for row in rows[2:]}
    assert len(preflight(AuditForm.read()).splitlines()) == len(rows)
