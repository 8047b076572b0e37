"""Runs in a child: other inputs for a case and what is right for them in float64, away from claimed code.

Request: `reference` (path of reference.py), `device` (where to compute), `vary` (each `{"inputs": file of a case's
arguments, "shape": its sizes, "groups": names of GROUPS}`). The new inputs lie beside the case's, in
`<case>.<variation>.inputs.pt`; what is right for them goes to the `results`. A variation that the reference refuses is
left out.

`reference.py` may offer `distributions(shape, generator)`: a dict from names to lists of arguments, tried beside ours;
and `discriminating(shape, generator)`: arguments at which the task can tell a right result from one that nobody
computed, where those of `inputs` cannot. Then each input is changed alone among those.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from audit.worker.arguments import as_bytes
from audit.worker.formats import FORMATS, effective_bits
from audit.worker.results import Writer
from audit.worker.transforms import DISTRIBUTIONS, is_real, one_moved, redistributed, scaled_number, with_value

Variation = tuple[str, list[Any]]
DRAWN = ("distributions", "discriminating")
"""Groups whose values are other than a benchmark's: whether the reference itself is right there has to be known."""
REFUSED = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
"""What a reference raises for arguments it does not take."""


def run(request: dict[str, Any], reference: ModuleType, results: Writer) -> Iterator[dict[str, Any]]:
    """Gives one event a case with the `bits` of every format and where its first input starts among the results, then
    one a variation."""
    for of, wanted in enumerate(request["vary"]):
        file = Path(wanted["inputs"])
        case = _Case(reference, torch.load(file, weights_only=True), wanted["shape"], request["device"])
        yield {"of": of, "bits": case.bits(), "first_input": _first_input(case, results)}
        for group in wanted["groups"]:
            for name, values in GROUPS[group](case):
                told = _written(case, values, _beside(file, name), results)
                if told is not None:
                    measured = case.headroom(values) if group in DRAWN else {}
                    yield {"of": of, "variation": name, "group": group, "headroom": measured, **told}


class _Case:
    """A case and the claim's reference: computes what is right, in float64 and in lower formats."""

    def __init__(self, reference: ModuleType, values: list[Any], shape: dict[str, int], device: str) -> None:
        self.reference, self.values, self.shape = reference, values, shape
        self._device = device

    def generator(self, salt: int) -> torch.Generator:
        """The same numbers for the same inputs, which nobody can know before the audit."""
        seed = zlib.crc32(b"".join(as_bytes(x).numpy().tobytes() for x in self.values if isinstance(x, torch.Tensor)))
        return torch.Generator().manual_seed((seed << 8) + salt)

    def oracle(self, values: list[Any]) -> torch.Tensor:
        """What is right for those arguments, float64."""
        return self.reference.oracle(*self._there(values)).to(torch.float64)  # type: ignore[no-any-return]

    def eager(self, values: list[Any]) -> torch.Tensor:
        """What the reference itself returns."""
        result: torch.Tensor = self.reference.reference(*self._there(values))
        return result

    def bits(self) -> dict[str, float | None]:
        """Effective bits of the reference, and of the oracle on inputs rounded to each lower format."""
        want, eager = self.oracle(self.values), self.eager(self.values)
        told = {"fp32": effective_bits(eager.double(), want)}
        for name, rounded in FORMATS.items():
            low = self.oracle([rounded(x) if is_real(x) else x for x in self.values])
            told[name] = effective_bits(low.to(eager.dtype).double(), want)
        return told

    def headroom(self, values: list[Any]) -> dict[str, float | None]:
        """The tolerance the reference itself needs, and one that rounds its inputs first; None: no finite one."""
        want = self.oracle(values)
        told = {"fp32": _needed(self.eager(values).double(), want)}
        for name, rounded in FORMATS.items():
            told[name] = _needed(self.oracle([rounded(x) if is_real(x) else x for x in values]), want)
        return told

    def _there(self, values: list[Any]) -> list[Any]:
        """Copies on the device: a reference may work in place."""
        return [x.to(self._device, copy=True) if isinstance(x, torch.Tensor) else x for x in values]


