"""Runs in a child: the gradients of a function that a `Model` hands its parameters to, as robust-kbench asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from audit.run.imported_file import Arguments, Sizes
from audit.run.imported_task import FunctionalTask


class BackwardTask(FunctionalTask):
    """Inputs are the arguments of the function and a gradient of its result; results are gradients of the arguments.

    Args:
        path: the file.
        function: the name of the function in it.
        settings: see `FunctionalTask`.
        wanted: the places of the arguments that get a gradient.
    """

    def __init__(
        self,
        path: Path,
        *,
        function: str,
        wanted: Sequence[int],
        settings: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init__(path, function=function, settings=settings)
        self._wanted = tuple(wanted)

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:
        arguments = super()._drawn(shape, seed)
        return [*arguments, torch.randn_like(super()._computed(arguments, double=False))]

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:
        *given, gradient = arguments
        with torch.enable_grad():
            for place in self._wanted:
                given[place] = given[place].detach().requires_grad_()
            result = super()._computed(given, double=double)
            return torch.autograd.grad(result, [given[place] for place in self._wanted], gradient)
