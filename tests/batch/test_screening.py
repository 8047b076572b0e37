"""The stages on claim folders and on rows of a dataset, without a GPU."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import pytest

from audit.apps import cli
from audit.apps.batch import rows, screening, state
from audit.apps.batch.items import Collection, Item
from audit.apps.batch.run import Run
from audit.apps.batch.screening import Screen
from audit.apps.batch.state import ItemState
from audit.model import Finding, Verdict, store
from audit.report.progress import Progress
from audit.review import hints
from tests.batch.made import CLAIMED_FOR, KERNEL, OBSERVED, UNDERLAUNCHED, claim, collection
from tests.datasets.made import archived, lines

pytestmark = pytest.mark.audits

FUNCTIONAL = """import torch
def module_fn(x):
    return 2 * x
class Model(torch.nn.Module):
    def forward(self, x, fn=module_fn):
        return fn(x)
N = 600
def get_inputs():
    return [torch.randn(N)]
def get_init_inputs():
    return []
"""

LINT, REVIEW, *_ = screening.STAGES


def ran(collection: Collection, out: Path, *stages: Screen) -> Run:
    run = Run(collection, out, resume=False, progress=Progress(io.StringIO()))
    run.run(stages)
    return run


def test_a_collection_goes_through_every_stage_without_a_gpu(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, out = tmp_path / "many", tmp_path / "out"
    claim(root, "right")
    claim(root, "wrong", source=UNDERLAUNCHED)
    claim(root, "impossible", more=CLAIMED_FOR + OBSERVED)
    claim(root, "no_claim", role="known_good")
    (claim(root, "broken") / "claim.toml").write_text("name = 3")
    bad = claim(root, "a_bad") / "claim.toml"
    bad.write_text(bad.read_text().replace("claimed.cu", f"{'x' * 300}.cu"))  # no file system takes such a name
    assert cli.main(["batch", str(root), "--screen", "--out", str(out), "--device", "emulated", "--seed", "7"]) == 3
    known = {path.stem: state.read(ItemState, path) for path in (out / "items").iterdir()}
    ends = {name: (one.last.stage, one.last.outcome, one.last.verdict) for name, one in known.items() if one.last}
    assert ends == {
        "right": ("emulated", "passed on", "no defect found"),
        "wrong": ("emulated", "settled", "wrong"),
        "impossible": ("lint", "settled", "impossible time"),
        "no_claim": ("lint", "left out", "cannot be audited"),
        "broken": ("notebook", "bad input", ""),
        "a_bad": ("notebook", "bad input", ""),
    }
    assert known["a_bad"].last is not None
    assert "File name too long" in known["a_bad"].last.reason
    assert store.read(out / "records" / "wrong" / "emulated" / "record.json").verdict.name == "wrong"
    assert (out / "summary.html").is_file()
    capsys.readouterr()
    assert cli.main(["batch", str(root), "--screen", "--out", str(out), "--device", "emulated"]) == 2
    assert "--resume" in capsys.readouterr().err
    assert cli.main(["batch", str(root), "--screen", "--out", str(out), "--device", "emulated", "--resume"]) == 3
    resumed = capsys.readouterr().out
    assert "lint     0 of 6 items" in resumed
    assert "emulated 0 of 6 items" in resumed


def test_hints_are_counted_and_settle_nothing(tmp_path: Path) -> None:
    claim(tmp_path, "claimed", source=KERNEL.replace("return y;", "x.mul_(2); return y;"))
    run = ran(collection(tmp_path), tmp_path / "out", REVIEW)
    (one,) = run.items.values()
    assert one.state == "passed on"
    assert one.hints == 1  # it writes to its input
    assert one.last is not None
    assert "writes_input" in " ".join(one.last.reasons)


@pytest.mark.parametrize(
    ("limit", "value", "file", "text", "why"),
    [
        ("SECONDS", 1, "claimed.py", f"x = [{'1,' * 200_000}]", "it takes more than 1 s"),
        ("BYTES", 200 << 20, "claimed.cu", "(" * 1_500_000, "its process ended with code"),
    ],
)  # fmt: skip
def test_a_source_past_a_limit_of_the_review_says_so_and_the_others_are_reviewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, file: str, text: str, why: str
) -> None:
    statement = claim(tmp_path, "a") / "claim.toml"
    other = claim(tmp_path, "b", source=text)
    (other / "claim.toml").write_text(statement.read_text().replace("claimed.cu", file))
    (other / file).write_text(text)
    monkeypatch.setattr(hints, limit, value)
    reviewed = ran(collection(tmp_path), tmp_path / "out", REVIEW).items
    assert {one.state for one in reviewed.values()} == {"passed on"}
    reasons = [one.last.reason for one in reviewed.values() if one.last]
    assert reasons[0] == ""
    assert reasons[1].startswith(f"the source could not be reviewed: {why}")


@pytest.mark.parametrize(
    ("verdict", "outcome", "word"),
    [
        (Verdict(name="wrong", reasons=("r",)), "settled", "wrong"),
        (Verdict(name="vacuous", reasons=("r",)), "settled", "vacuous"),
        (Verdict(name="no defect found", missing=("a time: none",)), "passed on", "no defect found"),
        (Verdict(name="cannot be built"), "settled", "cannot be built"),
        (Verdict(name="undefined"), "settled", "undefined"),
        (Verdict(name="undecided", missing=("current_stream, skipped here: x",)), "no answer", "needs a GPU"),
        (Verdict(name="undecided", missing=("a time: none",)), "no answer", "needs a GPU"),
        (Verdict(name="undecided", missing=("agreement: not asked",)), "no answer", "needs an answer of agreement"),
        (Verdict(name="undecided", missing=("a build: does not compile",)), "no answer", "needs a build"),
        (Verdict(name="undecided", missing=("agreement: the task as read fails its own reference",)), "no answer",
         "needs a task that its own reference passes"),
    ],
)  # fmt: skip
def test_only_what_rests_on_proof_settles(verdict: Verdict, outcome: str, word: str) -> None:
    attempt = screening.of_verdict(verdict, ())
    assert (attempt.outcome, attempt.verdict) == (outcome, word)


def test_races_and_hints_are_counted_beside_what_passed() -> None:
    of = partial(Finding, probe="order", target="claimed", device="emulated", summary="s")
    findings = [of(outcome="pass"), of(outcome="pass"), of(outcome="fail", grade="hint"), of(outcome="skip"),
                of(outcome="fail", grade="undefined", claimed=False)]  # fmt: skip
    attempt = screening.of_verdict(Verdict(name="no defect found"), findings)
    assert attempt.reason.endswith("emulated device: 2 passed, 1 graded undefined, 1 graded hint, 1 skipped")


def test_rows_that_claim_nothing_are_left_out_and_others_become_claims(tmp_path: Path) -> None:
    task = {"PyTorch_Code_Functional": FUNCTIONAL, "Op_Name": "twice"}
    given = [
        archived(2.0, CUDA_Code=KERNEL, Kernel_Name="a", **task),
        archived(3.0, CUDA_Code=KERNEL, Kernel_Name="b", **task),
        archived(3.0, CUDA_Code=KERNEL + "//", Kernel_Name="c", Correct=False, **task),
        archived(3.0, CUDA_Code=None, Kernel_Name="d", **task),
        archived(0.01, CUDA_Code=KERNEL + "// e", Kernel_Name="e", **task),
        archived(3.0, CUDA_Code=KERNEL + "// f", Kernel_Name="f"),
        archived(-1.0, CUDA_Code=KERNEL + "// g", Kernel_Name="g", **task),
    ]
    path, folder = lines(tmp_path / "rows.jsonl", given), tmp_path / "made"
    known = collection(path, gpu="H100")
    found = [one.known.verdict if one.known else "" for one in known.items]
    assert found == ["", rows.COPY, rows.NO_CLAIM, rows.NO_CODE, rows.IMPOSSIBLE, ""]
    assert any("1 of 7 rows were left out" in note for note in known.notes)
    run = ran(known, tmp_path / "out", LINT, REVIEW)
    last = [one.last.outcome if one.last else "" for one in run.items.values()]
    assert last == ["passed on", "left out", "left out", "left out", "settled", "left out"]
    assert [one.name for one in folder.iterdir()] == ["rows_jsonl_000001"]
    assert (folder / "rows_jsonl_000001" / "claimed.cu").read_text() == KERNEL


def test_a_row_without_its_task_says_what_is_missing(tmp_path: Path) -> None:
    path = lines(tmp_path / "rows.jsonl", [archived(3.0, CUDA_Code=KERNEL)])
    (passage,) = (one.last for one in ran(collection(path), tmp_path / "out", LINT).items.values())
    assert passage is not None
    assert "PyTorch_Code_Functional" in passage.reasons[0]


def test_a_row_that_changes_is_another_item(tmp_path: Path) -> None:
    def only(kernel: str) -> Item:
        path = lines(tmp_path / "rows.jsonl", [archived(3.0, CUDA_Code=kernel)])
        return collection(path).items[0]

    assert only(KERNEL).sha256 != only(UNDERLAUNCHED).sha256
