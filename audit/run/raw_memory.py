"""Runs in a child: device memory past torch: bytes written through an address, arenas without tensors, checksums.

torch counts the writes it makes itself into a tensor's version, and functions of torch can be watched. Other writers of
a GPU's memory, a kernel that a caller launches for instance, do neither. A result that is kept for an address and a
version is therefore wrong after such a write. Claimed code can also list every tensor object of its process: right
results that lay there as tensors would be found by their shape; in an arena it finds one vector of bytes.

Checksums are taken on the GPU, so that nothing has to be copied to see that nothing changed. What they and snapshots
need lies in a memory pool of its own. The allocator hands none of it to claimed code, so that taking one leaves what a
call finds in fresh memory as it was.
"""

from __future__ import annotations

import ctypes
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

BETWEEN_ANY = 4
"""cudaMemcpyDefault: the driver finds out by the addresses where each side lies."""

_data_ptr, _nbytes = torch.Tensor.data_ptr, torch.Tensor.nbytes.__get__  # type: ignore[attr-defined]
_strides, _shape = torch.Tensor.stride, torch.Tensor.shape.__get__  # type: ignore[attr-defined]
_contiguous, _in_one_piece = torch.Tensor.contiguous, torch.Tensor.is_contiguous
_data, _copy = torch.Tensor.data.__get__, torch.Tensor.copy_  # type: ignore[attr-defined]
"""Taken before claimed code may put others in their place."""


def write(target: torch.Tensor, source: torch.Tensor) -> None:
    """Overwrite a tensor with the values of another of its shape and type, in the order of the current stream.

    The version counter of `target` stays as it is. Where a layout is neither dense nor the same on both sides, torch
    writes through `target.data`, whose version is counted apart.

    Raises:
        ValueError: shape or type differ.
    """
    if source.dtype != target.dtype or _shape(source) != _shape(target):
        raise ValueError(f"{source.dtype} {tuple(_shape(source))} into {target.dtype} {tuple(_shape(target))}")
    if not _same_layout(target, source):
        source = _contiguous(source)
    if not _same_layout(target, source):
        _copy(_data(target), source)
    elif _nbytes(target):
        _write_bytes(target, source)


def runtime() -> ctypes.CDLL | None:
    """The CUDA runtime that torch and its extensions share; None where there is none, or it is linked statically."""
    with suppress(OSError):
        for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
            path = line.partition("/")[1] + line.partition("/")[2]
            if Path(path).name.startswith("libcudart.so"):
                return ctypes.CDLL(path)
    return None


