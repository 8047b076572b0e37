"""Runs in a child: makes the inputs of every case and what is right for them, in float64, away from claimed code.

Request: `device` (where to compute), `reference` (path of reference.py), `baselines` (names it must have), `shapes`,
`seeds` (one each), `cost_shape`, `folder` for the files written: `<case>.inputs.pt` (the arguments: tensors, numbers,
lists); `results` is the descriptor that takes what is right, raw float64, row major. A request with `vary` is for
`variations`, which see.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from audit.worker import variations
from audit.worker.results import Writer


def load_reference(path: str) -> ModuleType:
    """The claim's `reference.py` as a module."""
    spec = importlib.util.spec_from_file_location("claim_reference", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def baselines_of(reference: ModuleType) -> dict[str, Callable[..., torch.Tensor]]:
    """The baselines a `reference.py` names in BASELINES; the reference itself is `eager` where it names none."""
    named: dict[str, Callable[..., torch.Tensor]] = getattr(reference, "BASELINES", {"eager": reference.reference})
    return named


def run(request: dict[str, Any], _: object = None) -> Iterator[dict[str, Any]]:
    """Gives the cost of the claimed shape, then one event a case: the shape and dtype its result must have, and where
    among the results it starts."""
    reference = load_reference(request["reference"])
    with Writer(request["results"]) as results:
        yield from (variations.run if "vary" in request else _cases)(request, reference, results)


def _cases(request: dict[str, Any], reference: ModuleType, results: Writer) -> Iterator[dict[str, Any]]:
    known = baselines_of(reference)
    unknown = [name for name in request["baselines"] if name not in known]
    if unknown:
        raise LookupError(f"claim.toml names baseline {unknown[0]}, reference.py has {', '.join(known)}")
    yield {"cost": {name: float(value) for name, value in reference.cost(request["cost_shape"]).items()}}
    folder = Path(request["folder"])
    for case, (shape, seed) in enumerate(zip(request["shapes"], request["seeds"], strict=True)):
        inputs = reference.inputs(shape, torch.Generator().manual_seed(seed))
        device = request["device"]
        there = [x.to(device) if isinstance(x, torch.Tensor) else x for x in inputs]
        expected = reference.oracle(*there).to(torch.float64).cpu().contiguous()
        torch.save(inputs, folder / f"{case}.inputs.pt")
        dtype = str(reference.reference(*there).dtype).removeprefix("torch.")
        told = {"expected_shape": list(expected.shape), "expected_dtype": dtype, "expected_at": results.put(expected)}
        yield {"case": case, "shape": shape, **told}
