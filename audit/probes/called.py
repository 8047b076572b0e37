"""One call in a session: its problem, the worker's report, and the output it left, as bytes and as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from audit.claims.shapes.counting import Scope
from audit.model import Shape
from audit.model.errors import AuditError, Unsupported
from audit.probes.answer import label
from audit.probes.compare import Array, Right
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
    sum may come out near zero by cancellation.
    """

    shape: Shape
    inputs: Path
    expected: Array
    dtype: str
    also: tuple[Array, ...] = ()
    scope: Scope = "stated"
    size: float = 0.0

    @classmethod
    def made(cls, reply: Reply, event: dict[str, Any], *, shape: Shape, inputs: Path, scope: Scope) -> Case:
        """What `audit.run.oracle` answered in one event."""
        right, dtype, also = reply.expected(event), event["expected_dtype"], reply.also(event)
        return cls(shape, inputs, right, dtype, also=also, scope=scope, size=event["size"])

    @cached_property
    def right(self) -> Right:
        """What a result is compared with."""
        return Right(self.expected, self.dtype, self.also)

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
        elements = math.prod(self.event["shape"])
        if not elements:
            raise SessionBroken("the call returned a tensor without elements; see contract")
        try:
            most = LARGEST_ITEM_BYTES * elements
            data = results.read(self.file, digest=self.event["digest"], most_bytes=most)
        except ProtocolViolation as seen:
            raise self._violations(str(seen)) from None
        if not data.size or data.size % elements:
            raise self._violations(f"the output {self.file.name} has not the shape that was told")
        return data.reshape(elements, -1)

    def words(self) -> npt.NDArray[Any]:
        """The output's bits, one unsigned integer an element where there is one of that size, else its bytes."""
        raw = self.raw()
        size = raw.shape[1]
        return raw.view(np.dtype(f"u{size}")).reshape(-1) if size in (1, 2, 4, 8) else raw

    def same_bits(self, other: Call) -> bool:
        """Whether both left the same bits, NaN like any other."""
        if self.event["shape"] != other.event["shape"]:
            return False
        return self.event["digest"] == other.event["digest"] or bool(np.array_equal(self.words(), other.words()))

    def values(self) -> npt.NDArray[Any]:
        """The output as numbers of its own type (bfloat16 as float32), in its own shape.

        Raises:
            ProtocolViolated, SessionBroken: as `raw`, or its type is none that can be compared.
        """
        data, dtype = self.raw(), self.event["dtype"]
        if data.shape[1] != item_bytes(dtype):
            raise self._violations(f"the output {self.file.name} has not the shape that was told")
        if dtype == "bfloat16":
            high = data.view(np.uint16).astype(np.uint32) << 16
            return high.view(np.float32).reshape(self.event["shape"])
        values: npt.NDArray[Any] = data.view(np.dtype(dtype)).reshape(self.event["shape"])
        return values

    def _violations(self, seen: str) -> ProtocolViolated:
        self.violations.append(seen)
        return ProtocolViolated(seen)


def value_calls(calls: Iterable[Call], expected: Iterable[Array]) -> None:
    """Raises SessionBroken unless every call returned a tensor of the expected shape; `contract` tells more."""
    for call, want in zip(calls, expected, strict=True):
        if call.raised is not None:
            raise SessionBroken(f"the call raised {call.raised}")
        if not alike(call.event.get("shape"), want.shape):
            raise SessionBroken("the call returned no tensor of the expected shape; see contract")


def alike(shape: Sequence[int] | None, other: Sequence[int]) -> bool:
    """Whether two shapes hold the same elements in the same order: dimensions of size 1 tell no elements apart."""
    return shape is not None and [size for size in shape if size != 1] == [size for size in other if size != 1]


def item_bytes(dtype: str) -> int:
    """The bytes of an element. Raises SessionBroken for a type that numpy has not."""
    try:
        return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize
    except TypeError:
        raise SessionBroken(f"elements of type {dtype} cannot be compared; see contract") from None


def largest_of(cases: Sequence[Case]) -> Case:
    """The case with the most elements."""
    return max(cases, key=_size)


def middle_of(cases: Sequence[Case]) -> Case:
    """A case of middle size."""
    by_size = counting(cases)
    return by_size[len(by_size) // 2]


def counting(cases: Sequence[Case]) -> list[Case]:
    """The cases whose failures are the claim's, the smallest first; where there is none, all."""
    return sorted([case for case in cases if case.counts] or cases, key=_size)


def _size(case: Case) -> tuple[int, int]:
    """Elements of the result; where that is the same for all, as one number is, the sizes of the problem."""
    return case.expected.size, math.prod(case.shape.values())


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
