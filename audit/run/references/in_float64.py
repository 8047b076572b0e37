"""A reference's arithmetic in float64, also where the file itself asks for less.

Arguments and parameters are doubled, and casts to float32 are casts to float64: a reference that starts with
`x.float()` means no rounding by it. Casts to bfloat16 and float16 may be part of a task. One that multiplies such a
tensor with a doubled one raises; `computed` calls that reference again with these casts as casts to float64 too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from audit.run.calls.containers import leaves, rebuilt

_MIXED = re.compile(r"\b(?:dtypes?|scalar type|data type|bias type|double)\b", re.IGNORECASE)
"""Words by which torch's operators refuse operands of different types."""
_LOWER = (torch.float32, torch.bfloat16, torch.float16)
_NAMED_CASTS = {"float": torch.float32, "bfloat16": torch.bfloat16, "half": torch.float16}
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
    """Return the result of a call with doubled arguments and its casts to float32 in float64; where it refuses that,
    with its own casts, and where types do not match, with all casts to float64. Raises RuntimeError: of the second
    call, where the third raises too. Also any other exception of the second."""
    with default_dtype(torch.float64):
        with suppress(Exception), _CastsToFloat64((torch.float32,)):  # the file may raise anything there
            return call([doubled(value) for value in arguments])
        try:
            return call([doubled(value) for value in arguments])
        except RuntimeError as error:
            if not _MIXED.search(str(error)):
                raise
            try:
                with _CastsToFloat64(_LOWER):
                    return call([doubled(value) for value in arguments])
            except Exception:
                raise error from None


class _CastsToFloat64(TorchFunctionMode):
    """Make a lower real type that a function is given float64. Casts to float8 and integers are part of a task.

    Args:
        lower: the types.
    """

    def __init__(self, lower: tuple[torch.dtype, ...]) -> None:
        super().__init__()
        self._lower = lower

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, named = getattr(function, "__name__", ""), dict(kwargs or {})
        if name == "view" and any(isinstance(one, torch.dtype) for one in (*args, *named.values())):
            return _bits(function, args, named)
        if name in _DRAWS:
            return doubled(function(*args, **named))
        if "autocast" not in name:
            args = tuple(map(self._wider, args))
            named = {key: self._wider(value) for key, value in named.items()}
        if _NAMED_CASTS.get(name) in self._lower:
            return args[0].double()
        result = function(*args, **named)
        return result.double() if name in _CASTS and getattr(result, "dtype", None) in self._lower else result

    def _wider(self, value: Any) -> Any:
        return torch.float64 if isinstance(value, torch.dtype) and value in self._lower else value


def _bits(function: Any, args: Any, named: dict[str, Any]) -> Any:
    """Look at the bits of a tensor as another type; those of a number that should have been rounded are others."""
    if args[0].dtype == torch.float64:
        raise TypeError("the bits of a number in float64 are not those of the task")
    return function(*args, **named)
