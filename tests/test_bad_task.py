"""A task with which nothing can be compared: one sentence that names it, and no kernel is blamed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import torch

from audit import claims
from audit.apps import cli
from audit.run.calls.arguments import named
from audit.run.inputs.problem import Problem
from audit.run.sessions.oracle import load_reference
from tests.small_claim import CLAIM

pytestmark = pytest.mark.audits


def test_a_right_result_without_a_finite_element_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(claims.KERNELS / "cached_results", tmp_path / "cached_results"))
    head, *variants = re.split(r"(?m)^(?=\[\[variant\]\])", (folder / "claim.toml").read_text(encoding="utf-8"))
    (folder / "claim.toml").write_text(head + next(one for one in variants if '"claimed.py"' in one), encoding="utf-8")
    text = (folder / "reference.py").read_text(encoding="utf-8")
    nothing = "\nwas = oracle\n\n\ndef oracle(*all):\n    return was(*all) + float('nan')\n"
    (folder / "reference.py").write_text(text + nothing, encoding="utf-8")
    assert cli.main(["run", str(folder), "--device", "emulated", "--out", str(tmp_path / "out")]) == 2
    result = capsys.readouterr().err
    assert "no element of the float64 result is finite, so nothing can be compared with it" in result
    assert "reference.py" in result
    assert "Traceback" not in result


def test_a_tolerance_of_zero_is_one_and_a_negative_one_is_not(tmp_path: Path) -> None:
    text = (claims.KERNELS / "cached_results/claim.toml").read_text(encoding="utf-8")
    exact = claims.parse(re.sub(r"(?m)^relative = .*", "relative = 0.0", text), "claim.toml")
    assert exact.tolerance.relative == 0.0
    with pytest.raises(claims.BadInput, match=r"key tolerance\.relative"):
        claims.parse(re.sub(r"(?m)^relative = .*", "relative = -1e-3", text), "claim.toml")


POOLED = """
import torch


def inputs(shape, generator):
    return [torch.randn(1, 1, shape["N"], 4, 4, generator=generator).bfloat16()]


def reference(x):
    return torch.nn.functional.avg_pool3d(x, 2)


def oracle(x):
    return reference(x.double())


def cost(shape):
    return {"flops": 0.0, "bytes": 0.0}
"""


def test_a_type_that_torch_lacks_on_the_processor_is_no_fault_of_the_task(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "claim").mkdir()
    files = {
        "claim.toml": CLAIM.format(harness=""),
        "reference.py": POOLED,
        "claimed.py": "def forward(x):\n    return x\n",
    }
    for name, text in files.items():
        (tmp_path / "claim" / name).write_text(text)
    assert cli.main(["run", str(tmp_path / "claim"), "--device", "emulated", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert (
        "torch cannot compute the reference in this type on a processor, so nothing is known about the kernel" in said
    )
    assert "audit it on a GPU, with --device cuda" in said
    problem = Problem(
        load_reference(tmp_path / "claim" / "reference.py"), [torch.ones(1, 1, 2, 2, 2)], {"N": 2}, device="cpu"
    )
    assert problem.implemented
    problem.values[0] = problem.values[0].bfloat16()
    again = Problem(problem.reference, problem.values, {"N": 2}, device="cpu")
    assert not again.implemented, "an audit on a GPU computes it there, however little it is"


TASK = """
import collections

import torch


class Option:
    pass


def inputs(shape, generator):
    return [torch.randn(shape["N"], generator=generator), {given}]


def reference(x, option):
    return x * 2


oracle = reference


def cost(shape):
    return {{"flops": 0.0, "bytes": 0.0}}
"""


def audited(folder: Path, given: str, harness: str = "") -> int:
    folder.mkdir()
    (folder / "claim.toml").write_text(CLAIM.format(harness=harness))
    (folder / "reference.py").write_text(TASK.format(given=given))
    (folder / "claimed.py").write_text("def forward(x, option):\n    return x + x\n")
    return cli.main(["run", str(folder), "--device", "emulated", "--out", str(folder.parent / "out")])


@pytest.mark.parametrize(
    ("given", "kind"),
    [("Option()", "Option"), ("{'mode': [Option()]}", "Option"), ("collections.namedtuple('P', 'x')(1)", "P")],
)
def test_an_option_that_no_session_could_load_is_told_by_its_name(
    given: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audited(tmp_path / "claim", given) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    name = "input_1_option_mode_0" if "mode" in given else "input_1_option"
    assert f"audit: claim/reference.py: {name} is of type {kind}; an argument is a tensor, a number" in said


@pytest.mark.parametrize("given", ["'relu'", "{'mode': ['relu', True, None, 2.5]}", "torch.float16"])
def test_an_option_is_a_number_a_text_or_what_holds_them(given: str, tmp_path: Path) -> None:
    assert audited(tmp_path / "claim", given) == 0


@pytest.mark.parametrize(("key", "stated"), [("destination", "destination = 2"), ("host", "host = [0, 2]")])
def test_a_place_that_no_argument_has_is_one_sentence(
    key: str, stated: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audited(tmp_path / "claim", "2.0", stated) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == f"audit: claim/claim.toml: key harness.{key}: a call has no argument 2; it has 2, counted from 0"


def test_no_sentence_keeps_what_colours_a_terminal() -> None:
    assert named(ValueError("\x1b[1mbold\x1b[0m, plain")) == "ValueError: bold, plain"
