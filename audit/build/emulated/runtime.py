"""Runs in the child that loads a kernel: settings and findings of the emulated device, through ctypes."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from audit.build.emulated.patterns import FRESH_SHARED, POISON_NAN, POISON_NUMBER
from audit.build.sealed import sealed

__all__ = ["ALLOCATORS", "ORDERS", "POISON_NAN", "POISON_NUMBER", "Runtime"]

ALLOCATORS = ("plain", "poison_nan", "poison_number", "zero", "reuse")
"""What fresh device memory holds. "reuse" hands out the block of that size freed last, its contents kept."""

ORDERS = ("forward", "reverse", "random", "lockstep")
"""In which order threads of a block, or blocks of a grid, are started. In lockstep, an order of threads alone, the
lanes of a warp do every access of shared and device memory together."""


Access = Literal["read", "write", "atomic"]
ACCESSES = ("read", "write", "atomic")
"""As the access checker numbers them in `runtime/checker.h`: 0, 1, and 2 for an atomic, which is no plain write."""

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
"""Functions of the runtime that have no exported name, in the order of the table in `runtime/control.cpp`, and their
results. The runtime gives the table out once."""


class Runtime:
    """The runtime's library in this process. From its making on, all CPU tensors lie in the emulated device's memory.

    Args:
        library: path of the runtime (`EmulatedBuild.runtime`).
        digests: see `audit.build.sealed`.

    Attributes:
        prefix: of every name that the runtime exports.

    Raises:
        RuntimeError: this process has made one before.
    """

    def __init__(self, library: Path, digests: Mapping[Path, str] | None = None) -> None:
        for name in ("libc10.so", "libtorch_cpu.so"):  # the names it needs, made visible to it
            ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / name), mode=ctypes.RTLD_GLOBAL)
        self.prefix = library.stem.removeprefix("lib")
        opened = ctypes.CDLL(str(sealed(library, digests)), mode=ctypes.RTLD_GLOBAL)
        functions = (ctypes.c_void_p * len(CONTROLS))()
        if not getattr(opened, f"{self.prefix}_controls")(functions):
            raise RuntimeError("the emulated device of this process is under control already")
        kinds = zip(CONTROLS.items(), functions, strict=True)
        self._call = {name: ctypes.CFUNCTYPE(kind)(address) for (name, kind), address in kinds}
        self._call["install_allocator"]()

    def configure(  # noqa: PLR0913
        self,
        *,
        allocator: str = "plain",
        thread_order: str = "forward",
        block_order: str = "forward",
        seed: int = 0,
        checker: bool = False,
        compute_capability: int = 75,
        shared_word: int = FRESH_SHARED,
        lane_word: int = POISON_NAN,
        kernel_seconds: float = 20.0,
        blocks: int = -1,
    ) -> None:
        """Set how the device behaves from the next allocation and launch on.

        Args:
            allocator: one of `ALLOCATORS`.
            thread_order: one of `ORDERS`.
            block_order: one of `ORDERS`.
            seed: of the random orders; one seed gives every block of threads another order.
            checker: record and judge every access of device code; slower.
            compute_capability: whose launch limits hold, e.g. 75.
            shared_word: 4 bytes that fresh shared memory holds.
            lane_word: 4 bytes that a shuffle gets from a lane that takes no part.
            kernel_seconds: of processor time that one launch may take.
            blocks: so many blocks of each launch are run, its corners and drawn ones, but a grid of few threads whole;
                0 runs nothing and checks a launch against the limits alone; -1 runs all.

        Raises:
            ValueError: for a name that is not known.
        """
        self._call["configure"](
            _index(allocator, ALLOCATORS),
            _index(thread_order, ORDERS),
            _index(block_order, ORDERS),
            ctypes.c_uint32(seed & 0xFFFFFFFF),
            int(checker),
            compute_capability,
            ctypes.c_uint32(shared_word),
            ctypes.c_uint32(lane_word),
            ctypes.c_double(kernel_seconds),
            ctypes.c_int64(blocks),
        )

    def launches(self) -> list[dict[str, Any]]:
        """Every launch since the last reset: kernel, line, grid, block, shared bytes, threads, why it was refused."""
        return _list(self._call["launches"]())

    def reports(self) -> list[dict[str, Any]]:
        """What went wrong on the device since the last reset, equal events counted once."""
        return _list(self._call["reports"]())

    def write_counts(self, tensor: torch.Tensor) -> bytes:
        """How often kernels wrote each 4-byte word of a contiguous tensor since the last reset, at most 255.

        Raises:
            ValueError: for a tensor that does not lie in device memory in one piece.
        """
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
        """Put the pattern of fresh memory over every byte of a contiguous tensor that the last launch did not write.

        False where all of that launch was run, or where the tensor does not lie in device memory in one piece.
        """
        if not tensor.is_contiguous():
            return False
        size = tensor.numel() * tensor.element_size()
        return bool(self._call["blank_unwritten"](ctypes.c_void_p(tensor.data_ptr()), ctypes.c_uint64(size)))

    def freed_blocks(self) -> list[tuple[int, int]]:
        """Address and bytes of the blocks that are free now, the one freed last first. Their contents are kept."""
        address, size = ctypes.c_void_p(), ctypes.c_uint64()
        blocks: list[tuple[int, int]] = []
        while self._call["freed_block"](ctypes.c_size_t(len(blocks)), ctypes.byref(address), ctypes.byref(size)):
            blocks.append((address.value or 0, size.value))
        return blocks

    def begin_programs(self, kernel: str, line: int, grid: Sequence[int], *, run: int) -> bool:
        """Begin a launch of a kernel that an interpreter runs, program by program.

        Args:
            kernel: its name.
            line: of the source, where it is launched.
            grid: three sizes.
            run: how many programs of the grid are run.

        Returns:
            Whether a GPU takes a grid of that size; a launch that it refuses has ended.
        """
        sizes = [ctypes.c_uint32(min(size, 2**32 - 1)) for size in grid]
        return bool(self._call["begin_programs"](kernel.encode(), ctypes.c_uint32(line), *sizes, ctypes.c_uint64(run)))

    def begin_program(self) -> None:
        """Begin the next program: to the access checker a block of one thread."""
        self._call["begin_program"]()

    def end_programs(self, *, kept: bool) -> None:
        """End the launch, which is listed where it is kept."""
        self._call["end_programs"](ctypes.c_bool(kept))

    def touch(self, addresses: Any, *, size: int, access: Access, line: int, values: Any = None) -> Any:
        """Tell the access checker of one access of a program.

        Args:
            addresses: of the elements, a numpy vector of uint64 in one piece.
            size: bytes of an element.
            access: what the program does with them.
            line: of the source.
            values: what is written there now, in one piece; None where nothing is.

        Returns:
            For each element whether it lies in memory; one that does not was reported, and nothing was written there.
        """
        mapped = ctypes.create_string_buffer(len(addresses))
        at = ctypes.c_void_p(addresses.ctypes.data)
        written = ctypes.c_void_p(None if values is None else values.ctypes.data)
        count, kind = ctypes.c_uint64(len(addresses)), ctypes.c_uint32(ACCESSES.index(access))
        self._call["touch"](at, count, ctypes.c_uint64(size), kind, ctypes.c_uint32(line), written, mapped)
        return np.frombuffer(mapped.raw, dtype=np.bool_, count=len(addresses))

    def reset(self) -> None:
        """Forget launches, reports and write counts. An error that a kernel left behind stays, as CUDA's does."""
        self._call["reset"]()

    def recover(self) -> None:
        """What no GPU offers: clear the error that a fault left behind."""
        self._call["recover"]()


def _index(name: str, known: tuple[str, ...]) -> int:
    if name not in known:
        raise ValueError(f"unknown setting {name}; known: {', '.join(known)}")
    return known.index(name)


def _list(text: bytes) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads(text.decode("utf-8", errors="replace"))
    return records
