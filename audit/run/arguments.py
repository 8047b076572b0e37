"""Runs in a child: the arguments of one case, as they were made and as they lie in device memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch

from audit.run import raw_memory
from audit.run.containers import along, holds_more, leaves, rebuilt, refilled, tensors
from audit.run.harness import Upload, placed

PADDING = 3
"""Elements between the rows of a padded view."""
OFFSET = 64
"""Elements before a view with a storage offset: a multiple of every vector a kernel may load at once."""
MOST_CHARACTERS = 4000
"""Of the message of an exception of claimed code."""
SHARED = "the GPU's memory, which other processes and the audit use too, is full"
"""Said where a call finds no memory: it need not be the kernel that holds it."""
WORD_BYTES = 8
MOST_TRIED = 6
"""Copies of an input made at most until one lies at a given address."""


class Arguments:
    """One case: its values on the host, and the buffers that hold them on the device.

    A call may change its buffers; the values are put back before the next call that uses them. Calls over the same
    buffers are handed the same lists and dicts, as a benchmark's loop hands them: what a call left there stays. What
    does not fit into device memory is named by `failed`, and other cases go on. `host` are the positions of arguments
    whose tensors stay with the host, `checksum` sees without a copy that a tensor is as it was uploaded, where a device
    can.
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
        self._right = True
        self._upload = upload
        try:
            self.buffers = self._uploaded(values)
            self._checksums = [self._checksum(x) if isinstance(x, torch.Tensor) else None for x in self.buffers]
        except torch.OutOfMemoryError as error:
            self.failed = named(error)

    def changed(self, inputs: list[Any]) -> list[int]:
        """How many bytes of each of those arguments differ from this case's values."""
        checksums = iter(self._checksums)  # one for each leaf of all arguments
        return [
            sum(self._differing(x, y, next(checksums)) for x, y in zip(along(now, was), leaves(was), strict=True))
            for now, was in zip(inputs, self.values, strict=True)
        ]

    def kept_in(self, inputs: list[Any]) -> list[int]:
        """The places of the lists and dicts among those arguments in which a call left something."""
        return [
            place for place, (now, known) in enumerate(zip(inputs, self.values, strict=True)) if holds_more(now, known)
        ]

    def fill(self, values: list[Any]) -> list[Any]:
        """The same buffers with those values, written past torch's version counters; numbers are handed on.

        A tensor of another shape or type than its buffer gets a buffer of its own.
        """
        wanted = leaves(values)
        if values is self.values and self._right:
            flat = [buffer if isinstance(buffer, torch.Tensor) else x
                    for buffer, x in zip(self.buffers, wanted, strict=True)]  # fmt: skip
        else:
            rows = zip(self._places, self.buffers, wanted, strict=True)
            flat = [self._placed(place, buffer, x) for place, buffer, x in rows]
            self._right = values is self.values
        self._handed = refilled(self._handed, values, flat)
        return list(self._handed)

    def spoil(self) -> None:
        """The buffers no longer hold this case's values."""
        self._right = False

    def fresh(self, *, at: Sequence[int] = ()) -> list[Any]:
        """The values in buffers of their own, at other addresses than those in use, within containers of their own.

        The tensors come to lie at the addresses `at`, one each in order, as far as those are free again.
        """
        wanted = iter(at)
        flat = [
            self._there_at(place, x, next(wanted, None)) if isinstance(x, torch.Tensor) else x
            for place, x in zip(self._places, leaves(self.values), strict=True)
        ]
        made: list[Any] = rebuilt(self.values, flat)
        return made

    def laid_out(self, layout: str) -> list[Any]:
        """The values in views of that layout. Raises LookupError listing the known ones."""
        if layout not in LAYOUTS:
            raise LookupError(f"unknown layout {layout}; known: {', '.join(LAYOUTS)}")
        view = LAYOUTS[layout]
        flat = [
            view(x, self._upload).copy_(x)
            if isinstance(x, torch.Tensor) and x.numel() > 1 and self._goes(place)
            else there
            for place, x, there in zip(self._places, leaves(self.values), self._uploaded(self.values), strict=True)
        ]
        made: list[Any] = rebuilt(self.values, flat)
        return made

    def _differing(self, now: Any, known: Any, checksum: int | None) -> int:
        as_uploaded = (
            checksum is not None
            and isinstance(now, torch.Tensor)
            and alike(now, known)
            and self._checksum(now) == checksum
        )
        return 0 if as_uploaded else differing(now, known)

    def _placed(self, place: int, buffer: Any, x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        if not isinstance(buffer, torch.Tensor) or not alike(buffer, x):
            return self._upload(x) if self._goes(place) else x.clone()
        raw_memory.write(buffer, x)
        return buffer

    def _there_at(self, place: int, x: torch.Tensor, address: int | None) -> torch.Tensor:
        """A copy where it belongs; an allocator hands out one free block after another until that address comes."""
        if not self._goes(place):
            return x.clone()
        tried = [self._upload(x)]
        while address is not None and tried[-1].data_ptr() != address and len(tried) < MOST_TRIED:
            tried.append(self._upload(x))
        return tried[-1]

    def _uploaded(self, values: list[Any]) -> list[Any]:
        """One leaf for each of the values' own."""
        return leaves(placed(values, self._upload, self._host))

    @property
    def _places(self) -> list[int]:
        """For each leaf the position of its argument."""
        return [place for place, value in enumerate(self.values) for _ in leaves(value)]

    def _goes(self, place: int) -> bool:
        """Whether the tensors of that argument lie on the device."""
        return place not in self._host


def write_all(arguments: list[Any], values: list[Any]) -> None:
    """Writes the values into arguments of the same shapes, in the order of the current stream."""
    for buffer, value in zip(tensors(arguments), tensors(values), strict=True):
        raw_memory.write(buffer, value)


def named(error: Exception) -> str:
    """The error's type and the beginning of its first line; torch appends advice and a stack of its own."""
    lines = str(error).strip().splitlines() or ["no message"]
    shared = f"{SHARED}: " if isinstance(error, torch.OutOfMemoryError) else ""
    return f"{type(error).__name__}: {shared}{lines[0]}"[:MOST_CHARACTERS]


def as_bytes(*tensors: torch.Tensor) -> torch.Tensor:
    """The bytes of tensors one behind another on the host, row major, as a vector of uint8."""
    every = [_view(_reshape(_contiguous(_cpu(_detach(one))), -1), torch.uint8) for one in tensors]
    return every[0] if len(every) == 1 else _cat(every)


_detach, _cpu, _contiguous, _cat = torch.Tensor.detach, torch.Tensor.cpu, torch.Tensor.contiguous, torch.cat
_reshape, _view = torch.Tensor.reshape, torch.Tensor.view
"""Taken before claimed code may put others in their place."""


def alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors have one shape and one type."""
    return (one.shape, one.dtype) == (other.shape, other.dtype)


def differing(one: object, other: object) -> int:
    """How many bytes of two tensors differ; numbers and lists among arguments have none that a call could change.

    Tensors of different sizes differ in all bytes of the larger one.
    """
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return 0
    here, there = as_bytes(one), as_bytes(other)
    if here.shape != there.shape:
        return max(here.numel(), there.numel())
    if _equal(here, there):  # nearly always; found without a result of the same size
        return 0
    return int(torch.count_nonzero(here != there))


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two vectors of bytes are equal: as whole words where they lie so, which takes a fifth of the time."""
    pair = (one, other)
    if all(x.numel() % WORD_BYTES == 0 == x.storage_offset() % WORD_BYTES for x in pair):
        return torch.equal(*(_view(x, torch.int64) for x in pair))
    return torch.equal(*pair)


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
