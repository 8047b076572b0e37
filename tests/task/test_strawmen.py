"""Which tasks can tell a right result from one that nobody computed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import torch

from audit import claims, task
from audit.model import Claim, Finding
from audit.probes.called import Case
from audit.probes.target import Target
from audit.worker.pool import Workers

REFERENCE = """
import torch

def inputs(shape, generator):
    return [torch.randn(shape["N"], shape["N"], generator=generator)]

def oracle(x):
    x = x.double()
    return {result}

def reference(x):
    return oracle(x).float()
"""


def asked(folder: Path, workers: Workers, result: str, more: str = "") -> Finding:
    reference, inputs = folder / "reference.py", folder / "0.inputs.pt"
    reference.write_text(REFERENCE.format(result=result) + more)
    x = torch.randn(40, 40, generator=torch.Generator().manual_seed(3))
    torch.save([x], inputs)
    namespace: dict[str, object] = {}
    exec(reference.read_text(), namespace)
    expected = namespace["oracle"](x).numpy()  # type: ignore[operator]
    case = Case({"N": 40}, inputs, np.asarray(expected, dtype=np.float64), "float32")
    claim: Claim = claims.load("triangular_mm").claim
    built = SimpleNamespace(tensor_device="cpu")
    target = SimpleNamespace(claim=claim, cases=(case,), workers=workers, reference=reference, built=built)
    return task.finding(cast(Target, target))


def test_a_product_can_tell(tmp_path: Path, workers: Workers) -> None:
    found = asked(tmp_path, workers, "x @ x")
    assert found.outcome == "pass"
    assert (found.probe, found.target) == ("task", "triangular_mm")


@pytest.mark.parametrize(
    ("result", "strawmen"),
    [
        ("x * 0", "zeros, constant, previous_output, noise"),
        ("torch.softmax(x.reshape(-1, 1), dim=1)", "constant, previous_output, noise"),
        ("x.clone()", "first_input"),
        ("x.double() * 0 + torch.arange(40).double()", "previous_output"),
    ],
)
def test_a_task_that_cannot_tell_names_what_passes(
    tmp_path: Path, workers: Workers, result: str, strawmen: str
) -> None:
    found = asked(tmp_path, workers, result)
    assert found.convicts
    told, _, more = found.summary.partition(";")
    assert told.endswith(strawmen)
    assert ("everywhere" in more) == ("constant" in strawmen)


def test_discriminating_inputs_tell_what_the_task_cannot(tmp_path: Path, workers: Workers) -> None:
    more = "\ndef discriminating(shape, generator):\n    return [10 + torch.rand(40, 40, generator=generator)]\n"
    found = asked(tmp_path, workers, "torch.relu(x - 9)", more)
    assert found.convicts
    assert found.summary.endswith("with discriminating inputs (N=40) it tells 3 of 3 from a right one")


def test_a_reference_that_breaks_gives_no_answer(tmp_path: Path, workers: Workers) -> None:
    reference = tmp_path / "reference.py"
    found = asked(tmp_path, workers, "x @ x")
    assert found.outcome == "pass"
    reference.write_text("raise RuntimeError('gone')")
    (tmp_path / "none.inputs.pt").touch()
    case = Case({"N": 1}, tmp_path / "none.inputs.pt", np.ones((1, 1)), "float32")
    target = SimpleNamespace(
        claim=claims.load("triangular_mm").claim,
        cases=(case,),
        workers=workers,
        reference=reference,
        built=SimpleNamespace(tensor_device="cpu"),
    )
    again = task.finding(cast(Target, target))
    assert (again.outcome, again.grade) == ("error", None)
    assert "gone" in again.summary
