"""One call in a session: its problem, the worker's report, and the output it left, as bytes and as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from audit.claims.shapes.counting import Scope
from audit.model import Shape
from audit.model.errors import AuditError, Unsupported
from audit.probes.answer import label
from audit.probes.compare import Array, Output, Right, Scale
from audit.run import results
from audit.run.pool import Reply
from audit.run.transcript import ProtocolViolation

Run = Literal["claim", "reference", "plant"]
Step = Mapping[str, Any]
"""A run, the index of its case, and options; see `audit.run.requests.Step`."""
INTERPRETER_ERROR = "InterpreterError"
LARGEST_ITEM_BYTES = 16
"""An element of complex128: no output has larger ones."""


class SessionBroken(AuditError):
    """A session ended before it answered the question; says how."""


class ProtocolViolated(SessionBroken):
    """A message of a session was not written by our own code; says what was seen."""


@dataclass(frozen=True)
class Case:
    """One problem: its sizes, the file with its inputs, what is right in float64, and the dtype it must come in.

    `also` holds results that are as right, where elements of a result of integers hang on ties between inputs. `scope`
    tells why the shape counts for the claim (`audit.claims.shapes.scope_of`). `size` is the root mean square of right
    results over several draws, where a result has few elements, else 0: a tolerance is relative to that too, since a
    sum may come out near zero by cancellation. Several `outputs` are one vector in `expected`, row major, one behind
    another; each has a size of its own, and `dtype` is the type among theirs that holds the fewest digits. `bits` are
    the effective ones of each format, where they were asked for.
    """

    shape: Shape
    inputs: Path
    expected: Array
    dtype: str
    also: tuple[Array, ...] = ()
    scope: Scope = "stated"
    size: float = 0.0
    outputs: tuple[Output, ...] = ()
    bits: Mapping[str, float | None] = field(default_factory=dict, compare=False)

    @classmethod
    def made(cls, reply: Reply, event: dict[str, Any], *, shape: Shape, inputs: Path, scope: Scope) -> Case:
        """What `audit.run.oracle` answered in one event."""
        made = cls(shape, inputs, np.empty(0), "", scope=scope, size=event.get("size", 0.0))
        return made.answered(reply, event)

    def answered(self, reply: Reply, event: dict[str, Any]) -> Case:
        """The same with the right result of that event."""
        outputs = tuple(
            Output(tuple(one["shape"]), one["dtype"], one["size"]) for one in event.get("expected_outputs", ())
        )
        expected, also = reply.expected(event), reply.also(event)
        told = {"dtype": event["expected_dtype"], "bits": event.get("bits", {})}
        return replace(self, expected=expected, also=also, outputs=outputs, **told)

    @cached_property
    def right(self) -> Right:
        """What a result is compared with."""
        return Right(self.expected, self.dtype, self.also, self.outputs)

    def least(self, scale: Scale) -> Scale:
        """The size of the result where it is known to be larger than that one."""
        if not self.outputs:
            assert isinstance(scale, float)
            return max(scale, self.size)
        scales = scale if isinstance(scale, tuple) else (scale,) * len(self.outputs)
        return tuple(max(pair) for pair in zip(scales, (one.size for one in self.outputs), strict=True))

    @cached_property
    def usual(self) -> Scale:
        """The size of the right result, or its usual one over several draws. Raises NothingFinite."""
        return self.least(tuple(one.rms for one in self.right.each) if self.outputs else self.right.rms)

    def level(self, values: Array) -> Array:
        """Several outputs, each in units of the right one's size; a single output as it is."""
        if not self.outputs:
            return values
        sizes = self.usual
        assert isinstance(sizes, tuple)
        parts = zip(self.right.split(values), sizes, strict=True)
        return np.concatenate([part / (size or 1.0) for part, size in parts])

    @property
    def bytes(self) -> int:
        """Bytes of its inputs' file and of its right result in float64."""
        return self.inputs.stat().st_size + self.expected.nbytes

    @property
    def output_bytes(self) -> tuple[int, ...]:
        """The bytes of each output. Raises SessionBroken for a type that numpy has not."""
        if not self.outputs:
            return (self.expected.size * item_bytes(self.dtype),)
        return tuple(one.elements * item_bytes(one.dtype) for one in self.outputs)

    @property
    def counts(self) -> bool:
        """Whether a failure here is one of the claim."""
        return self.scope != "other"

    @property
    def label(self) -> str:
        """See `answer.label`."""
        return label(self.shape)


class Mode(NamedTuple):
    """How the device behaves in a call.

    Attributes:
        memory: what fresh device memory holds (see `audit.build.emulated.runtime`).
        order: the order of threads and blocks.
        fill: what fresh shared memory holds, one of the build's `fills`; None is the device's own.
        check: whether every access is recorded and the undefined ones reported.
    """

    memory: str = "plain"
    order: str = "forward"
    fill: str | None = None
    check: bool = False


Need = tuple[Mode, Case]
"""One plain call of the claim at a case."""


