"""One problem of a target, and which of them a probe asks about: the largest, one of middle size, those that count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from audit.claims.shapes.counting import Scope
from audit.model import Shape
from audit.probes.answer import label
from audit.probes.called import Mode, item_bytes
from audit.probes.compare import Array, Output, Right, Scale
from audit.run.pool import Reply

MOST_MIDDLE_BYTES = 32 << 20
"""Of the inputs and the right result of a case at which many questions are asked, where there is a smaller one."""


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


Need = tuple[Mode, Case]
"""One plain call of the claim at a case."""


def largest_of(cases: Sequence[Case]) -> Case:
    """The case with the most elements."""
    return max(cases, key=_size)


def middle_of(cases: Sequence[Case]) -> Case:
    """A case of middle size, or a smaller one where its arrays are large."""
    by_size = counting(cases)
    place = len(by_size) // 2
    while place and by_size[place].bytes > MOST_MIDDLE_BYTES:
        place -= 1
    return by_size[place]


def counting(cases: Sequence[Case]) -> list[Case]:
    """The cases whose failures are the claim's, the smallest first; where there is none, all."""
    return sorted([case for case in cases if case.counts] or cases, key=_size)


def _size(case: Case) -> tuple[int, int]:
    """Elements of the result; where that is the same for all, as one number is, the sizes of the problem."""
    return case.expected.size, math.prod(case.shape.values())
