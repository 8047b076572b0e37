"""Flatten and rebuild arguments that hold tensors within lists, tuples and dicts.

Objects of other types are leaves: their contents are neither read nor written.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import torch

CONTAINERS = (list, tuple, dict)


def leaves(value: Any) -> list[Any]:
    """Return the leaves of nested containers, in order; a value that is no container is its own only leaf."""
    return [leaf for _, leaf in named_leaves(value)]


def named_leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each leaf with its joined keys, `_weights_norm_bias` for instance; empty at the top."""
    if type(value) not in CONTAINERS:
        yield name, value
        return
    for key, one in value.items() if type(value) is dict else enumerate(value):
        yield from named_leaves(one, f"{name}_{re.sub(r'[^0-9A-Za-z]+', '_', str(key))}")


def tensors(value: Any) -> list[torch.Tensor]:
    """Return the tensors among the leaves."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, torch.Tensor)]


def loads(value: object) -> bool:
    """Return whether torch loads the value again without running code of others."""
    if value is None or type(value) in (bool, int, float, str):
        return True
    kept = io.BytesIO()
    try:
        torch.save(value, kept)
        kept.seek(0)
        torch.load(kept, weights_only=True)
    except Exception:  # an object of others may raise anything
        return False
    return True


def rebuilt(value: Any, flat: Sequence[Any]) -> Any:
    """Return new containers of the same structure around those leaves; one leaf for each of `leaves(value)`."""
    return _rebuilt(value, iter(flat))


def refilled(handed: Any, value: Any, flat: Sequence[Any]) -> Any:
    """Put leaves, one for each of `leaves(value)`, into the dicts and lists that an earlier call got, `handed` as
    `rebuilt` made them; keys that a call added to a dict stay in it. Tuples are new."""
    return _refilled(handed, value, iter(flat))


def along(handed: Any, value: Any) -> list[Any]:
    """Return the leaf of `handed` that corresponds to each of `leaves(value)`; None where a call removed it."""
    if type(value) is dict:
        known = handed if type(handed) is dict else {}
        return [leaf for key, one in value.items() for leaf in along(known.get(key), one)]
    if type(value) in (list, tuple):
        held = [*(handed if type(handed) is type(value) else ()), *[None] * len(value)]
        return [leaf for one, other in zip(held, value, strict=False) for leaf in along(one, other)]
    return [handed]


def holds_more(handed: Any, value: Any) -> bool:
    """Return whether the containers' structure differs from `value`: a call has added or removed items."""
    if type(handed) is not type(value):
        return True
    if type(value) not in CONTAINERS:
        return False
    if len(handed) != len(value) or (type(value) is dict and list(handed) != list(value)):
        return True
    pairs = zip(*(one.values() if type(one) is dict else one for one in (handed, value)), strict=True)
    return any(holds_more(one, other) for one, other in pairs)


def _rebuilt(value: Any, left: Iterator[Any]) -> Any:
    if type(value) is dict:
        return {key: _rebuilt(one, left) for key, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)([_rebuilt(one, left) for one in value])
    return next(left)


def _refilled(handed: Any, value: Any, left: Iterator[Any]) -> Any:
    if type(value) is dict and type(handed) is dict:
        for key, one in value.items():
            handed[key] = _refilled(handed.get(key), one, left)
        return handed
    if type(value) is list and type(handed) is list:
        held = [*handed, *[None] * len(value)]
        handed[:] = [_refilled(one, other, left) for one, other in zip(held, value, strict=False)]
        return handed
    if type(value) is tuple and type(handed) is tuple and len(handed) == len(value):
        return tuple(_refilled(one, other, left) for one, other in zip(handed, value, strict=True))
    return _rebuilt(value, left)
