"""Audits that share GPUs: two at work on each, one of them at a time using it."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from pathlib import Path

import pytest

from audit.apps.batch import collection, parameters
from audit.apps.batch.engine import LocalEngine
from audit.apps.batch.folder import BatchFolder, held
from audit.apps.batch.progress import Told
from audit.apps.batch.run import Batch, Plan
from tests.batch import tiny

NAMES = ("turns1", "turns2", "turns3", "turns4", "turns5")


def test_each_gpu_has_one_user_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark, notebook = tmp_path / "mark", tiny.notebook(tmp_path / "tiny.ipynb")
    mark.mkdir()
    monkeypatch.setenv(tiny.MARK, str(mark))
    for name in NAMES:
        tiny.claim(tmp_path / "claims", name)
    items = collection.items([str(tmp_path / "claims")], known=parameters.defaults(notebook), common={"seconds": 0.0})
    with held(tmp_path / "out", resume=False) as lock:
        engine = LocalEngine(jobs=1, gpus=("0", "1"), locks=tmp_path / "out", held=lock)
        folder = BatchFolder(tmp_path / "out", notebook=notebook)
        printed = io.StringIO()
        plan = Plan(notebook=notebook, device="cuda", limit_s=60.0)
        try:
            assert engine.slots == 4
            Batch(items, plan, engine=engine, folder=folder, told=Told(len(items), stream=printed)).run()
        finally:
            engine.close()
    uses = sorted(tuple(json.loads((mark / name).read_text())) for name in NAMES)
    assert {gpu for gpu, _, _ in uses} == {"0", "1"}
    for (gpu, _, ends), (other, begins, _) in pairwise(uses):
        assert gpu != other or ends <= begins
    assert "[5/5]" in printed.getvalue()
    assert all(entry and entry.state == "finished" for entry in map(folder.entry, items))