def _needed(got: torch.Tensor, want: torch.Tensor) -> float | None:
    bound = want.abs() + want.square().mean().sqrt()
    share = torch.where(got == want, torch.zeros_like(want), (got - want).abs() / bound)
    worst = float(share.max())
    return worst if math.isfinite(worst) and bool(want.isfinite().all()) else None


def _beside(file: Path, name: str) -> Path:
    """The stem of a variation's files, beside those of its case."""
    return file.with_name(f"{file.name.removesuffix('.inputs.pt')}.{name}")


def _first_input(case: _Case, results: Writer) -> int | None:
    """Where the first input as float64 starts, if it has the shape of the result; such a kernel only copies."""
    tensors = [x for x in case.values if isinstance(x, torch.Tensor)]
    if not tensors or tensors[0].shape != case.oracle(case.values).shape:
        return None
    return results.put(tensors[0].to(torch.float64))


def _written(case: _Case, values: list[Any], stem: Path, results: Writer) -> dict[str, Any] | None:
    try:
        expected = case.oracle(values).cpu().contiguous()
        dtype = str(case.eager(values).dtype).removeprefix("torch.")
    except REFUSED:
        return None
    torch.save(values, stem.with_name(f"{stem.name}.inputs.pt"))
    told = {"expected_shape": list(expected.shape), "expected_dtype": dtype, "expected_at": results.put(expected)}
    return {"stem": str(stem), **told}


def _other(case: _Case) -> Iterator[Variation]:
    yield "other_values", case.reference.inputs(case.shape, case.generator(1))


def _moved(case: _Case) -> Iterator[Variation]:
    if any(is_real(x) and x.numel() for x in case.values):
        yield "last_element", one_moved(case.values, 1.0)
        yield "one_element", one_moved(case.values, float(torch.rand(1, generator=case.generator(2))))


def _discriminating(case: _Case) -> Iterator[Variation]:
    if hasattr(case.reference, "discriminating"):
        yield "discriminating", case.reference.discriminating(case.shape, case.generator(4))


def _inputs(case: _Case) -> Iterator[Variation]:
    if hasattr(case.reference, "discriminating"):
        own, others = (case.reference.discriminating(case.shape, case.generator(salt)) for salt in (4, 5))
    else:
        own, others = case.values, case.reference.inputs(case.shape, case.generator(1))
    given = signature(case.reference.reference).parameters.values()
    called = {index: f"_{one.name}" for index, one in enumerate(given) if one.kind is not one.VAR_POSITIONAL}
    for index, (value, other) in enumerate(zip(own, others, strict=True)):
        if isinstance(value, torch.Tensor | float):
            changed = list(own)
            changed[index] = other if isinstance(value, torch.Tensor) else scaled_number(value)
            yield f"input_{index}{called.get(index, '')}", changed


def _distributions(case: _Case) -> Iterator[Variation]:
    if any(is_real(x) for x in case.values):
        for salt, name in enumerate(DISTRIBUTIONS, start=16):
            yield name, redistributed(case.values, name, case.generator(salt))
    if hasattr(case.reference, "distributions"):
        yield from case.reference.distributions(case.shape, case.generator(3)).items()


def _nonfinite(case: _Case) -> Iterator[Variation]:
    if any(is_real(x) and x.numel() for x in case.values):
        yield "nan", with_value(case.values, math.nan)
        yield "inf", with_value(case.values, math.inf)


GROUPS: dict[str, Callable[[_Case], Iterator[Variation]]] = {
    "other": _other,
    "moved": _moved,
    "discriminating": _discriminating,
    "inputs": _inputs,
    "distributions": _distributions,
    "nonfinite": _nonfinite,
}
