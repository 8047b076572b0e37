"""Device memory without torch: writes through an address, arenas without tensors, checksums.

torch counts its own writes in a tensor's version, and its functions can be watched; other writes to a GPU's memory, by
a caller's kernel for instance, bypass both. So a result cached by address and version is wrong after such a write.
Claimed code can also list every tensor object of its process and would find right results by their shape; an arena is
one vector of bytes.

Checksums are taken on the GPU, which spares a copy. Their memory and that of snapshots come from a pool of their own,
which the allocator never hands to claimed code: they leave the contents of fresh memory as they are.
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
"""cudaMemcpyDefault: the driver infers the direction from the addresses."""
LEAST_FLUSH_BYTES = 64 << 20
"""A write of so many bytes takes longer than the host needs for the next call, and fills most L2 caches."""

_data_ptr, _nbytes = torch.Tensor.data_ptr, torch.Tensor.nbytes.__get__  # type: ignore[attr-defined]
_strides, _shape = torch.Tensor.stride, torch.Tensor.shape.__get__  # type: ignore[attr-defined]
_contiguous, _in_one_piece = torch.Tensor.contiguous, torch.Tensor.is_contiguous
_data, _copy = torch.Tensor.data.__get__, torch.Tensor.copy_  # type: ignore[attr-defined]
_implementation, _on_gpu = torch._C.TensorBase._cdata.__get__, torch.Tensor.is_cuda.__get__  # type: ignore[attr-defined]
_storage_address, _offset = torch._C._data_address, torch.Tensor.storage_offset  # type: ignore[attr-defined]
_item_bytes = torch.Tensor.element_size
"""Bound here, before claimed code can replace them. `_data_address` leaves a lazy copy uncopied."""


def write(target: torch.Tensor, source: torch.Tensor) -> None:
    """Overwrite a tensor with the values of another of its shape and type, on the current stream.

    The version counter of `target` stays as it is. Where a layout is neither dense nor the same on both sides, torch
    writes through `target.data`, which has a version counter of its own. Raises ValueError: shape or type differ.
    """
    if source.dtype != target.dtype or _shape(source) != _shape(target):
        raise ValueError(f"{source.dtype} {tuple(_shape(source))} into {target.dtype} {tuple(_shape(target))}")
    if not _same_layout(target, source):
        source = _contiguous(source)
    if not _same_layout(target, source):
        _copy(_data(target), source)
    elif _nbytes(target):
        _write_bytes(target, source)


def _virtual_table(tensor: torch.Tensor) -> int:
    return ctypes.c_size_t.from_address(_implementation(tensor)).value


_PLAIN = _virtual_table(torch.empty(0))


def is_plain(tensor: torch.Tensor) -> bool:
    """Return whether the tensor's C++ class is torch's own: another one may compute its values when it is read."""
    return _virtual_table(tensor) == _PLAIN


def taken(outputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Return copies of outputs in the host's memory, made before any operator of torch runs: native code can wait for
    the next one and complete its result there. Return none where an output is no plain tensor with values there."""
    plain = all(type(one) is torch.Tensor and is_plain(one) and not _on_gpu(one) for one in outputs)
    there = plain and all(_storage_address(one) or not _nbytes(one) for one in outputs)
    return tuple(_taken(one) if _nbytes(one) else one for one in outputs) if there else ()


def _taken(output: torch.Tensor) -> torch.Tensor:
    reach = 1 + sum((size - 1) * stride for size, stride in zip(_shape(output), _strides(output), strict=True))
    held = (ctypes.c_char * (reach * _item_bytes(output)))()
    ctypes.memmove(held, _storage_address(output) + _offset(output) * _item_bytes(output), len(held))
    copy = _as_strided(torch.frombuffer(held, dtype=output.dtype), _shape(output), _strides(output))
    return copy.neg() if output.is_neg() else copy.conj() if output.is_conj() else copy


def runtime() -> ctypes.CDLL | None:
    """Return the CUDA runtime that torch and its extensions share; None without one, or if it is linked statically."""
    with suppress(OSError):
        for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
            path = line.partition("/")[1] + line.partition("/")[2]
            if Path(path).name.startswith("libcudart.so"):
                return ctypes.CDLL(path)
    return None


