"""Triton's front end on kernels that its interpreter takes, for a GPU that is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from audit.build.emulated.device import EmulatedDevice
from audit.build.settings import EmulatedPythonSettings
from audit.model import Harness, Variant
from audit.probes.observing.triton_compiles import counts
from audit.run.messages.requests import Launches
from audit.run.processes.pool import Workers
from tests.run.test_python_session import REFERENCE
from tests.run.test_python_triton import CONFIGS, LAUNCH, STORE, source

BREAK = f"for k in range(2):\n        {STORE}\n        break"
LOOP = "total = 0\n    for k in range(0, 2):\n        total = total + tl.load(x + index, mask=index < n)\n    "


def reports(workers: Workers, folder: Path, text: str) -> list[dict[str, Any]]:
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "claimed.py").write_text(text)
    torch.save([torch.zeros(()).expand(6)], folder / "0.pt")
    built = EmulatedDevice().build(
        folder / "claimed.py", Variant(file="claimed.py", role="claimed", technique="t"), optimisation="O2"
    )
    settings = built.settings(memory="poison_nan", order="forward", check=False)
    assert isinstance(settings, EmulatedPythonSettings)
    configuration = settings.configuration.model_copy(update={"blocks": 0, "compute_capability": 90, "compiles": True})
    request = Launches(
        device=settings.model_copy(update={"configuration": configuration}),
        entry="forward",
        harness=Harness(),
        inputs=(folder / "0.pt",),
        folder=folder,
        described=True,
    )
    reply = workers.call(request, limit_s=60)
    assert reply.finished, reply.detail
    return list(reply.events[0]["reports"])


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (source(LAUNCH.replace("block=4", "block=6")), 8, "arange's range must be a power of 2"),
        (source(LAUNCH).replace(STORE, BREAK), 11, "AST node type: Break"),
        (source(LAUNCH).replace(STORE, LOOP + STORE), 10, "Loop-carried variable total has initial type int32"),
        (source(LAUNCH).replace(STORE, f"try:\n        {STORE}\n    finally:\n        pass"), 9, "AST node type: Try"),
        (source(LAUNCH).replace(STORE, "tl.dot(tl.zeros((16, 16), tl.float32), tl.zeros((32, 16), tl.float32))"), 9,
         "equal reduction dimensions"),
        (source(LAUNCH).replace(STORE, f"tl.tanh(1.0)\n    {STORE}"), 9,
         "module 'triton.language' has no attribute 'tanh'"),
    ],
)  # fmt: skip
def test_what_the_compiler_refuses_is_reported_at_its_line(
    workers: Workers, tmp_path: Path, text: str, line: int, said: str
) -> None:
    (report,) = reports(workers, tmp_path, text)
    assert (report["kind"], report["kernel"], report["line"]) == ("triton-refused", "twice", line)
    assert said in report["message"] and counts(report["message"])


@pytest.mark.parametrize(
    "text",
    [
        source(LAUNCH),
        source("twice[(2,)](x, y, x.numel())", f"@triton.autotune([{CONFIGS}], key=['n'])\n"),
        source(LAUNCH).replace(STORE, STORE.replace("2 * ", "tl.sum(index, axis=0) * ")),
    ],
)
def test_what_the_compiler_takes_is_not_reported(workers: Workers, tmp_path: Path, text: str) -> None:
    assert reports(workers, tmp_path, text) == []


@pytest.mark.parametrize("words", ["module 'triton.language' has no attribute 'old'", "type fp8e4nv not supported"])
def test_another_version_or_gpu_may_explain_a_refusal(words: str) -> None:
    assert not counts(words)