@dataclass(frozen=True)
class Call:
    """One call in a session: the event the worker wrote and the raw output it left.

    `violations` takes a sentence for an output that was changed since.
    """

    event: dict[str, Any]
    file: Path
    violations: list[str] = field(default_factory=list, compare=False, repr=False)

    @property
    def raised(self) -> str | None:
        """The Python exception the call raised, if any."""
        message: str | None = self.event.get("raised")
        return message

    @property
    def reports(self) -> list[dict[str, Any]]:
        """What the device reported during the call."""
        return list(self.event.get("reports", ()))

    @property
    def launches(self) -> list[dict[str, Any]]:
        """The kernel launches of the call."""
        return list(self.event.get("launches", ()))

    def raw(self) -> npt.NDArray[np.uint8]:
        """The output as bytes, one row per element: shape (elements, bytes per element).

        Raises:
            ProtocolViolated: the file does not hold what the session wrote, or what it reported of it.
            SessionBroken: there is no element in it.
        """
        parts = self._parts()
        width = max(part.shape[1] for part in parts)
        if all(part.shape[1] == width for part in parts):
            return parts[0] if len(parts) == 1 else np.concatenate(parts)
        return np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts])

    def _parts(self) -> list[npt.NDArray[np.uint8]]:
        """The bytes of each output, one row per element."""
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
        """The shape and dtype of each of several outputs; none where there is one tensor or nothing."""
        return list(self.event.get("outputs", ()))

    def holding(self, pattern: bytes) -> npt.NDArray[np.bool_]:
        """Which elements hold nothing but that pattern, repeated."""
        found = []
        for part in self._parts():
            size = part.shape[1]
            word = np.frombuffer((pattern * math.ceil(size / len(pattern)))[:size], dtype=np.uint8)
            found.append(_words(part) == _words(word.reshape(1, -1)) if size in WORDS else (part == word).all(axis=1))
        return np.concatenate(found)

    def words(self) -> npt.NDArray[Any]:
        """The output's bits, one unsigned integer an element where there is one of that size, else its bytes."""
        return _words(self.raw())

    def same_bits(self, other: Call) -> bool:
        """Whether both left the same bits, NaN like any other."""
        if self.event["shape"] != other.event["shape"]:
            return False
        return self.event["digest"] == other.event["digest"] or bool(np.array_equal(self.words(), other.words()))

    def values(self) -> npt.NDArray[Any]:
        """The output as numbers of its own type (bfloat16 as float32), in its own shape; several as a float64 vector.

        Raises:
            ProtocolViolated, SessionBroken: as `raw`, or its type is none that can be compared.
        """
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
"""Sizes of elements in bytes that numpy has an unsigned integer for."""


def _words(rows: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    size = rows.shape[1]
    return rows.view(np.dtype(f"u{size}")).reshape(-1) if size in WORDS else rows


def _numbers(rows: npt.NDArray[np.uint8], dtype: str) -> npt.NDArray[Any]:
    """The numbers of a type that rows of bytes hold, as a vector."""
    if dtype == "bfloat16":
        return (rows.view(np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(-1)
    return rows.view(np.dtype(dtype)).reshape(-1)


def value_calls(calls: Iterable[Call], expected: Iterable[Array]) -> None:
    """Raises SessionBroken unless every call returned a tensor of the expected shape; `contract` tells more."""
    for call, want in zip(calls, expected, strict=True):
        if call.raised is not None:
            raise SessionBroken(f"the call raised {call.raised}")
        if not alike(call.event.get("shape"), want.shape):
            if call.outputs:
                sizes = f"{math.prod(call.event['shape']):,} elements in all, where the right result has {want.size:,}"
                raise SessionBroken(f"the call returned {len(call.outputs)} tensors of {sizes}; see contract")
            raise SessionBroken("the call returned no tensor of the expected shape; see contract")


def alike(shape: Sequence[int] | None, other: Sequence[int]) -> bool:
    """Whether two shapes hold the same elements in the same order: dimensions of size 1 tell no elements apart."""
    return shape is not None and [size for size in shape if size != 1] == [size for size in other if size != 1]


def item_bytes(dtype: str) -> int:
    """The bytes of an element. Raises SessionBroken for a type that numpy has not."""
    try:
        return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize
    except TypeError:
        why = f"elements of type {dtype} cannot be compared; return their bytes or `.float()` of them; see contract"
        raise SessionBroken(why) from None


def refuse_limits(calls: Iterable[Call]) -> None:
    """Raise Unsupported or SessionBroken where the device could not run a call, or had to stop it."""
    for call in calls:
        if (call.raised or "").startswith(INTERPRETER_ERROR):  # a GPU compiles what Triton's interpreter cannot run
            raise Unsupported(f"a kernel that Triton's interpreter cannot run: {call.raised}")
        for report in call.reports:
            if report["kind"] == "needs-newer-gpu":
                raise Unsupported(f"a launch of this size: {report['message']}", line=report["line"] or 0)
            if report["kind"] in ("time-limit", "too-many-threads", "deadlock"):
                raise SessionBroken(f"the emulated device stopped the kernel: {report['message']}")
