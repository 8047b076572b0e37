"""The callables of a timing session: variants and baselines, over the same sets of inputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from audit.build.settings import DeviceSettings
from audit.model import Harness
from audit.run.calls.harness import placed, returning
from audit.run.devices.device import open_device
from audit.run.sessions.oracle import baselines_of, load_reference
from audit.run.timing.stopwatch import flag
from audit.sandbox import namespaces, policy

_cuda = torch.Tensor.cuda
Inputs = list[Any]
Indexed = Callable[[int], Any]
"""A callable that takes the number of a set of inputs."""
PREFIX = "baseline:"
COMPILED = {"compile": None, "compile_max_autotune": "max-autotune-no-cudagraphs"}
"""Modes of torch.compile, without its own CUDA graphs, which first copy the inputs; graphs are separate baselines."""
GRAPH = "graph_"
"""The prefix of a baseline that is captured as a CUDA graph and replayed, without launch overhead."""
CUDNN = "cudnn_benchmark_tf32"


def load_inputs(files: Sequence[Path], harness: Harness) -> list[Inputs]:
    """Return the argument lists of those files, tensors on the GPU except those that the harness leaves on the host."""
    return [on_gpu(torch.load(file, weights_only=True), harness=harness) for file in files]


def on_gpu(arguments: Inputs, *, harness: Harness) -> Inputs:
    """Return copies of arguments where the harness expects them."""
    return placed(arguments, _cuda, harness.host)


def baseline(name: str, reference: ModuleType, sets: list[Inputs]) -> Indexed:
    """Return the baseline of that name over the sets. Raises LookupError with the known baselines."""
    named, plain = baselines_of(reference), name.removeprefix(GRAPH)
    if name in COMPILED:
        return over(torch.compile(reference.reference, mode=COMPILED[name]), sets)
    if name == CUDNN:
        return _cudnn_benchmark(reference.reference, sets)
    if plain not in named:
        known = ", ".join([*named, *COMPILED, CUDNN, *(f"{GRAPH}{one}" for one in named)])
        raise LookupError(f"unknown baseline {name}; known: {known}")
    return over(named[name], sets) if name in named else graph(named[plain], sets)


def names(path: Path, sets: list[Inputs]) -> tuple[ModuleType, list[str]]:
    """Return the module at `path` and its baselines in load order: its own, then those made from it."""
    reference = load_reference(path)
    own = list(baselines_of(reference))
    made = [f"{GRAPH}{name}" for name in own]
    with _Convolutions() as watched:  # type: ignore[no-untyped-call]
        reference.reference(*sets[0])
    return reference, [*own, *made, *([CUDNN] if watched.seen else [])]


def variant(settings: DeviceSettings, entry: str, sets: list[Inputs], harness: Harness) -> Indexed:
    """A built variant over the sets."""
    return over(returning(open_device(settings).load(entry, harness), harness), sets)


def over(function: Callable[..., Any], sets: list[Inputs]) -> Indexed:
    """Return the function over the sets."""
    return lambda index: function(*sets[index])


def use_disk_cache(own: Path, *, workers: int) -> None:
    """Set torch.compile's cache to that folder, below those in which compilers may write.

    Cached files contain the folder's path, so it is used only where all sessions see the same path; elsewhere
    torch.compile starts with an empty folder. It gets so many `workers` where they would get the GPU, elsewhere one.
    """
    shown = Path(namespaces.CACHES) / own.name
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(shown if shown.is_dir() else own.with_name(f"{own.name}-anew"))
    from torch._inductor import config

    config.compile_threads = workers if policy.settings_are_closed() else 1


def graph(function: Callable[..., Any], sets: list[Inputs]) -> Indexed:
    """Capture a function as one CUDA graph for each set of inputs: no launch overhead, static output."""
    captured = [_captured(function, inputs) for inputs in sets]

    def replay(index: int) -> Any:
        graph, output = captured[index]
        graph.replay()
        return output

    return replay


def _captured(function: Callable[..., Any], inputs: Inputs) -> tuple[Any, Any]:
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        function(*inputs)  # libraries make their workspaces before the capture
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = function(*inputs)
    return graph, output


def _cudnn_benchmark(function: Callable[..., Any], sets: list[Inputs]) -> Indexed:
    """Return the reference with cuDNN's autotuner on; TF32 stays allowed, PyTorch's default for convolutions."""

    def run(index: int) -> Any:
        with flag(torch.backends.cudnn, "benchmark", True):
            return function(*sets[index])

    return run


class _Convolutions(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes whether an operation that ran under it was a convolution."""

    seen = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen = self.seen or "convolution" in str(func)
        return func(*args, **(kwargs or {}))
