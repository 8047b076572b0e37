"""Runs in a child: what the published harness does around a call, as the claim's `[harness]` states it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import torch

from audit import claims
from audit.model import Harness, untrusted
from audit.run.containers import leaves, rebuilt

Function = Callable[..., Any]
Upload = Callable[[torch.Tensor], torch.Tensor]


def stated(folder: Path) -> Harness:
    """The harness that `claim.toml` in that folder states; one that does nothing where there is no such file.

    Raises:
        BadInput: a key of the file is unknown or mistyped.
    """
    file = folder / claims.STATEMENT
    return claims.parse(untrusted.text(file), claims.STATEMENT).harness if file.is_file() else Harness()


def cast(value: Any, harness: Harness) -> Any:
    """An argument in the harness's dtype: tensors of fractions, also within containers; all else as it is."""
    dtype = harness.dtype and getattr(torch, harness.dtype)
    flat = [
        x.to(dtype) if dtype and isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in leaves(value)
    ]
    return rebuilt(value, flat)


def returning(function: Function, harness: Harness) -> Function:
    """The function with the destination as its result where it returns none."""
    place = harness.destination
    if place is None:
        return function

    def call(*arguments: Any) -> Any:
        result = function(*arguments)
        return arguments[place] if result is None and place < len(arguments) else result

    return call


def placed(values: list[Any], upload: Upload, host: Collection[int]) -> list[Any]:
    """The arguments where the harness has them: tensors uploaded, but for copies of those that stay with the host.

    Containers among them are made anew.
    """

    def there(x: Any, index: int) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        return x.clone() if index in host else upload(x)

    return [rebuilt(value, [there(x, index) for x in leaves(value)]) for index, value in enumerate(values)]
