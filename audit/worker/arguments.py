"""Runs in a child: the arguments of one case, as they were made and as they lie in device memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

PADDING = 3
"""Elements between the rows of a padded view."""
OFFSET = 64
"""Elements before a view with a storage offset: a multiple of every vector a kernel may load at once."""
MOST_CHARACTERS = 4000
"""Of what claimed code says when it raises."""
Upload = Callable[[torch.Tensor], torch.Tensor]


class Arguments:
    """One case: its values on the host, and the buffers that hold them on the device.

    A call may change its buffers; the values are put back before the next call that uses them. What did not fit into
    device memory is told by `failed`, and the other cases go on.
    """

    def __init__(self, values: list[Any], upload: Upload) -> None:
        self.values = values
        self.failed: str | None = None
        self.buffers: list[Any] = []
        self._right = True
        self._upload = upload
        try:
            self.buffers = self._uploaded(values)
        except torch.OutOfMemoryError as error:
            self.failed = named(error)

    def changed(self, inputs: list[Any]) -> list[int]:
        """How many bytes of each of those arguments differ from this case's values."""
        return [differing(now, known) for now, known in zip(inputs, self.values, strict=True)]

    def fill(self, values: list[Any]) -> list[Any]:
        """The same buffers with those values; numbers and lists among the arguments are handed on as they are."""
        if values is not self.values or not self._right:
            copy_all(self.buffers, values)
            self._right = values is self.values
        return [buffer if isinstance(buffer, torch.Tensor) else value
                for buffer, value in zip(self.buffers, values, strict=True)]  # fmt: skip

    def spoil(self) -> None:
        """The buffers no longer hold this case's values."""
        self._right = False

    def fresh(self) -> list[Any]:
        """The values in buffers of their own, at other addresses than those in use."""
        return self._uploaded(self.values)

    def laid_out(self, layout: str) -> list[Any]:
        """The values in views of that layout. Raises LookupError listing the known ones."""
        if layout not in LAYOUTS:
            raise LookupError(f"unknown layout {layout}; known: {', '.join(LAYOUTS)}")
        view = LAYOUTS[layout]
        return [
            view(x, self._upload).copy_(x) if isinstance(x, torch.Tensor) and x.numel() > 1 else self._there(x)
            for x in self.values
        ]

    def _uploaded(self, values: Iterable[Any]) -> list[Any]:
        return [self._there(x) for x in values]

    def _there(self, x: Any) -> Any:
        return self._upload(x) if isinstance(x, torch.Tensor) else x


def copy_all(buffers: list[Any], values: list[Any]) -> None:
    """Writes the values into buffers of the same shapes, in the order of the current stream."""
    for buffer, value in zip(buffers, values, strict=True):
        if isinstance(buffer, torch.Tensor):
            buffer.copy_(value)


def named(error: Exception) -> str:
    """The error's type and the beginning of its first line; torch appends advice and a stack of its own."""
    lines = str(error).strip().splitlines() or ["no message"]
    return f"{type(error).__name__}: {lines[0]}"[:MOST_CHARACTERS]


def as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor's bytes on the host, row major, as a vector of uint8."""
    return _view(_reshape(_contiguous(_cpu(_detach(tensor))), -1), torch.uint8)


_detach, _cpu, _contiguous = torch.Tensor.detach, torch.Tensor.cpu, torch.Tensor.contiguous
_reshape, _view = torch.Tensor.reshape, torch.Tensor.view
"""Taken before claimed code may put others in their place."""


def differing(one: object, other: object) -> int:
    """How many bytes of two tensors differ; numbers and lists among arguments have none that a call could change.

    Tensors of different sizes differ in all bytes of the larger one.
    """
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return 0
    here, there = as_bytes(one), as_bytes(other)
    if here.shape != there.shape:
        return max(here.numel(), there.numel())
    if torch.equal(here, there):  # as good as always, and told without a result of the same size
        return 0
    return int(torch.count_nonzero(here != there))


def _transposed(x: torch.Tensor, upload: Upload) -> torch.Tensor:
    """The last two dimensions lie the other way round; a vector lies with gaps."""
    if x.dim() < 2:
        return _gapped(x, upload)
    return upload(torch.zeros_like(x.mT.contiguous())).mT


def _padded(x: torch.Tensor, upload: Upload) -> torch.Tensor:
    """A part of a wider matrix; a vector lies with gaps."""
    if x.dim() < 2:
        return _gapped(x, upload)
    wide = torch.zeros(*x.shape[:-1], x.shape[-1] + PADDING, dtype=x.dtype)
    return upload(wide)[..., : x.shape[-1]]


def _offset(x: torch.Tensor, upload: Upload) -> torch.Tensor:
    """In one piece, but not at the start of its storage."""
    return upload(torch.zeros(OFFSET + x.numel(), dtype=x.dtype))[OFFSET:].view(x.shape)


def _gapped(x: torch.Tensor, upload: Upload) -> torch.Tensor:
    return upload(torch.zeros(2 * x.numel(), dtype=x.dtype))[::2].view(x.shape)


LAYOUTS: dict[str, Callable[[torch.Tensor, Upload], torch.Tensor]] = {
    "offset": _offset,
    "padded": _padded,
    "transposed": _transposed,
}