def _same_layout(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether both are dense in the same order of dimensions, so that their bytes are in the same order."""
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
    """Return cudaMemcpyAsync; None where the runtime is not found."""
    library = runtime()
    if library is None:
        return None
    function = library.cudaMemcpyAsync
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
    return function


ALIGNMENT = 512

_narrow, _viewed, _as_strided = torch.Tensor.narrow, torch.Tensor.view, torch.Tensor.as_strided
"""Bound here, before claimed code can replace them."""


@dataclass(frozen=True)
class Kind:
    """The type, shape and strides of a dense tensor."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Kind:
        """Return the kind of a dense tensor."""
        return cls(tensor.dtype, tuple(tensor.shape), tuple(tensor.stride()))

    @property
    def bytes(self) -> int:
        """Its bytes, with padding to `ALIGNMENT`."""
        return -(-self.elements * self.dtype.itemsize // ALIGNMENT) * ALIGNMENT

    @property
    def elements(self) -> int:
        """The number of its elements."""
        return torch.Size(self.shape).numel()


class Arena:
    """One block of memory for `rows` rows of tensors, all rows of the same kinds."""

    def __init__(self, kinds: Sequence[Kind], rows: int, *, device: torch.device) -> None:
        self._kinds = tuple(kinds)
        self._row = self.row_bytes(kinds)
        self._memory = torch.empty(max(1, rows * self._row), dtype=torch.uint8, device=device)

    @staticmethod
    def row_bytes(kinds: Sequence[Kind]) -> int:
        """Return the bytes of a row of those kinds."""
        return sum(kind.bytes for kind in kinds)

    def view(self, row: int, column: int) -> torch.Tensor:
        """Return a tensor of the arena, to be dropped before claimed code runs."""
        kind = self._kinds[column]
        start = row * self._row + sum(one.bytes for one in self._kinds[:column])
        flat = _viewed(_narrow(self._memory, 0, start, kind.elements * kind.dtype.itemsize), kind.dtype)
        return _as_strided(flat, kind.shape, kind.strides)


@cache
def _pool() -> Any:
    """Return the kit's own memory pool, which claimed code never gets."""
    return torch.cuda.MemPool()


SAMPLED = 1 << 16
"""The elements of a result that a snapshot copies first, in regular steps."""
SLEEP_CYCLES = 60_000_000
"""About 30 ms of a GPU: far more than the host needs to queue the work that follows."""
_HIGH_PRIORITY = -1


class SnapshotBuffers:
    """Buffers for a snapshot of results on a GPU, allocated before the call: a later allocation would synchronise.

    Args:
        sizes: the bytes of each expected result.
        queued: whether the current stream sleeps first. Then the copy is queued before a kernel of the call starts, so
            that host overhead gives a kernel on another stream no time to finish first.
    """

    def __init__(self, sizes: Sequence[int], *, queued: bool) -> None:
        with torch.cuda.use_mem_pool(_pool()):
            self._buffers = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in sizes]
            self._samples = [torch.empty(min(size, SAMPLED * 16), dtype=torch.uint8, device="cuda") for size in sizes]
        self._reader = torch.cuda.Stream(priority=_HIGH_PRIORITY)  # type: ignore[no-untyped-call]
        if queued:  # free a block for each result: an allocation by the driver would wait for the sleep
            _ = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in sizes]
            torch.cuda._sleep(SLEEP_CYCLES)  # type: ignore[no-untyped-call]

    def snapshot(self, results: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Copy the results as the next reader on the current stream finds them.

        The copy is made on a stream of high priority that waits for the current one: on the current one it would also
        wait for blocks of other streams that the GPU has not started. A sample of the whole result is copied first.
        """
        left = list(zip(self._buffers, self._samples, strict=True)) if len(self._buffers) == len(results) else []
        self._reader.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._reader):
            copies = []
            for result in results:
                fitting = (place for place, (buffer, _) in enumerate(left) if _nbytes(buffer) == _nbytes(result))
                place = next(fitting, None)
                copies.append(_data(result).clone() if place is None else _copied(_data(result), *left.pop(place)))
        torch.cuda.current_stream().wait_stream(self._reader)
        return tuple(copies)


def _copied(result: torch.Tensor, buffer: torch.Tensor, sample: torch.Tensor) -> torch.Tensor:
    """Copy a sample of the result into `sample`, the result into `buffer`, and the sample over that."""
    if not result.is_cuda or not _in_one_piece(result) or not _nbytes(result):
        return result.clone()
    copy = _as_strided(_viewed(buffer, result.dtype), _shape(result), _strides(result))
    step = -(-result.numel() // SAMPLED)
    count = -(-result.numel() // step)
    first = _narrow(_viewed(sample, result.dtype), 0, 0, count)
    _copy(first, _as_strided(result, (count,), (step,)))
    write(copy, result)
    _copy(_as_strided(copy, (count,), (step,)), first)
    return copy


WORD_BYTES = 8
CHUNK = 1 << 22
"""Words in a chunk: 32 MiB, and as much again for their products."""
MODULUS = 1 << 64
FACTOR = 0x9E3779B97F4A7C15
"""The factor between chunks, 2**64 over the golden ratio; odd, so that it is invertible."""


class Checksums:
    """Sums of 8-byte words modulo 2**64, each times an odd number of its own: one changed word always shows."""

    def __init__(self) -> None:
        self._factors = torch.empty(0)

    def of(self, tensor: torch.Tensor) -> int | None:
        """Return the checksum of a contiguous GPU tensor, row major; None for any other tensor."""
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
        aligned = data.data_ptr() % WORD_BYTES == 0
        words = (data[:whole] if aligned else data[:whole].clone()).view(torch.int64)
        sums = [(one * self._factors[: one.numel()]).sum() for one in torch.split(words, CHUNK)] if whole else []
        total = 0
        for part in [*torch.stack(sums).tolist(), *data[whole:].tolist()] if sums else data[whole:].tolist():
            total = (total * FACTOR + part) % MODULUS
        return total
