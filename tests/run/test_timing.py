"""The timing process: what it can be asked, what it keeps, and what it says where there is no GPU."""

import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch._inductor import config

from audit import claims
from audit.build.settings import CudaLibrary, CudaSettings
from audit.measure.samples import published
from audit.model import Harness
from audit.run.devices import cuda
from audit.run.devices.device import open_device
from audit.run.messages.timing_requests import GRAPHED, Interleaved
from audit.run.processes.pool import Workers
from audit.run.timing import callables, other_clocks, sampling
from audit.run.timing.sampling import makers
from audit.sandbox import policy

NO_GPU = not torch.cuda.is_available()
FOLDER = claims.load("triangular_mm")
SIDE = 64
OWN = ("eager", "eager_tf32", "blocked", "diagonals", "diagonals_tf32", "diagonals_fp16", "diagonals_bf16")


@pytest.fixture
def precision() -> Iterator[Any]:
    """PyTorch's settings of matrix products, as they are in a process in which nobody has changed them."""
    matmul = torch.backends.cuda.matmul
    before = matmul.fp32_precision
    matmul.fp32_precision = "none"
    yield matmul
    matmul.fp32_precision = before


def request(folder: Path, **more: Any) -> Interleaved:
    for place in range(2):
        torch.save([torch.randn(SIDE, SIDE).tril() for _ in range(2)], folder / f"{place}.inputs.pt")
    values = {"baselines": None, "ceilings": False, "relative": {"fp32": 1e-4}, "inductor": folder / "inductor"}
    plan = {"budget_s": 0.5, "half_width": 0.01, "seed": 1, "kept_calls": 1, "profile": 2, "shape": {"N": SIDE}}
    files = {"inputs": tuple(folder / f"{place}.inputs.pt" for place in range(2)), "folder": folder}
    return Interleaved(**{"reference": FOLDER.reference, **values, **plan, **files, **more})


@pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")
def test_without_a_gpu_it_says_so(workers: Workers, tmp_path: Path) -> None:
    reply = workers.call(request(tmp_path), limit_s=60.0)
    assert (reply.ending, reply.events) == ("raised", ())
    assert "sees no CUDA GPU; use --device emulated" in reply.detail


@pytest.mark.skipif(NO_GPU, reason="needs a GPU: the baselines run on it")
def test_the_baselines_are_timed_side_by_side(workers: Workers, tmp_path: Path) -> None:
    reply = workers.call(request(tmp_path), limit_s=300.0)
    assert reply.finished, reply.detail
    cold = {event["variant"]: event for event in reply.events if event.get("how") == "cold"}
    assert {"baseline:eager", "baseline:eager_tf32", "baseline:graph_blocked"} <= set(cold)
    assert all(sample > 0 for event in cold.values() for sample in event["samples_ms"])
    assert [event for event in reply.events if "file" in event]


@pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")
def test_without_a_driver_nothing_is_watched() -> None:
    assert other_clocks.watch("00000000-0000-0000-0000-000000000000") is None


class Driver:
    """The driver's library, whose GPU was busy for those percentages, one a reading, and then for the last one."""

    def __init__(self, *percentages: int) -> None:
        self.left = [*percentages]

    def nvmlDeviceGetUtilizationRates(self, _: Any, found: Any) -> int:  # noqa: N802  # the driver's own name
        if not self.left:
            return 3  # not supported, as for a part of a GPU
        found._obj.gpu = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        return 0


@pytest.mark.parametrize(
    ("percentages", "shared"), [((0,), None), ((99, 40, 3), None), ((80, 61), 61), ((20,), None), ((), None)]
)
def test_a_gpu_is_shared_where_it_is_busy_while_this_process_waits(
    percentages: tuple[int, ...], shared: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_clocks, "IDLE_S", 0.3)
    watch = object.__new__(other_clocks.Watch)
    vars(watch).update(_library=Driver(*percentages), _device=None)
    assert watch.shared() == shared


def test_baselines_are_those_of_the_claim_and_their_graphs() -> None:
    sets = [[torch.randn(4, 4).tril(), torch.randn(4, 4).tril()]]
    reference, names = callables.names(FOLDER.reference, sets)
    assert names == [*OWN, *(f"graph_{name}" for name in OWN)]
    assert torch.equal(callables.baseline("blocked", reference, sets)(0), reference.reference(*sets[0]))
    with pytest.raises(LookupError, match=f"unknown baseline nothing; known: {', '.join(OWN)}, compile"):
        callables.baseline("nothing", reference, sets)


def test_what_was_compiled_ahead_is_loaded_while_precision_is_as_it_was_then(tmp_path: Path, precision: Any) -> None:
    asked = request(tmp_path, compiled=("compile",))
    sets = [[torch.randn(4, 4).tril(), torch.randn(4, 4).tril()]]
    seen = {}
    for name, make in makers(asked, sets):
        seen[name] = precision.fp32_precision
        if name == "baseline:eager_tf32":
            make()(0)
    assert (seen["baseline:compile"], seen["baseline:blocked"]) == ("none", "ieee")


