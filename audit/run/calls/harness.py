"""The published harness around a call, as the claim's `[harness]` states it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import torch

from audit import claims
from audit.model import Harness, untrusted
from audit.model.errors import BadInput
from audit.run.calls.containers import leaves, rebuilt

Function = Callable[..., Any]
Upload = Callable[[torch.Tensor], torch.Tensor]
STATUS = (type(None), int, bool)
"""The types of what a function returns that writes its result into an argument."""


def stated(folder: Path) -> Harness:
    """Return the harness of the `claim.toml` in that folder, or the default harness without such a file. Raises
    BadInput: a key of the file is unknown or mistyped."""
    file = folder / claims.STATEMENT
    return claims.parse(untrusted.text(file), claims.STATEMENT).harness if file.is_file() else Harness()


def require_places(harness: Harness, values: list[Any]) -> None:
    """Raise BadInput where the harness names arguments that those of a call lack."""
    stated = {"destination": () if harness.destination is None else (harness.destination,), "host": harness.host}
    for key, places in stated.items():
        if beyond := [place for place in places if place >= len(values)]:
            text = f"a call has no argument {beyond[0]}; it has {len(values)}, counted from 0"
            raise BadInput(f"{claims.STATEMENT}: key harness.{key}: {text}")
    if len(harness.keywords) > len(values):
        text = f"{len(harness.keywords)} names, and a call has {len(values)} arguments"
        raise BadInput(f"{claims.STATEMENT}: key harness.keywords: {text}")


def cast(value: Any, harness: Harness) -> Any:
    """Return an argument with its floating-point tensors, also within containers, in the harness's dtype."""
    dtype = harness.dtype and getattr(torch, harness.dtype)
    flat = [
        x.to(dtype) if dtype and isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in leaves(value)
    ]
    return rebuilt(value, flat)


def returning(function: Function, harness: Harness) -> Function:
    """Return the function with the destination as its result where it returns nothing, or a status."""
    destination = harness.destination
    if destination is None:
        return function

    def call(*arguments: Any) -> Any:
        result = function(*arguments)
        return arguments[destination] if type(result) in STATUS and destination < len(arguments) else result

    return call


def placed(values: list[Any], upload: Upload, host: Collection[int]) -> list[Any]:
    """Return copies of the arguments in new containers, with tensors uploaded except at the positions in `host`."""

    def copied(x: Any, index: int) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        return x.to("cpu", copy=True) if index in host else upload(x)

    return [rebuilt(value, [copied(x, index) for x in leaves(value)]) for index, value in enumerate(values)]
