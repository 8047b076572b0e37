"""Runs in a child: many values in one piece of device memory, where no tensor of their shape exists between uses.

Claimed code can list every tensor object of its process. Right results that lay there as tensors would be found by
their shape; here it finds one vector of bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

ALIGNMENT = 512

_narrow, _view, _as_strided = torch.Tensor.narrow, torch.Tensor.view, torch.Tensor.as_strided
"""Taken before claimed code may put others in their place."""


@dataclass(frozen=True)
class Kind:
    """What a value is: its type, shape and strides; dense."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Kind:
        """The kind of a dense tensor."""
        return cls(tensor.dtype, tuple(tensor.shape), tuple(tensor.stride()))

    @property
    def bytes(self) -> int:
        """The bytes it takes, up to where the next one may begin."""
        return -(-self.elements * self.dtype.itemsize // ALIGNMENT) * ALIGNMENT

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return torch.Size(self.shape).numel()


class Arena:
    """Room for `rows` rows of values, all rows of the same kinds."""

    def __init__(self, kinds: Sequence[Kind], rows: int, *, device: torch.device) -> None:
        self._kinds = tuple(kinds)
        self._row = self.row_bytes(kinds)
        self._memory = torch.empty(max(1, rows * self._row), dtype=torch.uint8, device=device)

    @staticmethod
    def row_bytes(kinds: Sequence[Kind]) -> int:
        """The bytes of a row of values of those kinds."""
        return sum(kind.bytes for kind in kinds)

    def view(self, row: int, column: int) -> torch.Tensor:
        """The value there, to be let go of before claimed code runs."""
        kind = self._kinds[column]
        start = row * self._row + sum(one.bytes for one in self._kinds[:column])
        flat = _view(_narrow(self._memory, 0, start, kind.elements * kind.dtype.itemsize), kind.dtype)
        return _as_strided(flat, kind.shape, kind.strides)
