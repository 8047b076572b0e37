"""CUDA-L2 files: the shape in the name, padding, both layouts of B in agreement, and what is no file of the set."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from audit import claims
from audit.build.cuda.compile import checked_flags
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Given
from audit.model.errors import BadInput
from audit.run.imported_functions import col_major
from audit.run.inputs.problem import Problem
from audit.run.sessions.oracle import load_reference
from tests.importers import published

SHAPE = {"M": 16, "N": 8, "K": 24}
TILES = "using namespace cute;\nauto BM = Int<64>{};\nauto BN = Int<8>{};\nauto BK = Int<16>{};\n"


def imported(folder: Path, **files: str) -> Path:
    return writer.write(importers.read([published.write(folder / "source", **files)]), folder / "claim")


def test_the_ratio_of_its_row_is_taken_and_the_gpu_is_named_by_the_function(tmp_path: Path) -> None:
    folder = imported(tmp_path, **published.FORMATS["cuda_l2"])
    claim = claims.load(str(folder)).claim
    assert [(one.gpu, one.ratio) for one in claim.speedup] == [("A100", 1.25)]
    assert dict(claim.speedup[0].shape or {}) == SHAPE and claim.ratios == claim.speedup
    assert claim.variant[0].compute_capability == 80
    assert load_reference(folder / "reference.py").cost(SHAPE) == {"flops": 6144.0, "bytes": 1408.0}


def test_a_ratio_speaks_for_the_shape_of_its_row_alone(tmp_path: Path) -> None:
    source = published.write(tmp_path / "source", **published.FORMATS["cuda_l2"])
    found = importers.read([source], given=Given(shape=(("M", 32),)))
    claim = claims.load(str(writer.write(found, tmp_path / "claim"))).claim
    assert dict(claim.shapes.claimed) == {**SHAPE, "M": 32}
    assert (claim.ratios, claim.other_ratios) == ((), claim.speedup)
    assert dict(claim.speedup[0].shape or {}) == SHAPE


def test_operands_are_padded_to_the_tiles_and_the_result_is_cut(tmp_path: Path) -> None:
    folder = imported(tmp_path, **{"16_8_24__cu": TILES + published.CUDA_L2})
    task = load_reference(folder / "reference.py")
    a, b, turned, c = task.inputs(SHAPE, torch.Generator().manual_seed(1))
    assert [tuple(one.shape) for one in (a, b, turned, c)] == [(64, 32), (32, 8), (32, 8), (64, 8)]
    assert not a[16:].any() and not a[:, 24:].any() and not b[24:].any()
    assert task.oracle(a, b, turned, c).shape == (16, 8)
    assert "c.narrow(0, 0, 16).narrow(1, 0, 8)" in (folder / "claimed.cu").read_text(encoding="utf-8")


def test_baselines_multiply_without_padding_by_both_layouts_of_b(tmp_path: Path) -> None:
    task = load_reference(imported(tmp_path, **{"16_8_24__cu": TILES + published.CUDA_L2}) / "reference.py")
    arguments = task.inputs(SHAPE, torch.Generator().manual_seed(1))
    rows, columns = (task.BASELINES[name](*arguments) for name in ("eager", "cublas_tn"))
    assert rows.shape == (16, 8) and torch.allclose(rows, task.reference(*arguments), rtol=1e-2, atol=1e-2)
    assert torch.equal(rows, columns) and {"cublaslt", "cublaslt_tn"} < {*task.BASELINES}
    arguments[2] = torch.zeros_like(arguments[2])
    assert not task.BASELINES["cublas_tn"](*arguments).any() and task.BASELINES["eager"](*arguments).any()


def test_operators_of_halves_stay_as_the_sets_own_flags_have_it(tmp_path: Path) -> None:
    claim = claims.load(str(imported(tmp_path, **published.FORMATS["cuda_l2"]))).claim
    assert "-U__CUDA_NO_HALF_OPERATORS__" in checked_flags(claim.protocol.flags)


def test_a_changed_operand_changes_both_of_its_layouts(tmp_path: Path) -> None:
    task = load_reference(imported(tmp_path, **published.FORMATS["cuda_l2"]) / "reference.py")
    values = task.inputs(SHAPE, torch.Generator().manual_seed(1))
    problem = Problem(task, values, SHAPE, device="cpu")
    a, b, turned, c = problem.arguments([values[0], values[1] + 1, values[2], values[3]])
    assert torch.equal(turned, col_major(b)) and not torch.equal(turned, values[2])
    assert torch.equal(turned.reshape(8, 24), b.t())
    assert task.oracle(a, b, turned, c).shape == (16, 8)


def test_sums_in_half_precision_are_rounded_often_in_the_reference_alone(tmp_path: Path) -> None:
    text = published.CUDA_L2.replace("cuda_l2_a100_fp32", "cuda_l2_a100_fp16")
    task = load_reference(imported(tmp_path, **{"1_1_4096__cu": text}) / "reference.py")
    ones = torch.ones(1, 4096, dtype=torch.float16)
    arguments = (ones * 0.3, ones.t(), ones.t(), torch.zeros(1, 1, dtype=torch.float16))
    right = task.oracle(*(one.double() for one in arguments)).item()
    assert right == 4096 * (ones[0, 0] * 0.3).item()
    assert task.reference(*arguments).item() not in (right, torch.tensor(right).half().item())


def test_another_name_or_size_is_no_kernel_of_the_set(tmp_path: Path) -> None:
    found = importers.read([published.write(tmp_path / "source", kernel__cu=published.CUDA_L2)])
    assert found.format == "bare_cu" and not found.auditable
    with pytest.raises(BadInput, match=r"0_8_24\.cu: a size of zero"):
        importers.read([published.write(tmp_path / "zero", **{"0_8_24__cu": published.CUDA_L2})])
