"""Audits of tasks that were read wrongly: the reference fails them too, so nothing is said of the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.audit import Audit
from audit.build.emulated.device import EmulatedDevice
from audit.model import Finding, Record
from audit.model.errors import BadInput
from audit.probes.observing import own_reference
from audit.report.progress import Progress
from audit.run.processes.pool import Workers
from tests.small_claim import CLAIM

pytestmark = pytest.mark.audits

PRODUCT = """
import torch

def inputs(shape, generator):
    return [torch.randn(shape["N"], shape["N"], generator=generator) for _ in range(2)]

def reference(a, b):
    return {a} @ b

def oracle(a, b):
    return a.double() @ b.double()

def cost(shape):
    return {"flops": 2.0 * shape["N"] ** 3, "bytes": 12.0 * shape["N"] ** 2}
"""
ROUNDING = PRODUCT.replace("{a}", "a.bfloat16().float()")
"""A reference of eight bits, where the tolerance of the claim allows float32 only."""
SOUND = PRODUCT.replace("{a}", "a")
MODULE = """
from pathlib import Path
from audit.run.imported_task import ModuleTask

TASK = ModuleTask(Path(__file__).with_name("original") / "task.py")
inputs, reference, oracle, cost = TASK.inputs, TASK.reference, TASK.oracle, TASK.cost
"""
DROPPING = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(24))
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(x * self.weight)

N = 33

def get_inputs():
    return [torch.randn(N, 24)]

def get_init_inputs():
    return []
"""


def audited(folder: Path, workers: Workers, *, reference: str, claimed: str, harness: str = "") -> Record:
    claim = folder / "claim"
    (claim / "original").mkdir(parents=True)
    (claim / "original" / "task.py").write_text(DROPPING)
    (claim / "reference.py").write_text(reference)
    (claim / "claimed.py").write_text(claimed)
    (claim / "claim.toml").write_text(CLAIM.format(harness=harness))
    with Audit(
        claims.load(str(claim)), EmulatedDevice(), folder / "out", workers=workers, progress=Progress()
    ) as audit:
        for stage in (audit.prepare, audit.build, audit.verify, audit.judge):
            stage()
    return audit.record


def about(record: Record) -> dict[str, Finding]:
    return {finding.probe: finding for finding in record.findings if finding.target == "claimed"}


def test_a_tolerance_that_the_reference_misses_says_nothing_of_the_kernel(tmp_path: Path, workers: Workers) -> None:
    claimed = "def forward(a, b): return a.bfloat16().float() @ b"
    record = audited(tmp_path, workers, reference=ROUNDING, claimed=claimed)
    assert (record.verdict.name, record.verdict.reasons) == ("undecided", (own_reference.FAILS,))
    result = about(record)["agreement"]
    assert result.outcome == "error"
    assert "elements wrong" in result.summary
    assert result.summary.endswith("correct tolerance.relative in claim.toml; nothing is concluded")
    assert any(own_reference.FAILS in line for line in record.verdict.missing)


def test_a_kernel_is_wrong_by_the_probes_that_its_reference_stands(tmp_path: Path, workers: Workers) -> None:
    """It never reads the second input, which the reference does."""
    claimed = "import torch\ndef forward(a, b): return a @ torch.ones_like(b)"
    record = audited(tmp_path, workers, reference=ROUNDING, claimed=claimed)
    assert record.verdict.name == "wrong"
    assert about(record)["agreement"].outcome == "error"
    assert about(record)["dead_inputs"].fails_kernel


def test_a_wrong_kernel_of_a_sound_task_is_wrong(tmp_path: Path, workers: Workers) -> None:
    record = audited(tmp_path, workers, reference=SOUND, claimed="def forward(a, b): return a @ b + 0.1")
    assert record.verdict.name == "wrong"
    assert about(record)["agreement"].fails_kernel


@pytest.mark.parametrize(
    ("mode", "name", "reason"),
    [("train", "undecided", own_reference.FAILS), ("eval", "no defect found", "right in every question")],
)
def test_a_module_is_asked_in_the_mode_of_the_harness(
    mode: str, name: str, reason: str, tmp_path: Path, workers: Workers
) -> None:
    """In training half of the values are dropped at random, by the reference as by the kernel."""
    claimed = DROPPING.replace("class Model", "class ModelNew")
    record = audited(tmp_path, workers, reference=MODULE, claimed=claimed, harness=f'mode = "{mode}"')
    assert record.verdict.name == name
    assert record.verdict.reasons[0].startswith(reason)
    found = about(record)["agreement"]
    assert found.outcome == ("pass" if mode == "eval" else "error")
    assert ("correct harness.mode in claim.toml" in found.summary) == (mode == "train")


@pytest.mark.parametrize("leaves", ["import sys\nsys.exit(0)\n", "import os\nos._exit(0)\n"])
def test_who_ends_the_process_is_named(leaves: str, tmp_path: Path, workers: Workers) -> None:
    ended = "the process ended itself with exit code 0"
    record = audited(tmp_path, workers, reference=SOUND, claimed=f"{leaves}def forward(a, b): return a @ b")
    assert record.verdict.name == "undecided"
    assert f"claimed.py: ended after 0 of 1 calls: {ended}" in about(record)["contract"].summary
    (tmp_path / "other").mkdir()
    with pytest.raises(BadInput, match=rf"claim/reference\.py: ended: {ended}"):
        audited(tmp_path / "other", workers, reference=leaves + SOUND, claimed="def forward(a, b): return a @ b")


INTO = """
import torch

def inputs(shape, generator):
    a, b = (torch.randn(shape["N"], shape["N"], generator=generator) for _ in range(2))
    return [a, b, torch.zeros(shape["N"], shape["N"], dtype=torch.float64)]

def reference(a, b, into):
    return a @ b

def oracle(a, b, into):
    return a.double() @ b.double()

def cost(shape):
    return {"flops": 2.0 * shape["N"] ** 3, "bytes": 12.0 * shape["N"] ** 2}
"""
HANDED = ("contract", "alias", "inputs_intact")


@pytest.mark.parametrize("returned", ["into", "None"])
def test_a_destination_that_the_harness_hands_over_is_the_results_own_memory(
    returned: str, tmp_path: Path, workers: Workers
) -> None:
    claimed = f"def forward(a, b, into):\n    into.copy_(a @ b)\n    return {returned}"
    record = audited(tmp_path, workers, reference=INTO, claimed=claimed, harness="destination = 2")
    assert record.verdict.name == "no defect found"
    assert {about(record)[probe].outcome for probe in HANDED} == {"pass"}


def test_a_result_in_an_input_that_is_no_destination_is_wrong(tmp_path: Path, workers: Workers) -> None:
    claimed = "def forward(a, b, into):\n    into.copy_(a @ b)\n    return into.float()"
    record = audited(tmp_path, workers, reference=INTO, claimed=claimed)
    assert record.verdict.name == "wrong"
    assert about(record)["inputs_intact"].fails_kernel


def test_another_input_is_no_destination(tmp_path: Path, workers: Workers) -> None:
    claimed = "def forward(a, b, into):\n    return b.copy_(a @ b)"
    record = audited(tmp_path, workers, reference=INTO, claimed=claimed, harness="destination = 2")
    assert record.verdict.name == "wrong"
    assert "the call changed input 1" in about(record)["inputs_intact"].summary