@pytest.mark.parametrize(("closed", "workers"), [(True, 4), (False, 1)])
def test_a_compiler_works_alone_where_its_helpers_would_get_no_gpu(
    closed: bool, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "")  # both are put back after the test
    monkeypatch.setattr(policy, "settings_are_closed", lambda: closed)
    with config.patch(compile_threads=0):
        callables.use_disk_cache(tmp_path / "inductor", workers=4)
        assert config.compile_threads == workers
    assert Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]).parent == tmp_path


def test_convolutions_bring_the_benchmark_of_cudnn(tmp_path: Path) -> None:
    file = tmp_path / "reference.py"
    file.write_text("import torch\ndef reference(x, w): return torch.nn.functional.conv2d(x, w).relu()\n")
    sets = [[torch.randn(1, 1, 8, 8), torch.randn(1, 1, 3, 3)]]
    reference, names = callables.names(file, sets)
    assert names == ["eager", "graph_eager", "cudnn_benchmark_tf32"]
    before = torch.backends.cudnn.benchmark
    assert callables.baseline("cudnn_benchmark_tf32", reference, sets)(0).shape == (1, 1, 6, 6)
    assert torch.backends.cudnn.benchmark == before


ANOTHER = """
def do_bench(fn, warmup, rep, quantiles=None):
    return 1.0
"""
AVERAGED = """
def do_bench(fn, warmup, rep, return_mode="mean"):
    assert return_mode in ["min", "max", "mean", "median"]
"""
OF_TODAY = """
def do_bench(fn, warmup, rep, return_mode="mean"):
    fn()
    return [0.25, 0.5]
"""


def given(source: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts that source in the place of triton.testing; None takes the module away."""
    made = None if source is None else types.ModuleType("triton.testing")
    if made is not None:
        exec(source or "", vars(made))
    monkeypatch.setitem(sys.modules, "triton.testing", made)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (None, "ModuleNotFoundError"),
        (ANOTHER, "TypeError: do_bench() got an unexpected keyword argument 'return_mode'"),
        (AVERAGED, "AssertionError"),
    ],
)
def test_do_bench_that_is_missing_or_another_is_a_skip(
    source: str | None, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(source, monkeypatch)
    (event,) = sampling.by_do_bench({"claim": float}, {}, others=published(timed_mean=False))
    assert event["skipped"] == "triton.testing.do_bench"
    assert event["why"].startswith(why)


def test_each_callable_is_timed_by_do_bench_under_its_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    given(OF_TODAY, monkeypatch)
    calls = {"baseline:eager": lambda _: torch.ones(2), "claim": lambda _: torch.ones(2)}
    both = published(timed_mean=True)
    events = list(sampling.by_do_bench(calls, {"baseline:eager": both}, others=both[:1]))
    assert [(one["variant"], one["protocol"]) for one in events] == [
        ("baseline:eager", both[0].name), ("baseline:eager", both[1].name), ("claim", both[0].name),
    ]  # fmt: skip
    assert {tuple(one["samples_ms"]) for one in events} == {(0.25, 0.5)}


def test_samples_are_thinned_evenly_and_in_order() -> None:
    assert sampling.evenly([0.1, 0.2, 0.3]) == [0.1, 0.2, 0.3]
    thinned = sampling.evenly([float(index) for index in range(2500)])
    assert len(thinned) <= sampling.MOST_SAMPLES
    assert thinned[:2] == [0.0, 9.0]
    assert sampling.evenly([0.00612345678]) == [0.006123]


@pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")
def test_a_session_on_a_missing_gpu_says_so() -> None:
    with pytest.raises(RuntimeError, match="sees no CUDA GPU"):
        open_device(CudaSettings(library=Path("m.so"), module="m", digests={}, memory="plain"))


def test_a_missing_entry_lists_the_functions_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Path("m.so")
    monkeypatch.setitem(cuda._LOADED, library, SimpleNamespace(backward=print))
    with pytest.raises(LookupError, match="no function forward; the extension has: backward"):
        cuda.entry_of(CudaLibrary(library=library, module="m", digests={}), "forward", Harness())


class Clock:
    """Makes each call, and says half a millisecond."""

    def cold(self, calls: list[Any]) -> list[float]:
        for one in calls:
            one.call()
        return [0.5] * len(calls)


def test_a_call_is_timed_as_a_graph_and_one_that_cannot_be_captured_has_no_such_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[Any]] = []

    def captured(call: Any, sets: list[Any]) -> Any:
        asked.append(sets)
        result = call(*sets[0])
        return lambda _: result

    def refuses(_: int) -> Any:
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(callables, "graph", captured)
    calls: dict[str, Any] = {"other_stream": refuses, "claim": lambda index: index}
    (event,) = sampling._by_graph(calls, Clock())  # type: ignore[arg-type]
    assert event == {"variant": "claim", "protocol": GRAPHED, "samples_ms": [0.5] * sampling.GRAPH_SAMPLES}
    assert asked == [[[0]], [[0]]], "over the first set of inputs"
