"""One call in a session: its event, and its output as bytes and as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from audit.model.errors import AuditError, Unsupported
from audit.probes.concluding.compare import Array
from audit.run.messages import results
from audit.run.messages.wire import ProtocolViolation

Run = Literal["claim", "reference", "plant"]
Step = Mapping[str, Any]
"""A run, the index of its case, and options; see `audit.run.messages.requests.Step`."""
INTERPRETER_ERROR = "InterpreterError"
LARGEST_ITEM_BYTES = 16
"""The size of complex128, the largest element of an output."""


class SessionBroken(AuditError):
    """A session ended before it answered the question; the text says how."""


class ProtocolViolated(SessionBroken):
    """A message of a session was not sent by our own code; the text describes it."""


class Mode(NamedTuple):
    """The configuration of the device in a call.

    Attributes:
        memory: the contents of fresh device memory (see `audit.build.emulated.runtime`).
        order: the order of threads and blocks.
        fill: the contents of fresh shared memory, one of the build's `fills`; None is the device's default.
        check: whether every access is recorded and the undefined ones reported. With a `fill`, a plain read that races
            with a write before it gets that, and such reads are reported in the place of races with reads.
    """

    memory: str = "plain"
    order: str = "forward"
    fill: str | None = None
    check: bool = False


@dataclass(frozen=True)
class Call:
    """One call in a session: its event and the file of its raw output. `violations` gets a sentence for an output that
    does not match its event."""

    event: dict[str, Any]
    file: Path
    violations: list[str] = field(default_factory=list, compare=False, repr=False)

    @property
    def raised(self) -> str | None:
        """The exception of the call, if any."""
        message: str | None = self.event.get("raised")
        return message

    @property
    def reports(self) -> list[dict[str, Any]]:
        """The device's reports during the call."""
        return list(self.event.get("reports", ()))

    @property
    def launches(self) -> list[dict[str, Any]]:
        """The kernel launches of the call."""
        return list(self.event.get("launches", ()))

    @property
    def returned(self) -> str:
        """The result in words, by its number of tensors and their shapes."""
        sizes = [one["shape"] for one in self.outputs] or [self.event.get("shape", [])]
        if self.event["returned"] not in ("Tensor", f"{len(self.outputs)} tensors"):
            return f"no tensor but {self.event['returned']}"
        shapes = "; ".join(map(str, sizes))
        return f"{len(sizes)} tensors of shapes {shapes}" if len(sizes) > 1 else f"a tensor of shape {shapes}"

    def returns(self, want: Array) -> bool:
        """Return whether the result has the shape of the right one, see `alike`."""
        return alike(self.event.get("shape"), want.shape)

    def raw(self) -> npt.NDArray[np.uint8]:
        """Return the output as bytes, one row per element: shape (elements, bytes per element). Raises
        ProtocolViolated: the file does not match the event. Raises SessionBroken: the output has no element."""
        parts = self._parts()
        width = max(part.shape[1] for part in parts)
        if all(part.shape[1] == width for part in parts):
            return parts[0] if len(parts) == 1 else np.concatenate(parts)
        return np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts])

    def _parts(self) -> list[npt.NDArray[np.uint8]]:
        """Return the bytes of each output, one row per element."""
        elements = math.prod(self.event["shape"])
        if not elements:
            raise SessionBroken("the call returned a tensor without elements; see contract")
        try:
            most = LARGEST_ITEM_BYTES * elements
            data = results.read(self.file, digest=self.event["digest"], most_bytes=most)
        except ProtocolViolation as seen:
            raise self._violations(str(seen)) from None
        if self.outputs:
            sizes = [math.prod(one["shape"]) * item_bytes(one["dtype"]) for one in self.outputs]
            if data.size != sum(sizes):
                raise self._misshapen()
            parts = zip(np.split(data, np.cumsum(sizes)[:-1]), self.outputs, strict=True)
            return [part.reshape(-1, item_bytes(one["dtype"])) for part, one in parts]
        if not data.size or data.size % elements:
            raise self._misshapen()
        return [data.reshape(elements, -1)]

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """The shape and dtype of each of several outputs; empty for one tensor or none."""
        return list(self.event.get("outputs", ()))

    def holding(self, pattern: bytes) -> npt.NDArray[np.bool_]:
        """Return which elements consist of that pattern, repeated."""
        found = []
        for part in self._parts():
            size = part.shape[1]
            word = np.frombuffer((pattern * math.ceil(size / len(pattern)))[:size], dtype=np.uint8)
            found.append(_words(part) == _words(word.reshape(1, -1)) if size in WORDS else (part == word).all(axis=1))
        return np.concatenate(found)

    def words(self) -> npt.NDArray[Any]:
        """Return the output's bits, one unsigned integer an element where there is one of that size, else its bytes."""
        return _words(self.raw())

    def same_bits(self, other: Call) -> bool:
        """Return whether both outputs have the same bits, NaN included."""
        if self.event["shape"] != other.event["shape"]:
            return False
        return self.event["digest"] == other.event["digest"] or bool(np.array_equal(self.words(), other.words()))

    def values(self) -> npt.NDArray[Any]:
        """Return the output in its own type (bfloat16 as float32) and shape; several outputs as a float64 vector.
        Raises ProtocolViolated, SessionBroken: as `raw`, or its type cannot be compared."""
        if self.outputs:
            parts = zip(self._parts(), self.outputs, strict=True)
            return np.concatenate([_numbers(part, one["dtype"]).astype(np.float64) for part, one in parts])
        data, dtype = self.raw(), self.event["dtype"]
        if data.shape[1] != item_bytes(dtype):
            raise self._misshapen()
        return _numbers(data, dtype).reshape(self.event["shape"])

    def _misshapen(self) -> ProtocolViolated:
        return self._violations(f"the output {self.file.name} has not the shape that was told")

    def _violations(self, seen: str) -> ProtocolViolated:
        self.violations.append(seen)
        return ProtocolViolated(seen)


