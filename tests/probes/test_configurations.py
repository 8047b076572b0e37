"""Each configuration of Triton's autotuner is asked once; a wrong one leaves the verdict open."""

from __future__ import annotations

from pathlib import Path

import pytest

import audit
from audit.judge.evidence import configurations_left
from audit.model import Record
from audit.probes import configurations
from tests.importers import published

pytestmark = pytest.mark.audits

KERNEL = """import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"block": block}) for block in (64, 128, 256)], key=["n"]PRUNED)
@triton.jit
def twice(x, y, n, block: tl.constexpr):
    index = tl.program_id(0) * block + tl.arange(0, block)
    value = tl.load(x + index, mask=index < n)
    tl.store(y + index, value * FACTOR, mask=index < n)


def kernel(x):
    y = torch.empty_like(x)
    twice[lambda meta: (triton.cdiv(x.numel(), meta["block"]),)](x, y, x.numel())
    return y
"""
TASK = """import torch

N = 1000


def reference(x):
    return 2 * x


def get_inputs():
    return [torch.randn(N)]
"""
PRUNED = ", prune_configs_by={'early_config_prune': lambda configs, *_, **__: [one for one in configs if PRUNE]}"


def checked(folder: Path, *, factor: str, pruned: str = "") -> Record:
    text = KERNEL.replace("FACTOR", factor).replace("PRUNED", pruned)
    source = published.write(folder / "s", twice__py=text, task__py=TASK)
    return audit.check(source / "twice.py", source / "task.py", tolerance=1e-5, device="emulated", seed=5)


@pytest.mark.parametrize(
    ("factor", "pruned", "outcome", "verdict", "results"),
    [
        ("2", "", "pass", "no defect found", ["right", "right"]),
        ("(2 if block < 200 else 3)", "", "fail", "undecided", ["right", "wrong"]),
        ("(2 if block < 200 else 3)", "one.kwargs['block'] < 200", "pass", "no defect found", ["right"]),
        ("(3 if block < 100 else 2)", "", "skip", "wrong", None),
    ],
    ids=["right", "one wrong", "the wrong one pruned", "the first wrong"],
)
def test_every_configuration_is_asked(
    tmp_path: Path, factor: str, pruned: str, outcome: str, verdict: str, results: list[str] | None
) -> None:
    record = checked(tmp_path, factor=factor, pruned=PRUNED.replace("PRUNE", pruned) if pruned else "")
    found = next(one for one in record.findings if one.probe == configurations.NAME)
    asked = found.evidence.get("asked")
    assert ([one["result"] for one in asked] if asked else None) == results, found
    assert (found.outcome, record.verdict.name) == (outcome, verdict), (found, record.verdict)
    if outcome == "fail":
        (reason,) = record.verdict.missing
        assert reason.startswith("configurations: N=1000: wrong with 1 of 2 further configurations"), reason
        assert "twice: block=256, num_warps=4, num_stages=3: 1,000 of 1,000 elements wrong" in reason
    assert configurations_left(record.findings) == ([] if results else [("twice", 3)])


def test_a_source_without_an_autotuner_has_none(tmp_path: Path) -> None:
    text = KERNEL.replace("FACTOR", "2").replace("(x, y, x.numel())", "(x, y, x.numel(), block=64)")
    text = "\n".join(line for line in text.splitlines() if "autotune" not in line)
    source = published.write(tmp_path / "s", twice__py=text.replace("meta['block']", "64"), task__py=TASK)
    record = audit.check(source / "twice.py", source / "task.py", tolerance=1e-5, device="emulated", seed=5)
    found = next(one for one in record.findings if one.probe == configurations.NAME)
    assert (found.outcome, found.evidence["of"], record.verdict.name) == ("pass", 0, "no defect found")


@pytest.mark.parametrize(
    ("results", "of", "outcome", "words"),
    [
        (["right", "right"], 3, "pass", "right with each of 2 further configurations that triton.autotune may choose"),
        (["right", "raised"], 9, "pass", "1 further configurations that triton.autotune may choose; 1 more raise"),
        (["right", "wrong"], 5, "fail", "wrong with 1 of 2 further configurations that triton.autotune may choose"),
    ],
)
def test_what_it_concludes(results: list[str], of: int, outcome: str, words: str) -> None:
    asked = [{"configuration": "k: block=64", "result": one, "why": "all wrong"} for one in results]
    answer = configurations.conclude({"shape": {"n": 8}, "of": of, "asked": asked})
    assert (answer.outcome, answer.grade) == (outcome, "hint" if outcome == "fail" else None)
    assert words in answer.summary
    assert ("more were not asked" in answer.summary) is (of > 3)


def test_many_configurations_are_asked_at_equal_distances() -> None:
    assert configurations._spread(4, most=3) == [1, 2, 3]
    assert configurations._spread(101, most=4) == [1, 26, 51, 76]