def _same_layout(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether both are dense in the same order of dimensions, so that their bytes lie in the same order."""
    if _in_one_piece(one) and _in_one_piece(other):
        return True
    return _strides(one) == _strides(other) and _dense(one)


def _dense(tensor: torch.Tensor) -> bool:
    expected = 1
    for stride, size in sorted(zip(_strides(tensor), _shape(tensor), strict=True)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def _write_bytes(target: torch.Tensor, source: torch.Tensor) -> None:
    if not (target.is_cuda or source.is_cuda):
        ctypes.memmove(_data_ptr(target), _data_ptr(source), _nbytes(target))
        return
    copy = _asynchronous_copy()
    stream = torch._C._cuda_getCurrentRawStream(target.device.index or 0)
    if copy is None or copy(_data_ptr(target), _data_ptr(source), _nbytes(target), BETWEEN_ANY, stream) != 0:
        _copy(_data(target), source)


@cache
def _asynchronous_copy() -> ctypes._NamedFuncPointer | None:
    """cudaMemcpyAsync of the runtime; None where there is no runtime to be found."""
    library = runtime()
    if library is None:
        return None
    function = library.cudaMemcpyAsync
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
    return function


ALIGNMENT = 512

_narrow, _viewed, _as_strided = torch.Tensor.narrow, torch.Tensor.view, torch.Tensor.as_strided
"""Taken before claimed code may put others in their place."""


@dataclass(frozen=True)
class Kind:
    """The type, shape and strides of a dense value."""

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
        flat = _viewed(_narrow(self._memory, 0, start, kind.elements * kind.dtype.itemsize), kind.dtype)
        return _as_strided(flat, kind.shape, kind.strides)


@cache
def _pool() -> Any:
    """Memory of the kit's own: the allocator hands none of it to claimed code."""
    return torch.cuda.MemPool()


PIECES = 8
"""In which a snapshot is taken, the last one first."""
SLEEP_CYCLES = 60_000_000
"""About 30 ms of a GPU's time: far more than the host needs to put everything behind it in the queue."""


class Room:
    """Room for a snapshot of results on a GPU, reserved before the call: an allocation behind it would wait for what
    still runs.

    Args:
        sizes: the bytes of each result that is due.
        queued: whether the current stream sleeps first. Then the copy is queued before a kernel of the call starts, and
            no time of the host lets a kernel on another stream come to its end before.
    """

    def __init__(self, sizes: Sequence[int], *, queued: bool) -> None:
        with torch.cuda.use_mem_pool(_pool()):
            self._rooms = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in sizes]
        if queued:  # a freed block for each result: the driver, asked for memory, would wait for the sleep
            _ = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in sizes]
            torch.cuda._sleep(SLEEP_CYCLES)  # type: ignore[no-untyped-call]

    def snapshot(self, results: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Copies of the results in the order of the current stream, the last bytes first: a kernel on another stream
        writes those last."""
        rooms = {_nbytes(one): one for one in self._rooms} if len(self._rooms) == len(results) else {}
        return tuple(self._copied(one, rooms.pop(_nbytes(one), None)) for one in results)

    @staticmethod
    def _copied(result: torch.Tensor, room: torch.Tensor | None) -> torch.Tensor:
        if room is None or not result.is_cuda or not _in_one_piece(result) or not _nbytes(result):
            return result.clone()
        copy = _as_strided(_viewed(room, result.dtype), _shape(result), _strides(result))
        flat = _viewed(result, -1)
        step = -(-result.numel() // PIECES)
        for start in reversed(range(0, result.numel(), step)):
            length = min(step, result.numel() - start)
            write(_narrow(_viewed(copy, -1), 0, start, length), _narrow(flat, 0, start, length))
        return copy


WORD_BYTES = 8
CHUNK = 1 << 22
"""Words at a time: 32 MiB, and as much again for their products."""
MODULUS = 1 << 64
FACTOR = 0x9E3779B97F4A7C15
"""Odd, so that every chunk counts: the golden ratio's share of 2**64."""


class Checksums:
    """Sums of 8-byte words, each times an odd number of its own, modulo 2**64: one changed word always shows.

    The numbers are drawn once a process.
    """

    def __init__(self) -> None:
        self._factors = torch.empty(0)

    def of(self, tensor: torch.Tensor) -> int | None:
        """The checksum of a tensor in one piece of GPU memory, row major; None for any other tensor."""
        if not tensor.is_cuda or not tensor.is_contiguous() or type(tensor) is not torch.Tensor:
            return None
        with torch.no_grad(), torch.cuda.use_mem_pool(_pool()):
            return self._sum(tensor.reshape(-1).view(torch.uint8))

    def _sum(self, data: torch.Tensor) -> int:
        if not self._factors.numel():
            generator = torch.Generator(data.device).manual_seed(secrets.randbits(62))
            drawn = torch.randint(-(1 << 62), 1 << 62, (CHUNK,), device=data.device, generator=generator)
            self._factors = drawn | 1
        whole = data.numel() // WORD_BYTES * WORD_BYTES
        words = self._aligned(data[:whole])
        sums = [(one * self._factors[: one.numel()]).sum() for one in torch.split(words, CHUNK)] if whole else []
        total = 0
        for part in [*torch.stack(sums).tolist(), *data[whole:].tolist()] if sums else data[whole:].tolist():
            total = (total * FACTOR + part) % MODULUS
        return total

    @staticmethod
    def _aligned(data: torch.Tensor) -> torch.Tensor:
        """As 8-byte words; a view that does not begin at one is copied."""
        return (data if data.data_ptr() % WORD_BYTES == 0 else data.clone()).view(torch.int64)