WORDS = (1, 2, 4, 8)
"""Sizes in bytes of numpy's unsigned integers."""


def _words(rows: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    size = rows.shape[1]
    return rows.view(np.dtype(f"u{size}")).reshape(-1) if size in WORDS else rows


def _numbers(rows: npt.NDArray[np.uint8], dtype: str) -> npt.NDArray[Any]:
    if dtype == "bfloat16":
        return (rows.view(np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(-1)
    return rows.view(np.dtype(dtype)).reshape(-1)


def value_calls(calls: Iterable[Call], expected: Iterable[Array]) -> None:
    """Raise SessionBroken unless every call returned a tensor of the expected shape, with values; `contract` has
    details."""
    for call, want in zip(calls, expected, strict=True):
        if call.raised is not None:
            raise SessionBroken(f"the call raised {call.raised}")
        if not call.returns(want):
            if call.outputs:
                sizes = f"{math.prod(call.event['shape']):,} elements in all, where the right result has {want.size:,}"
                raise SessionBroken(f"the call returned {len(call.outputs)} tensors of {sizes}; see contract, repeat")
            got = call.event.get("shape")
            what = "no tensor" if got is None else f"a tensor of shape {got}"
            raise SessionBroken(f"the call returned {what}, where {list(want.shape)} is right; see contract, repeat")
        if "digest" not in call.event:  # it is on torch's meta device
            raise SessionBroken("the call returned a tensor without values; see contract")


def alike(shape: Sequence[int] | None, other: Sequence[int]) -> bool:
    """Return whether two shapes are equal apart from dimensions of size 1."""
    return shape is not None and [size for size in shape if size != 1] == [size for size in other if size != 1]


def item_bytes(dtype: str) -> int:
    """Return the bytes of an element. Raises SessionBroken for a type that numpy lacks."""
    try:
        return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize
    except TypeError:
        why = f"elements of type {dtype} cannot be compared; return their bytes or `.float()` of them; see contract"
        raise SessionBroken(why) from None


def refuse_limits(calls: Iterable[Call]) -> None:
    """Raise Unsupported or SessionBroken where the device could not run a call, or had to stop it."""
    for call in calls:
        if (call.raised or "").startswith(INTERPRETER_ERROR):  # a GPU may run it
            raise Unsupported(f"a kernel that Triton's interpreter cannot run: {call.raised}")
        for report in call.reports:
            if report["kind"] == "needs-newer-gpu":
                raise Unsupported(f"a launch of this size: {report['message']}", line=report["line"] or 0)
            if report["kind"] in ("time-limit", "too-many-threads", "deadlock"):
                raise SessionBroken(f"the emulated device stopped the kernel: {report['message']}")
