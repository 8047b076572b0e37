"""Runs in a child: makes the inputs of every case and what is right for them, in float64, away from claimed code.

Files are written to the request's folder: `<case>.inputs.pt` holds the arguments (tensors, numbers, lists). Right
results go to the descriptor `results`: raw float64, row major.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from audit.run import correctness, requests, variations
from audit.run.arguments import named
from audit.run.harness import placed, stated
from audit.run.launches import write_described
from audit.run.problem import Problem
from audit.run.results import Writer
from audit.run.work import counted, weighed


def load_reference(path: str | Path) -> ModuleType:
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


def _described(request: requests.Described, reference: ModuleType, _: Writer) -> Iterator[dict[str, Any]]:
    """Give one event a shape: the bytes of its arguments, or why they could not be made."""
    yield from write_described(request.shapes, reference, request.folder)


def _work(request: requests.Work, reference: ModuleType, _: Writer) -> Iterator[dict[str, Any]]:
    """Give one event a shape, the last first: the operations of a call, None where they are above `most` or not known,
    as for a `reference.py` without a TASK of `imported_task`."""
    task = getattr(reference, "TASK", None)
    found = weighed(request.shapes, request.most, work=task.work if task else lambda _: None)
    for place, work in zip(reversed(range(len(request.shapes))), found, strict=True):
        yield {"weighed": place, "work": work}


def _cases(request: requests.Cases, reference: ModuleType, results: Writer) -> Iterator[dict[str, Any]]:
    """Give the cost of the claimed shape, then one event a case: the shape and dtype its result must have, where among
    the results it starts, and where others start that are as right."""
    known = baselines_of(reference)
    unknown = [name for name in request.baselines if name not in known]
    if unknown:
        raise LookupError(f"claim.toml names baseline {unknown[0]}, reference.py has {', '.join(known)}")
    yield {"cost": {name: float(value) for name, value in reference.cost(request.cost_shape).items()}}
    host = stated(request.reference.parent).host
    for case, (shape, seed) in enumerate(zip(request.shapes, request.seeds, strict=True)):
        inputs = reference.inputs(shape, torch.Generator().manual_seed(seed))
        problem = Problem(reference, inputs, shape, device=request.device, host=host)
        torch.save(inputs, request.folder / f"{case}.inputs.pt")
        yield {"case": case, "shape": shape, **problem.expected(inputs, results), "size": problem.size}


def _sized(request: requests.Sized, reference: ModuleType, results: Writer) -> Iterator[dict[str, Any]]:
    """Give one event a shape: its case, or why there is none in `raised`; without either its work is beyond what is
    left."""
    left, host = request.most, stated(request.reference.parent).host
    for place, shape in enumerate(request.shapes):
        event: dict[str, Any] = {"sized": place, "raised": None}
        try:
            values = reference.inputs(shape, torch.Generator().manual_seed(request.seed + place))
            work = counted(partial(_called, reference, values))
            if work is None or work <= left:  # what raises here raises below, where its words are kept
                left -= work or 0
                problem = Problem(reference, values, shape, device=request.device, host=host)
                _stands(problem, request.relative)
                event |= {**problem.expected(values, results), "size": problem.size}
                torch.save(values, request.folder / f"{place}.inputs.pt")
        except Exception as error:  # the file may raise anything at sizes it was not made for
            event["raised"] = named(error)
        yield event


def _called(reference: ModuleType, values: list[Any]) -> object:
    """The reference on copies, since it may work in place."""
    return reference.reference(*placed(values, torch.clone, ()))


def _stands(problem: Problem, relative: float) -> None:
    """Raises ValueError where the reference itself is not right, or there is nothing to be right about."""
    want = problem.want
    if not want.numel() or not bool(want.isfinite().any()):
        raise ValueError("the right result has no finite element")
    needed = correctness.needed(problem.got.double(), want)
    if needed is None or needed > correctness.held_to(relative, problem.dtype):
        raise ValueError("the reference itself is not within the tolerance")


Answer = Callable[[Any, ModuleType, Writer], Iterator[dict[str, Any]]]


def _served(answer: Answer) -> Callable[[Any, object], Iterator[dict[str, Any]]]:
    """Return an answer as the fork server calls it: with the reference loaded and the results open."""

    def serve(request: requests.OracleRequest, _: object) -> Iterator[dict[str, Any]]:
        reference = load_reference(request.reference)
        with Writer(request.results) as results:
            yield from answer(request, reference, results)

    return serve


KINDS: dict[str, Callable[[Any, object], Iterator[dict[str, Any]]]] = {
    "cases": _served(_cases),
    "variations": _served(variations.run),
    "work": _served(_work),
    "described": _served(_described),
    "sized": _served(_sized),
}
