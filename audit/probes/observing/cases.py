"""The cases of a target, and the choice of a probe among them: the largest, one of middle size, those that count."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from audit.claims.shapes.counting import Scope
from audit.model import Shape
from audit.probes.concluding.answer import Observed, label
from audit.probes.concluding.compare import Array, Output, Right, Scale
from audit.probes.observing.called import Mode, item_bytes
from audit.run.processes.pool import Reply

MOST_MIDDLE_BYTES = 32 << 20
"""The most bytes of inputs and right result of the middle case, unless it is the smallest one."""


@dataclass(frozen=True)
class Case:
    """One problem.

    Attributes:
        shape: its sizes.
        inputs: the file of its arguments.
        expected: the right result in float64; several outputs as one vector, row major, one after another.
        dtype: the type of the result; the least precise of several outputs.
        also: alternatives to `expected`, where elements of a result of integers depend on ties between inputs.
        scope: why the shape counts for the claim, see `audit.claims.shapes.counting`.
        size: the rms of right results over several draws, where a result has few elements, else 0. A tolerance is
            relative to that too, since cancellation may bring a sum near zero.
        outputs: several outputs, each with a size of its own.
        bits: the effective bits of each format, where requested.
        launches: where it counts no more since other launches are made than at the claimed shape, both.
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
    launches: Observed | None = field(default=None, compare=False)

    @classmethod
    def made(cls, reply: Reply, event: dict[str, Any], *, shape: Shape, inputs: Path, scope: Scope) -> Case:
        """Return the case of one event of `audit.run.sessions.oracle`."""
        made = cls(shape, inputs, np.empty(0), "", scope=scope, size=event.get("size", 0.0))
        return made.answered(reply, event)

    def answered(self, reply: Reply, event: dict[str, Any]) -> Case:
        """Return the case with the right result of that event."""
        outputs = tuple(
            Output(tuple(one["shape"]), one["dtype"], one["size"]) for one in event.get("expected_outputs", ())
        )
        expected, also = reply.expected(event), reply.also(event)
        more = {"dtype": event["expected_dtype"], "bits": event.get("bits", {})}
        return replace(self, expected=expected, also=also, outputs=outputs, **more)

    @cached_property
    def right(self) -> Right:
        """The right result to compare with."""
        return Right(self.expected, self.dtype, self.also, self.outputs)

    @cached_property
    def seed(self) -> int:
        """A number of 32 bits that follows from the right result, so that it is not known before the audit."""
        return zlib.crc32(np.ascontiguousarray(self.expected).data)

    def least(self, scale: Scale) -> Scale:
        """Return the larger of that scale and the known size of the result, for each output."""
        if not self.outputs:
            assert isinstance(scale, float)
            return max(scale, self.size)
        scales = scale if isinstance(scale, tuple) else (scale,) * len(self.outputs)
        return tuple(max(pair) for pair in zip(scales, (one.size for one in self.outputs), strict=True))

    @cached_property
    def usual(self) -> Scale:
        """The rms of the right result, at least its size over several draws. Raises NothingFinite."""
        return self.least(tuple(one.rms for one in self.right.each) if self.outputs else self.right.rms)

    def level(self, values: Array) -> Array:
        """Return several outputs each in units of the right one's size; a single output as it is."""
        if not self.outputs:
            return values
        sizes = self.usual
        assert isinstance(sizes, tuple)
        parts = zip(self.right.split(values), sizes, strict=True)
        return np.concatenate([part / (size or 1.0) for part, size in parts])

    @property
    def bytes(self) -> int:
        """The bytes of its inputs' file and of its right result in float64."""
        return self.inputs.stat().st_size + self.expected.nbytes

    @property
    def output_bytes(self) -> tuple[int, ...]:
        """The bytes of each output. Raises SessionBroken for a type that numpy lacks."""
        if not self.outputs:
            return (self.expected.size * item_bytes(self.dtype),)
        return tuple(one.elements * item_bytes(one.dtype) for one in self.outputs)

    @property
    def counts(self) -> bool:
        """Whether a failure at this case counts against the claim."""
        return self.scope != "other"

    @property
    def label(self) -> str:
        """See `answer.label`."""
        return label(self.shape)


Need = tuple[Mode, Case]
"""One plain call of the claim at a case."""


def largest_of(cases: Sequence[Case]) -> Case:
    """Return the case with the most elements."""
    return max(cases, key=_size)


def middle_of(cases: Sequence[Case]) -> Case:
    """Return a case of middle size, or a smaller one where its arrays are large."""
    by_size = counting(cases)
    index = len(by_size) // 2
    while index and by_size[index].bytes > MOST_MIDDLE_BYTES:
        index -= 1
    return by_size[index]


def counting(cases: Sequence[Case]) -> list[Case]:
    """Return the cases whose failures count against the claim, smallest first; all cases where there is none."""
    return sorted([case for case in cases if case.counts] or cases, key=_size)


def _size(case: Case) -> tuple[int, int]:
    """Return the sort key: elements of the result, then the sizes of the problem."""
    return case.expected.size, math.prod(case.shape.values())
