"""Runs in a child without claimed code: the inputs of every case, variations of them, and the right results in float64.

In the request's folder `<case>.inputs.pt` holds the arguments (tensors, numbers, lists) and
`<case>.<variation>.inputs.pt` those of a variation; one that the reference refuses is left out. The right results go to
the descriptor `results`: raw float64, row major.

`reference.py` may offer `distributions(shape, generator)`, a dict from names to lists of arguments, tried in addition
to ours, and `discriminating(shape, generator)`, arguments that distinguish a right result from a trivial candidate
where those of `inputs` cannot; the module `discriminating` makes some where there are none.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from audit.model.errors import BadInput
from audit.run.calls import correctness
from audit.run.calls.arguments import named
from audit.run.calls.containers import leaves, loads
from audit.run.calls.harness import placed, require_places, stated
from audit.run.inputs import formats, ties
from audit.run.inputs.changes import names
from audit.run.inputs.discriminating import Discriminator
from audit.run.inputs.other_inputs import DISCRIMINATING, GROUPS, OTHERS, distributed, headroom
from audit.run.inputs.problem import Problem, compute_at
from audit.run.inputs.transforms import leaves_range
from audit.run.messages import requests
from audit.run.messages.results import Writer
from audit.run.references.imported_file import Sizes
from audit.run.references.work import counted, weighed
from audit.run.sessions.launches import write_described


def load_reference(path: str | Path, *, shape: Sizes | None = None) -> ModuleType:
    """Return the claim's `reference.py` as a module; an imported task computes for that shape, see `Task.at`."""
    spec = importlib.util.spec_from_file_location("claim_reference", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if shape is not None:
        compute_at(shape, module)
    return module


def baselines_of(reference: ModuleType) -> dict[str, Callable[..., torch.Tensor]]:
    """Return the BASELINES of a `reference.py`; without any, the reference itself as `eager`."""
    named: dict[str, Callable[..., torch.Tensor]] = getattr(reference, "BASELINES", {"eager": reference.reference})
    return named


def _work(request: requests.Work, reference: ModuleType, _: Writer) -> Iterator[dict[str, Any]]:
    """Yield one event a shape, the last first: the operations of a call, None where they exceed `most` or are unknown,
    as for a `reference.py` without a TASK of `imported_task`."""
    task = getattr(reference, "TASK", None)
    found = weighed(request.shapes, request.most, work=task.work if task else lambda _: None)
    for place, work in zip(reversed(range(len(request.shapes))), found, strict=True):
        yield {"weighed": place, "work": work}


def _cases(request: requests.Cases, reference: ModuleType, results: Writer) -> Iterator[dict[str, Any]]:
    """Yield the cost of the claimed shape, then one event a case, see `Problem.expected`."""
    known = baselines_of(reference)
    unknown = [name for name in request.baselines if name not in known]
    if unknown:
        raise LookupError(f"claim.toml names baseline {unknown[0]}, reference.py has {', '.join(known)}")
    yield {"cost": {name: float(value) for name, value in reference.cost(request.cost_shape).items()}}
    harness = stated(request.reference.parent)
    for case, (shape, seed) in enumerate(zip(request.shapes, request.seeds, strict=True)):
        inputs = reference.inputs(shape, torch.Generator().manual_seed(seed))
        require_places(harness, inputs)
        problem = _problem(request, reference, inputs, shape)
        _require_plain(problem)
        if request.distribution is None:
            torch.save(inputs, request.folder / f"{case}.inputs.pt")
            bits = {"bits": formats.bits(problem)} if request.bits and problem.dtype == "float32" else {}
            yield {"case": case, "shape": shape, **problem.expected(inputs, results), "size": problem.size, **bits}
        if request.others is None:
            continue
        named_one = {request.distribution: partial(distributed, name=request.distribution)}
        for name, made in (named_one if request.distribution else OTHERS).items():
            if (values := made(Discriminator(problem, request.others))) is not None:
                right = _written(problem, values, request.folder / f"{case}.{name}.inputs.pt", results)
                if right is not None:
                    yield {"case": case, "shape": shape, **right, "other": name}


MOST_HOST_WORK = 1 << 26
"""Operations of a call, see `work.counted`, up to which the host computes right results: each process of a GPU first
loads some hundred kernels of torch, which takes seconds."""


def _problem(
    request: requests.Cases | requests.Variations | requests.Sized,
    reference: ModuleType,
    values: list[Any],
    shape: dict[str, int],
) -> Problem:
    """Return a case of the request; an imported task of little work on the host, where a GPU is asked for too, unless
    torch lacks an operation of it there."""
    work = _estimated(reference, shape) if request.device == "cuda" else None
    made = partial(Problem, reference, values, shape, host=stated(request.reference.parent).host)
    here = made(device="cpu") if work is not None and work <= MOST_HOST_WORK else None
    return here if here is not None and here.implemented else made(device=request.device)


def _estimated(reference: ModuleType, shape: dict[str, int]) -> int | None:
    """Return the operations of a call of an imported task, see `Task.estimated_work`; None where they are unknown."""
    task = getattr(reference, "TASK", None)
    return task.estimated_work(shape) if task else None


def _require_plain(problem: Problem) -> None:
    """Raise BadInput for an argument that a session could not load."""
    for name, leaf in zip(names(problem), problem.flat, strict=True):
        if not isinstance(leaf, torch.Tensor) and not loads(leaf):
            what = "a tensor, a number, a text or None, alone or within lists, tuples and dicts"
            raise BadInput(f"reference.py: {name} is of type {type(leaf).__name__}; an argument is {what}")


def _sized(request: requests.Sized, reference: ModuleType, results: Writer) -> Iterator[dict[str, Any]]:
    """Yield one event a shape: its case, or an exception in `raised`; neither where the remaining work is too small."""
    left = request.most
    for index, shape in enumerate(request.shapes):
        event: dict[str, Any] = {"sized": index, "raised": None}
        try:
            work = _estimated(reference, shape)
            if work is None or work <= left:  # None: unknown, or an exception, which is raised again below
                values = reference.inputs(shape, torch.Generator().manual_seed(request.seed + index))
                work = counted(partial(_called, reference, values)) if work is None else work
            if work is None or work <= left:
                left -= work or 0
                problem = _problem(request, reference, values, shape)
                _stands(problem, request.relative)
                event |= {**problem.expected(values, results), "size": problem.size}
                torch.save(values, request.folder / f"{index}.inputs.pt")
        except Exception as error:  # the file may raise anything at sizes it was not made for
            event["raised"] = named(error)
        yield event


def _called(reference: ModuleType, values: list[Any]) -> object:
    """Call the reference on copies, since it may work in place."""
    return reference.reference(*placed(values, torch.clone, ()))


def _stands(problem: Problem, relative: float) -> None:
    """Raise ValueError where the reference itself is not right, or has no finite element."""
    want = problem.want
    if not want.numel() or not bool(want.isfinite().any()):
        raise ValueError("the right result has no finite element")
    needed = correctness.needed(problem.got.double(), want)
    if needed is None or needed > correctness.held_to(relative, problem.dtype):
        raise ValueError("the reference itself is not within the tolerance")


def _variations(request: requests.Variations, reference: ModuleType, results: Writer) -> Iterator[dict[str, Any]]:
    """Yield one event a case with the `bits` of every format and the wrong elements of every trivial candidate at its
    own inputs (`trivial`), then one a variation."""
    for of, wanted in enumerate(request.vary):
        values = torch.load(wanted.inputs, weights_only=True)
        case = _problem(request, reference, values, wanted.shape)
        discriminator = Discriminator(case, request.relative)
        yield {"of": of, "bits": formats.bits(case), "trivial": discriminator.own, "inputs": names(case)}
        for group in wanted.groups:
            for name, values, more in GROUPS[group](discriminator):
                right = _written(case, values, wanted.beside(name), results)
                if right is not None:
                    measured = headroom(discriminator, values, group)
                    trivial = discriminator.at(values) if group == DISCRIMINATING else {}
                    outside = leaves_range(leaves(values), case.ranges)
                    about = {**measured, "trivial": trivial, "outside": outside}
                    yield {"of": of, "variation": name, "group": group, **about, **more, **right}


def _written(case: Problem, values: list[Any], file: Path, results: Writer) -> dict[str, Any] | None:
    """Write arguments and their right result; None where the reference refuses them or too much depends on ties."""
    case.hold(values)
    try:
        right = case.expected(values, results)
    except ties.REFUSED:
        return None
    torch.save(values, file)
    return right


Answer = Callable[[Any, ModuleType, Writer], Iterator[dict[str, Any]]]


def _served(answer: Answer) -> Callable[[Any, object], Iterator[dict[str, Any]]]:
    """Return an answer with the fork server's signature: it loads the reference and opens the results."""

    def serve(request: requests.OracleRequest, _: object) -> Iterator[dict[str, Any]]:
        reference = load_reference(request.reference)
        with Writer(request.results) as results:
            yield from answer(request, reference, results)

    return serve


KINDS: dict[str, Callable[[Any, object], Iterator[dict[str, Any]]]] = {
    "cases": _served(_cases),
    "variations": _served(_variations),
    "work": _served(_work),
    "described": _served(lambda request, reference, _: write_described(request.shapes, reference, request.folder)),
    "sized": _served(_sized),
}
