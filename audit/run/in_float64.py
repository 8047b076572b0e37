"""Runs in a child: a reference's arithmetic in float64, also where the file itself asks for less.

Doubled arguments and parameters suffice for most references. One that casts to bfloat16 and multiplies with a doubled
tensor raises; `computed` calls such a reference again with its casts to a lower floating type as casts to float64.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from audit.run.containers import leaves, rebuilt

_MIXED = re.compile(r"\b(?:dtypes?|scalar type|data type|bias type|double)\b", re.IGNORECASE)
"""Words by which torch's operators refuse operands of different types."""
_LOWER = (torch.float32, torch.bfloat16, torch.float16)
_NAMED_CASTS = frozenset({"float", "bfloat16", "half"})
_CASTS = frozenset({"to", "type", "type_as"})
_DRAWS = frozenset({"rand", "randn", "randint", "randperm", "normal", "rand_like", "randn_like", "randint_like"})
"""These draw other numbers in float64."""


def doubled(value: Any) -> Any:
    """Return floating-point tensors in float64, also within lists, tuples and dicts; other objects as they are."""
    flat = [x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in leaves(value)]
    return rebuilt(value, flat)


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Make that dtype torch's default within this context."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def computed(call: Callable[[list[Any]], Any], arguments: Sequence[Any]) -> Any:
    """Return the result of a call with doubled arguments; where types do not match, with casts to float64 as well.
    Raises RuntimeError: of the first call, where the second raises too. Also any other exception of the first."""
    with default_dtype(torch.float64):
        try:
            return call([doubled(value) for value in arguments])
        except RuntimeError as error:
            if not _MIXED.search(str(error)):
                raise
            try:
                with _CastsToFloat64():
                    return call([doubled(value) for value in arguments])
            except Exception:  # the file may raise anything there
                raise error from None


class _CastsToFloat64(TorchFunctionMode):
    """Make a lower real type that a function is given float64. Casts to float8 and integers are part of a task."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, named = getattr(function, "__name__", ""), dict(kwargs or {})
        if name == "view" and any(isinstance(one, torch.dtype) for one in (*args, *named.values())):
            return _bits(function, args, named)
        if name in _DRAWS:
            return doubled(function(*args, **named))
        if "autocast" not in name:
            args = tuple(map(_wider, args))
            named = {key: _wider(value) for key, value in named.items()}
        if name in _NAMED_CASTS:
            return args[0].double()
        result = function(*args, **named)
        return result.double() if name in _CASTS and getattr(result, "dtype", None) in _LOWER else result


def _wider(value: Any) -> Any:
    return torch.float64 if isinstance(value, torch.dtype) and value in _LOWER else value


def _bits(function: Any, args: Any, named: dict[str, Any]) -> Any:
    """Look at the bits of a tensor as another type; those of a number that should have been rounded are others."""
    if args[0].dtype == torch.float64:
        raise TypeError("the bits of a number in float64 are not those of the task")
    return function(*args, **named)
