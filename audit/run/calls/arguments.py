"""The arguments of one case, on the host and in device memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch

from audit.model.sanitizer import TERMINAL_ESCAPE
from audit.run.calls import raw_memory
from audit.run.calls.containers import along, holds_more, leaves, rebuilt, refilled, tensors
from audit.run.calls.harness import Upload, placed

PADDING = 3
"""Elements between the rows of a padded view."""
OFFSET = 64
"""Elements before a view with a storage offset: a multiple of the widest vector load."""
MOST_CHARACTERS = 4000
"""The most characters of an exception's message."""
SHARED = "the GPU's memory, which other processes and the audit use too, is full"
"""The text for a call that finds no memory: another process may hold it."""
WORD_BYTES = 8
MOST_TRIED = 6
"""The most copies of an input that are made until one lies at a given address."""


class Arguments:
    """One case: its values on the host, and the buffers that hold them on the device.

    A call may change its buffers; `fill` restores the values before the next call. As in a benchmark's loop, calls over
    the same buffers get the same list and dict objects, with any item that an earlier call left there.

    Args:
        values: the arguments.
        upload: copies a tensor to the device.
        host: positions of arguments whose tensors stay on the host.
        checksum: a checksum of a device tensor, without a copy; None where the device has none.

    Attributes:
        failed: why the case does not fit into device memory; None if it does.
    """

    def __init__(
        self,
        values: list[Any],
        upload: Upload,
        *,
        host: Collection[int] = (),
        checksum: Callable[[torch.Tensor], int | None] = lambda _: None,
    ) -> None:
        self.values = values
        self._checksum = checksum
        self._checksums: list[int | None] = []
        self._host = host
        self.failed: str | None = None
        self.buffers: list[Any] = []
        self._handed: list[Any] = []
        self._intact = True
        self._upload = upload
        try:
            self.buffers = self._uploaded(values)
            self._checksums = [self._checksum(x) if isinstance(x, torch.Tensor) else None for x in self.buffers]
        except torch.OutOfMemoryError as error:
            self.failed = named(error)

    def changed(self, inputs: list[Any]) -> list[int]:
        """Return the number of bytes of each of those arguments that differ from this case's values."""
        checksums = iter(self._checksums)  # one for each leaf of all arguments
        return [
            sum(self._differing(x, y, next(checksums)) for x, y in zip(along(now, was), leaves(was), strict=True))
            for now, was in zip(inputs, self.values, strict=True)
        ]

    def extended(self, inputs: list[Any]) -> list[int]:
        """Return the positions of the lists and dicts among those arguments to which a call has added items."""
        return [
            index for index, (now, known) in enumerate(zip(inputs, self.values, strict=True)) if holds_more(now, known)
        ]

    def fill(self, values: list[Any]) -> list[Any]:
        """Return the same buffers with those values, written past torch's version counters, and the numbers.

        A tensor of another shape or type than its buffer gets a buffer of its own.
        """
        wanted = leaves(values)
        if values is self.values and self._intact:
            flat = [buffer if isinstance(buffer, torch.Tensor) else x
                    for buffer, x in zip(self.buffers, wanted, strict=True)]  # fmt: skip
        else:
            rows = zip(self._positions, self.buffers, wanted, strict=True)
            flat = [self._placed(position, buffer, x) for position, buffer, x in rows]
            self._intact = values is self.values
        self._handed = refilled(self._handed, values, flat)
        return list(self._handed)

    def invalidate(self) -> None:
        """Note that the buffers no longer hold this case's values."""
        self._intact = False

    def fresh(self, *, at: Sequence[int] = ()) -> list[Any]:
        """Return the values in new buffers within new containers.

        The tensors are put at the addresses `at`, one each in order, where those are free.
        """
        wanted = iter(at)
        flat = [
            self._copied_to(position, x, next(wanted, None)) if isinstance(x, torch.Tensor) else x
            for position, x in zip(self._positions, leaves(self.values), strict=True)
        ]
        made: list[Any] = rebuilt(self.values, flat)
        return made

    def laid_out(self, layout: str) -> list[Any]:
        """Return the values in views of that one of `LAYOUTS`."""
        view = LAYOUTS[layout]
        flat = [
            view(x, self._upload).copy_(x)
            if isinstance(x, torch.Tensor) and x.numel() > 1 and self._on_device(position)
            else uploaded
            for position, x, uploaded in zip(
                self._positions, leaves(self.values), self._uploaded(self.values), strict=True
            )
        ]
        made: list[Any] = rebuilt(self.values, flat)
        return made

    def _differing(self, now: Any, known: Any, checksum: int | None) -> int:
        comparable = checksum is not None and isinstance(now, torch.Tensor) and alike(now, known)
        return 0 if comparable and self._checksum(now) == checksum else differing(now, known)

    def _placed(self, position: int, buffer: Any, x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        if not isinstance(buffer, torch.Tensor) or not alike(buffer, x):
            return self._upload(x) if self._on_device(position) else x.clone()
        raw_memory.write(buffer, x)
        return buffer

    def _copied_to(self, position: int, x: torch.Tensor, address: int | None) -> torch.Tensor:
        """Return a copy, uploaded again until the allocator hands out that address."""
        if not self._on_device(position):
            return x.clone()
        tried = [self._upload(x)]
        while address is not None and tried[-1].data_ptr() != address and len(tried) < MOST_TRIED:
            tried.append(self._upload(x))
        return tried[-1]

    def _uploaded(self, values: list[Any]) -> list[Any]:
        """Return the uploaded leaves of the values."""
        return leaves(placed(values, self._upload, self._host))

    @property
    def _positions(self) -> list[int]:
        """The position of its argument, for each leaf."""
        return [position for position, value in enumerate(self.values) for _ in leaves(value)]

    def _on_device(self, position: int) -> bool:
        return position not in self._host


def write_all(arguments: list[Any], values: list[Any]) -> None:
    """Write the values into arguments of the same shapes, on the current stream."""
    for buffer, value in zip(tensors(arguments), tensors(values), strict=True):
        raw_memory.write(buffer, value)


def named(error: Exception) -> str:
    """Return the error's type and first line, without terminal escapes; torch appends advice and a stack."""
    lines = TERMINAL_ESCAPE.sub("", str(error)).strip().splitlines() or ["no message"]
    shared = f"{SHARED}: " if isinstance(error, torch.OutOfMemoryError) else ""
    return f"{type(error).__name__}: {shared}{lines[0]}"[:MOST_CHARACTERS]


def as_bytes(*tensors: torch.Tensor) -> torch.Tensor:
    """Return the concatenated bytes of tensors, row major, as a vector of uint8 on the host."""
    every = [_view(_reshape(_contiguous(_cpu(_detach(one))), -1), torch.uint8) for one in tensors]
    return every[0] if len(every) == 1 else _cat(every)


_detach, _cpu, _contiguous, _cat = torch.Tensor.detach, torch.Tensor.cpu, torch.Tensor.contiguous, torch.cat
_reshape, _view = torch.Tensor.reshape, torch.Tensor.view
"""Bound here, before claimed code can replace them."""


def alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two tensors have the same shape and type."""
    return (one.shape, one.dtype) == (other.shape, other.dtype)


def differing(one: object, other: object) -> int:
    """Return the number of bytes in which two tensors differ; 0 for other objects.

    Tensors of different sizes differ in all bytes of the larger one.
    """
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return 0
    here, there = as_bytes(one), as_bytes(other)
    if here.shape != there.shape:
        return max(here.numel(), there.numel())
    if _equal(here, there):  # nearly always, and needs no memory
        return 0
    return int(torch.count_nonzero(here != there))


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two vectors of bytes are equal; comparing aligned words takes a fifth of the time."""
    pair = (one, other)
    if all(x.numel() % WORD_BYTES == 0 == x.storage_offset() % WORD_BYTES for x in pair):
        return torch.equal(*(_view(x, torch.int64) for x in pair))
    return torch.equal(*pair)


def _transposed(x: torch.Tensor, upload: Upload) -> torch.Tensor:
    """Return a view whose last two dimensions are swapped in memory; for a vector, one with gaps."""
    if x.dim() < 2:
        return _gapped(x, upload)
    return upload(torch.zeros_like(x.mT.contiguous())).mT


def _padded(x: torch.Tensor, upload: Upload) -> torch.Tensor:
    """Return a part of a wider matrix; for a vector, a view with gaps."""
    if x.dim() < 2:
        return _gapped(x, upload)
    wide = torch.zeros(*x.shape[:-1], x.shape[-1] + PADDING, dtype=x.dtype)
    return upload(wide)[..., : x.shape[-1]]


def _gapped(x: torch.Tensor, upload: Upload) -> torch.Tensor:
    return upload(torch.zeros(2 * x.numel(), dtype=x.dtype))[::2].view(x.shape)


LAYOUTS: dict[str, Callable[[torch.Tensor, Upload], torch.Tensor]] = {
    "offset": lambda x, upload: upload(torch.zeros(OFFSET + x.numel(), dtype=x.dtype))[OFFSET:].view(x.shape),
    "padded": _padded,
    "transposed": _transposed,
}
