"""The timing process: what it keeps of the samples, and what it says where there is no GPU."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from audit import claims
from audit.measure import OURS
from audit.measure.protocols import ours
from audit.worker import cuda, timing
from audit.worker.device import open_device
from audit.worker.pool import Workers

NO_GPU = not torch.cuda.is_available()
FOLDER = claims.load("triangular_mm")


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(1) as pool:
        yield pool


def request(folder: Path) -> dict[str, Any]:
    torch.save([torch.randn(64, 64).tril() for _ in range(2)], folder / "inputs.pt")
    return {"reference": str(FOLDER.reference), "inputs": str(folder / "inputs.pt"), "protocols": ours()}


@pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")
def test_without_a_gpu_it_says_so(workers: Workers, tmp_path: Path) -> None:
    reply = workers.call("timing", request(tmp_path), limit_s=60.0)
    assert (reply.ending, reply.events) == ("raised", ())
    assert "sees no CUDA GPU; use --device emulated" in reply.detail


@pytest.mark.skipif(NO_GPU, reason="needs a GPU: the baselines run on it")
def test_the_baselines_are_timed(workers: Workers, tmp_path: Path) -> None:
    reply = workers.call("timing", request(tmp_path), limit_s=300.0)
    timed = {event["variant"] for event in reply.events if event["protocol"] == OURS}
    assert {"baseline:eager", "baseline:eager_tf32"} <= timed
    assert all(sample > 0 for event in reply.events for sample in event["samples_ms"])


def test_samples_are_thinned_evenly_and_in_order() -> None:
    assert timing.evenly([0.1, 0.2, 0.3]) == [0.1, 0.2, 0.3]
    thinned = timing.evenly([float(index) for index in range(2500)])
    assert len(thinned) <= timing.MOST_SAMPLES
    assert thinned[:3] == [0.0, 3.0, 6.0]
    assert timing.evenly([0.00612345678]) == [0.006123]


@pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")
def test_a_session_on_a_missing_gpu_says_so() -> None:
    with pytest.raises(RuntimeError, match="sees no CUDA GPU"):
        open_device({"kind": "cuda", "library": "m.so", "module": "m", "memory": "plain", "pattern": None})


def test_an_unknown_device_lists_the_known_ones() -> None:
    with pytest.raises(LookupError, match="unknown device tpu; known: cuda, cuda_checked, emulated"):
        open_device({"kind": "tpu"})


def test_a_missing_entry_lists_the_functions_there_are(tmp_path: Path) -> None:
    module = tmp_path / "m.py"
    module.write_text("def backward(x): return x\n")
    with pytest.raises(LookupError, match="no function forward; the extension has: backward"):
        cuda.entry_of(module, "m", "forward")
