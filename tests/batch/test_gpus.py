"""Audits that share GPUs: several at work on each, one of them at a time using it."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from pathlib import Path

import pytest

from audit.apps.batch.items import Reader
from audit.apps.batch.jobs import LocalJobs
from audit.apps.batch.notebooks import Notebooks
from audit.apps.batch.run import Run, held
from audit.report.progress import Progress
from tests.batch import made, tiny
from tests.batch.made import Answering

NAMES = ("turns1", "turns2", "turns3", "turns4", "turns5")


def test_each_gpu_has_one_user_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark, notebook = tmp_path / "mark", tiny.notebook(tmp_path / "tiny.ipynb")
    mark.mkdir()
    monkeypatch.setenv(tiny.MARK, str(mark))
    for name in NAMES:
        made.claim(tmp_path / "claims", name)
    items = Reader(notebook, {"seconds": 0.0}, tmp_path).read([str(tmp_path / "claims")])
    with held(tmp_path / "out") as hold:
        engine = LocalJobs(jobs=4, gpus=("0", "1"), locks=tmp_path / "out", held=hold.descriptor)
        printed = io.StringIO()
        lint = Answering("lint", {NAMES[-1]: "impossible time"})
        Run(items, tmp_path / "out", resume=False, progress=Progress(io.StringIO())).run([lint.stage])
        run = Run(items, tmp_path / "out", resume=True, progress=Progress(printed))
        try:
            run.run([lint.stage, Notebooks(tmp_path / "out", notebook, "cuda", 60.0, engine)])
        finally:
            engine.close()
    uses = sorted(tuple(json.loads((mark / name).read_text())) for name in NAMES[:-1])
    assert {gpu for gpu, _, _ in uses} == {"0", "1"}
    for (gpu, _, ends), (other, begins, _) in pairwise(uses):
        assert gpu != other or ends <= begins
    assert all(line in printed.getvalue() for line in ("lint     0 of 5 items", "notebook 4 of 5 items"))
    assert {name: state.state for name, state in run.items.items()} == {
        **dict.fromkeys(NAMES, "finished"),
        NAMES[-1]: "settled",  # by a stage before, so that no notebook asks about it
    }
