"""Which tasks can tell a right result from a trivial candidate, at their own inputs or at others made for it."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch

from audit import claims
from audit.model import Claim, Finding, Tolerance
from audit.probes import trivial_candidates
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target
from audit.run.messages.requests import Variations, Vary
from audit.run.messages.results import Results
from audit.run.processes.pool import Workers
from audit.run.sessions.oracle import KINDS

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
LOSS = """
import torch

def inputs(shape, generator):
    return [torch.{drawn}(shape["N"], 400, generator=generator) for _ in range(2)]

def oracle(x, y):
    x, y = x.double(), y.double()
    return {result}

def reference(x, y):
    return oracle(x, y).float()
"""
LOOSE = Tolerance(relative=1e-2, reason="KernelBench's")


def asked(folder: Path, workers: Workers, text: str, *, side: int = 40, tolerance: Tolerance | None = None) -> Finding:
    """What the task stage says of a reference.py of that text at its inputs of that side."""
    reference, inputs = folder / "reference.py", folder / "0.inputs.pt"
    reference.write_text(text)
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    values = namespace["inputs"]({"N": side}, torch.Generator().manual_seed(3))
    torch.save(values, inputs)
    expected = namespace["oracle"](*values).numpy()
    case = Case({"N": side}, inputs, np.asarray(expected, dtype=np.float64), "float32")
    claim: Claim = claims.load("triangular_mm").claim
    claim = claim.model_copy(update={"tolerance": tolerance or claim.tolerance})
    target = SimpleNamespace(
        claim=claim,
        cases=(case,),
        workers=workers,
        reference=reference,
        built=SimpleNamespace(tensor_device="cpu"),
        variant=SimpleNamespace(precision="fp32"),
        relative=lambda _: claim.tolerance.relative,
    )
    return trivial_candidates.finding(cast(Target, target))


def of(result: str, more: str = "") -> str:
    return REFERENCE.format(result=result) + more


@pytest.mark.parametrize(
    "result", ["x @ x", "x.sum()", "x.mean().reshape(1)", "x.argmax(dim=1).double()", "x.softmax(1)", "x.clone()"]
)
def test_a_task_that_can_tell_passes(tmp_path: Path, workers: Workers, result: str) -> None:
    found = asked(tmp_path, workers, of(result))
    assert found.outcome == "pass", found.summary
    assert (found.probe, found.target) == ("task", "triangular_mm")


@pytest.mark.parametrize(
    ("result", "right"),
    [
        ("x * 0", "zeros, constant, previous_output"),
        ("torch.softmax(x.reshape(-1, 1), dim=1)", "constant, previous_output"),
        ("torch.clamp(torch.minimum(x, torch.zeros(())), 0.0, 1.0)", "zeros, constant, previous_output"),
        ("x.double() * 0 + torch.arange(40).double()", "previous_output"),
    ],
)
def test_a_task_that_cannot_tell_at_any_inputs_names_what_passes(
    tmp_path: Path, workers: Workers, result: str, right: str
) -> None:
    found = asked(tmp_path, workers, of(result))
    assert found.fails_kernel
    value, _, more = found.summary.partition(";")
    assert value.endswith(right)
    assert ("everywhere" in more) == ("constant" in right)


@pytest.mark.parametrize(
    ("result", "right"),
    [
        ("torch.relu(x - 9)", "zeros"),  # nothing drawn is that large
        ("torch.relu(x.abs())", None),
        ("torch.minimum(x, x + 1)", None),
        ("torch.maximum(x, -9.0 * torch.ones(()))", "input_0"),  # nothing drawn is that small
    ],
)
def test_inputs_that_tell_are_made_where_the_own_do_not(
    tmp_path: Path, workers: Workers, result: str, right: str | None
) -> None:
    found = asked(tmp_path, workers, of(result))
    if right is None:
        assert found.outcome == "pass"
        return
    assert (found.outcome, found.grade) == ("fail", "hint")
    assert right in found.summary.partition(";")[0]
    assert "with discriminating inputs (N=40) it tells all" in found.summary
    assert found.evidence["discriminating"]


@pytest.mark.parametrize(
    ("drawn", "result"),
    [
        ("randn", "(x - y).square().mean()"),
        ("randn", "1.0 - torch.cosine_similarity(x, y).mean()"),
        ("rand", "torch.nn.functional.binary_cross_entropy(x, y)"),
        ("randn", "torch.logsumexp(x, dim=1).mean() + 0 * y.sum()"),
    ],
)
def test_a_loss_that_is_almost_the_same_for_all_draws_is_told_at_made_inputs(
    tmp_path: Path, workers: Workers, drawn: str, result: str
) -> None:
    found = asked(tmp_path, workers, LOSS.format(drawn=drawn, result=result), side=600, tolerance=LOOSE)
    assert (found.outcome, found.grade) == ("fail", "hint"), found.summary
    assert "constant, previous_output" in found.summary


def test_rows_of_other_sizes_tell_where_every_change_of_all_rows_gives_one_number(
    tmp_path: Path, workers: Workers
) -> None:
    text = of("x.abs().amax(dim=1)").replace('torch.randn(shape["N"], shape["N"]', 'torch.rand(shape["N"], 6400')
    found = asked(tmp_path, workers, text, tolerance=LOOSE)
    assert (found.outcome, found.grade) == ("fail", "hint"), found.summary
    assert "constant, previous_output" in found.summary
    values = torch.load(tmp_path / "0.discriminating.inputs.pt", weights_only=True)
    sizes = values[0].amax(dim=1)
    assert sizes.max() > 50 * sizes.min(), "no change of all rows alike told"


def test_inputs_that_reference_py_offers_come_first(tmp_path: Path, workers: Workers) -> None:
    more = "\ndef discriminating(shape, generator):\n    return [10 + torch.rand(40, 40, generator=generator)]\n"
    found = asked(tmp_path, workers, of("torch.relu(x - 9)", more))
    assert found.grade == "hint"
    values = torch.load(tmp_path / "0.discriminating.inputs.pt", weights_only=True)
    assert 10 <= float(values[0].min()) <= float(values[0].max()) <= 11


def test_made_inputs_are_the_same_for_the_same_draws_and_keep_the_rest(tmp_path: Path) -> None:
    reference, inputs = tmp_path / "reference.py", tmp_path / "0.inputs.pt"
    reference.write_text(
        "import torch\n"
        "def inputs(shape, generator):\n"
        "    return [torch.randn(200, generator=generator).half(), torch.arange(200), 0.5]\n"
        "def oracle(x, i, s):\n    return torch.relu(x.double() - 30) + s + 0 * i\n"
        "def reference(x, i, s):\n    return oracle(x, i, s).half()\n"
    )
    torch.save([torch.randn(200).half(), torch.arange(200), 0.5], inputs)

    def made() -> list[Any]:
        results = Results()
        vary = (Vary(inputs=inputs, shape={"N": 9}, groups=("discriminating", "inputs")),)
        descriptor = os.dup(results.fileno())
        request = Variations(reference=reference, device="cpu", relative=1e-4, vary=vary, results=descriptor)
        events = list(KINDS["variations"](request, None))
        assert [event.get("variation") for event in events[1:]] == [
            "discriminating",
            "input_0_x",
            "input_1_i",
            "input_2_s",
        ]
        assert all(events[1]["trivial"].values())
        assert not all(events[0]["trivial"].values())
        values: list[Any] = torch.load(tmp_path / "0.discriminating.inputs.pt", weights_only=True)
        return values

    one, again = made(), made()
    assert torch.equal(one[0], again[0])
    assert (one[0].dtype, one[2]) == (torch.float16, 0.5)
    assert torch.equal(one[1], torch.arange(200))


def test_a_reference_that_breaks_gives_no_answer(tmp_path: Path, workers: Workers) -> None:
    found = asked(
        tmp_path, workers, of("x @ x", "\nif __name__ == 'claim_reference':\n    raise RuntimeError('gone')\n")
    )
    assert (found.outcome, found.grade) == ("error", None)
    assert "gone" in found.summary
