"""Runs in a child: makes the inputs of every case and what is right for them, in float64, away from claimed code.

Request: `device` (where to compute), `reference` (path of reference.py), `baselines` (names it must have), `shapes`,
`seeds` (one each), `cost_shape`, `folder` for the files written: `<case>.inputs.pt` (the arguments: tensors, numbers,
lists); `results` is the descriptor that takes what is right, raw float64, row major.

A request with `vary` is for `variations`, which see; one with `weigh`, a list of shapes, and `most` asks for the work
of an imported task; one with `describe`, a list of shapes, for files of arguments without values, see `launches`; one
with `sized`, a list of shapes that the task may not take, for the cases of those whose work is within `most` together.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from audit.run import correctness, variations
from audit.run.arguments import named
from audit.run.harness import placed, stated
from audit.run.launches import write_described
from audit.run.problem import Problem
from audit.run.results import Writer
from audit.run.work import counted, weighed


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
    among the results it starts, and others that are as right."""
    reference = load_reference(request["reference"])
    with Writer(request["results"]) as results:
        served = next((one for key, one in _OTHERS.items() if key in request), _cases)
        yield from served(request, reference, results)


def _described(request: dict[str, Any], reference: ModuleType, _: Writer) -> Iterator[dict[str, Any]]:
    """One event a shape: the bytes of its arguments, or why they could not be made."""
    yield from write_described(request["describe"], reference, Path(request["folder"]))


def _work(request: dict[str, Any], reference: ModuleType, _: Writer) -> Iterator[dict[str, Any]]:
    """One event a shape, the last first: the operations of a call, None where they are above `most` or not known, as
    for a `reference.py` without a TASK of `imported_task`."""
    shapes, task = request["weigh"], getattr(reference, "TASK", None)
    found = weighed(shapes, request["most"], work=task.work if task else lambda _: None)
    for place, work in zip(reversed(range(len(shapes))), found, strict=True):
        yield {"weighed": place, "work": work}


def _cases(request: dict[str, Any], reference: ModuleType, results: Writer) -> Iterator[dict[str, Any]]:
    known = baselines_of(reference)
    unknown = [name for name in request["baselines"] if name not in known]
    if unknown:
        raise LookupError(f"claim.toml names baseline {unknown[0]}, reference.py has {', '.join(known)}")
    yield {"cost": {name: float(value) for name, value in reference.cost(request["cost_shape"]).items()}}
    folder = Path(request["folder"])
    host = stated(Path(request["reference"]).parent).host
    for case, (shape, seed) in enumerate(zip(request["shapes"], request["seeds"], strict=True)):
        inputs = reference.inputs(shape, torch.Generator().manual_seed(seed))
        problem = Problem(reference, inputs, shape, device=request["device"], host=host)
        torch.save(inputs, folder / f"{case}.inputs.pt")
        yield {"case": case, "shape": shape, **problem.expected(inputs, results), "size": problem.size}


def _sized(request: dict[str, Any], reference: ModuleType, results: Writer) -> Iterator[dict[str, Any]]:
    """One event a shape: its case, or why there is none in `raised`; without either its work is beyond what is left."""
    folder, left = Path(request["folder"]), request["most"]
    host = stated(Path(request["reference"]).parent).host
    for place, shape in enumerate(request["sized"]):
        told: dict[str, Any] = {"sized": place, "raised": None}
        try:
            values = reference.inputs(shape, torch.Generator().manual_seed(request["seed"] + place))
            work = counted(partial(_called, reference, values))
            if work is None or work <= left:  # what raises here raises below, where its words are kept
                left -= work or 0
                problem = Problem(reference, values, shape, device=request["device"], host=host)
                _stands(problem, request["relative"])
                told |= {**problem.expected(values, results), "size": problem.size}
                torch.save(values, folder / f"{place}.inputs.pt")
        except Exception as error:  # whatever a stranger's file raises at sizes it was not made for
            told["raised"] = named(error)
        yield told


def _called(reference: ModuleType, values: list[Any]) -> object:
    """The reference on copies, since it may work in place."""
    return reference.reference(*placed(values, torch.clone, ()))


def _stands(problem: Problem, relative: float) -> None:
    """Raises ValueError where the reference itself is not right, or there is nothing to be right about."""
    want = problem.want
    if not want.numel() or not bool(want.isfinite().any()):
        raise ValueError("the right result has no finite element")
    needed = correctness.needed(problem.got.double(), want)
    if needed is None or needed > correctness.held_to(relative, str(problem.got.dtype).removeprefix("torch.")):
        raise ValueError("the reference itself is not within the tolerance")


_OTHERS = {"vary": variations.run, "weigh": _work, "describe": _described, "sized": _sized}
"""What serves a request with that key; one without any is for the cases."""
