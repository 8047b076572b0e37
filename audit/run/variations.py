"""Runs in a child: other inputs for a case and what is right for them in float64, away from claimed code.

The new inputs lie beside the case's, in `<case>.<variation>.inputs.pt`; what is right for them goes to the results. A
variation that the reference refuses is left out.

`reference.py` may offer `distributions(shape, generator)`: a dict from names to lists of arguments, tried beside ours;
and `discriminating(shape, generator)`: arguments at which the task distinguishes a right result from a trivial
candidate, where those of `inputs` cannot; see `discriminating`, which makes some where it offers none. Then each input
is changed alone among those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from audit.run import requests, ties
from audit.run.changes import Variation, names, one_argument, one_element, whole_numbers
from audit.run.containers import leaves
from audit.run.discriminating import OWN, Discriminator
from audit.run.harness import stated
from audit.run.problem import Problem
from audit.run.results import Writer
from audit.run.transforms import DISTRIBUTIONS, is_real, leaves_range, redistributed, with_value

DISCRIMINATING = "discriminating"
DRAWN = ("distributions", DISCRIMINATING, "whole_numbers")
"""Groups whose values are other than a benchmark's: whether the reference itself is right there has to be known."""


def run(request: requests.Variations, reference: ModuleType, results: Writer) -> Iterator[dict[str, Any]]:
    """Gives one event a case with the `bits` of every format and the wrong elements of every trivial candidate at its
    own inputs (`trivial`), then one a variation."""
    host = stated(request.reference.parent).host
    for of, wanted in enumerate(request.vary):
        values = torch.load(wanted.inputs, weights_only=True)
        case = Problem(reference, values, wanted.shape, device=request.device, host=host)
        discriminator = Discriminator(case, request.relative)
        yield {"of": of, "bits": case.bits(), "trivial": discriminator.own, "inputs": names(case)}
        for group in wanted.groups:
            for name, values, more in GROUPS[group](discriminator):
                right = _written(case, values, _beside(wanted.inputs, name), results)
                if right is not None:
                    measured = case.headroom(values) if group in DRAWN else {}
                    trivial = discriminator.at(values) if group == DISCRIMINATING else {}
                    outside = leaves_range(leaves(values), case.flat)
                    about = {"headroom": measured, "trivial": trivial, "outside": outside, **more, **right}
                    yield {"of": of, "variation": name, "group": group, **about}


def _beside(file: Path, name: str) -> Path:
    """The stem of a variation's files, beside those of its case."""
    return file.with_name(f"{file.name.removesuffix('.inputs.pt')}.{name}")


def _written(case: Problem, values: list[Any], stem: Path, results: Writer) -> dict[str, Any] | None:
    case.hold(values)
    try:
        right = case.expected(values, results)
    except ties.REFUSED:
        return None
    torch.save(values, stem.with_name(f"{stem.name}.inputs.pt"))
    return {"stem": str(stem), **right}


def _other(discriminator: Discriminator) -> Iterator[Variation]:
    yield "other_values", discriminator.problem.others, {}


def _discriminating(discriminator: Discriminator) -> Iterator[Variation]:
    if discriminator.offers:
        yield DISCRIMINATING, discriminator.drawn(OWN), {}


def _distributions(discriminator: Discriminator) -> Iterator[Variation]:
    case = discriminator.problem
    if any(is_real(x) for x in case.flat):
        for salt, name in enumerate(DISTRIBUTIONS, start=16):
            yield name, case.arguments(redistributed(case.flat, name, case.generator(salt))), {}
    if hasattr(case.reference, "distributions"):
        for name, values in case.reference.distributions(case.shape, case.generator(3)).items():
            yield name, values, {}


def _nonfinite(discriminator: Discriminator) -> Iterator[Variation]:
    case = discriminator.problem
    if any(is_real(x) and x.numel() for x in case.flat):
        yield "nan", case.arguments(with_value(case.flat, math.nan)), {}
        yield "inf", case.arguments(with_value(case.flat, math.inf)), {}


GROUPS: dict[str, Callable[[Discriminator], Iterator[Variation]]] = {
    "other": _other,
    "moved": one_element,
    "whole_numbers": whole_numbers,
    DISCRIMINATING: _discriminating,
    "inputs": one_argument,
    "distributions": _distributions,
    "nonfinite": _nonfinite,
}
