"""Runs in the child that loads a kernel: configure the emulated device and read its reports, through ctypes."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from audit.build.cache import sealed
from audit.build.settings import Configuration

ALLOCATORS = ("plain", "poison_nan", "poison_number", "zero", "reuse")
"""The contents of fresh device memory. "reuse" hands out the block of that size freed last, with its contents."""

ORDERS = ("forward", "reverse", "random", "lockstep")
"""The order in which threads of a block, or blocks of a grid, start. In lockstep, an order of threads alone, the lanes
of a warp make every access of shared and device memory together."""

STALE = ("none", "all", "alternate")
"""Which first volatile reads of a thread give the value before another block's last write, if no fence rules it out."""

Access = Literal["read", "write", "atomic"]
ACCESSES = ("read", "write", "atomic")
"""In the order of their numbers in `runtime/checker.h`."""

CONTROLS = {
    "install_allocator": None,
    "configure": None,
    "reset": None,
    "recover": None,
    "launches": ctypes.c_char_p,
    "reports": ctypes.c_char_p,
    "write_counts": ctypes.c_bool,
    "blank_unwritten": ctypes.c_bool,
    "freed_block": ctypes.c_bool,
    "begin_programs": ctypes.c_bool,
    "begin_program": None,
    "end_programs": None,
    "touch": None,
}
"""The types of the results of the runtime's unexported functions, in the order of the table in `runtime/control.cpp`.
The runtime hands out the table once."""

TOUCH = (
    *(ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint32),
    *(ctypes.c_void_p, ctypes.c_void_p),
)
"""The types of the arguments of `touch`, which is called most often."""


class Runtime:
    """The runtime's library in this process. Once it is created, CPU tensors are made in the emulated device's memory.
    `prefix` is that of the runtime's exported names. Raises RuntimeError if this process has created one before."""

    def __init__(self, library: Path, digests: Mapping[Path, str] | None = None) -> None:
        for name in ("libc10.so", "libtorch_cpu.so"):  # it needs their symbols
            ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / name), mode=ctypes.RTLD_GLOBAL)
        self.prefix = library.stem.removeprefix("lib")
        opened = ctypes.CDLL(str(sealed(library, digests)), mode=ctypes.RTLD_GLOBAL)
        functions = (ctypes.c_void_p * len(CONTROLS))()
        if not getattr(opened, f"{self.prefix}_controls")(functions):
            raise RuntimeError("the emulated device of this process is under control already")
        kinds = zip(CONTROLS.items(), functions, strict=True)
        self._call = {name: ctypes.CFUNCTYPE(kind)(address) for (name, kind), address in kinds}
        self._call["touch"].argtypes = TOUCH
        self._call["install_allocator"]()

    def configure(self, new: Configuration) -> None:
        """Configure the device from the next allocation and launch on. Raises ValueError for an unknown name."""
        self._call["configure"](
            _index(new.allocator, ALLOCATORS),
            _index(new.thread_order, ORDERS),
            _index(new.block_order, ORDERS),
            ctypes.c_uint32(new.seed & 0xFFFFFFFF),
            int(new.checker),
            new.compute_capability,
            ctypes.c_uint32(new.shared_word),
            ctypes.c_uint32(new.lane_word),
            ctypes.c_double(new.kernel_seconds),
            ctypes.c_int64(new.blocks),
            int(new.sparing),
            _index(new.stale, STALE),
            int(new.still_clock),
            int(new.hides_races),
        )

    def launches(self) -> list[dict[str, Any]]:
        """Return every launch since the last reset: kernel, line, grid, block, shared bytes, threads, refusal."""
        return _list(self._call["launches"]())

    def reports(self) -> list[dict[str, Any]]:
        """Return the device's reports since the last reset, equal ones with a count."""
        return _list(self._call["reports"]())

    def write_counts(self, tensor: torch.Tensor) -> bytes:
        """Return the number of writes to each 4-byte word of a contiguous tensor since the last reset, at most 255.
        Raises ValueError: the tensor is not contiguous or not in device memory."""
        if not tensor.is_contiguous():
            raise ValueError("write_counts needs a contiguous tensor")
        words = (tensor.numel() * tensor.element_size() + 3) // 4
        if words == 0:
            return b""
        counts = ctypes.create_string_buffer(words)
        if not self._call["write_counts"](ctypes.c_void_p(tensor.data_ptr()), ctypes.c_uint64(words), counts):
            raise ValueError("the tensor does not lie in device memory: it was made before the runtime was loaded")
        return counts.raw

    def blank_unwritten(self, tensor: torch.Tensor) -> bool:
        """Fill every byte of a contiguous tensor that the last launch did not write with the pattern of fresh memory.
        Return False where that launch was run whole, or the tensor is not contiguous or not in device memory."""
        if not tensor.is_contiguous():
            return False
        size = tensor.numel() * tensor.element_size()
        return bool(self._call["blank_unwritten"](ctypes.c_void_p(tensor.data_ptr()), ctypes.c_uint64(size)))

    def begin_programs(self, kernel: str, line: int, grid: Sequence[int], *, run: int) -> bool:
        """Begin a launch of a kernel that an interpreter runs, program by program: `run` of a grid of three sizes.
        Return whether a GPU takes a grid of that size; a launch that it refuses has ended."""
        sizes = [ctypes.c_uint32(min(size, 2**32 - 1)) for size in grid]
        return bool(self._call["begin_programs"](kernel.encode(), ctypes.c_uint32(line), *sizes, ctypes.c_uint64(run)))

    def begin_program(self) -> None:
        """Begin the next program, which the access checker treats as a block of one thread."""
        self._call["begin_program"]()

    def end_programs(self, *, kept: bool) -> None:
        """End the launch, which is listed where it is kept."""
        self._call["end_programs"](ctypes.c_bool(kept))

    def touch(self, addresses: Any, *, size: int, access: Access, line: int, values: Any = None) -> Any:
        """Report one access of a program to the access checker.

        Return whether each element is in memory; one that is not was reported and not written.

        Args:
            addresses: those of the elements, a contiguous numpy array of uint64.
            size: bytes of an element.
            access: the kind of access.
            line: the line of the source.
            values: the contiguous values to write; None for no write.
        """
        mapped = np.empty(addresses.shape, dtype=np.bool_)
        written = None if values is None else _address(values)
        kind = ACCESSES.index(access)
        self._call["touch"](_address(addresses), addresses.size, size, kind, line, written, _address(mapped))
        return mapped

    def reset(self) -> None:
        """Clear launches, reports and write counts. An error of a kernel stays, as in CUDA."""
        self._call["reset"]()

    def recover(self) -> None:
        """Clear the error of a fault, which no GPU can."""
        self._call["recover"]()


def _index(name: str, known: tuple[str, ...]) -> int:
    if name not in known:
        raise ValueError(f"unknown setting {name}; known: {', '.join(known)}")
    return known.index(name)


def _address(values: Any) -> int:
    """Return the address of a numpy array's first element."""
    address: int = values.__array_interface__["data"][0]
    return address


def _list(text: bytes) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads(text.decode("utf-8", errors="replace"))
    return records
