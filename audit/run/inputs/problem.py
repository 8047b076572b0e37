"""One case with the claim's reference, and its right result in float64."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

import torch

from audit.run.calls import correctness
from audit.run.calls.harness import placed
from audit.run.calls.outputs import outputs_of, own
from audit.run.inputs import ties
from audit.run.inputs.drawn_arguments import DRAWS, DrawnArguments
from audit.run.messages.results import Writer

FEW, FIRST_DRAW = 16, 8
"""The rms of a result of few elements is unreliable: a sum may be near zero. It is taken over other draws instead, with
salts from FIRST_DRAW on."""
MOST_DRAWN = 1 << 26
"""Elements of the inputs above which other draws cost too much."""
Outputs = tuple[torch.Tensor, ...]
_Held = tuple[list[Any], dict[str, Outputs]]
"""Arguments, and their results by kind."""


def compute_at(shape: Mapping[str, int], reference: ModuleType) -> None:
    """Have an imported task compute for that shape, see `Task.at`."""
    if (task := getattr(reference, "TASK", None)) is not None:
        task.at(shape)


class Problem(DrawnArguments):
    """A case and the claim's reference.

    Several outputs are joined into one vector, each in units of its rms at the case's arguments, so that one tolerance
    fits all.
    """

    def __init__(
        self,
        reference: ModuleType,
        values: list[Any],
        shape: dict[str, int],
        *,
        device: str,
        host: Collection[int] = (),
    ) -> None:
        super().__init__(reference, values, shape)
        self.device, self._host = device, host
        self._held: list[_Held] = [(values, {})]
        self._asked: _Held | None = None
        self._tie_breaks = ties.TieBreaks()

    @cached_property
    def others(self) -> list[Any]:
        """See `DrawnArguments`; their results are always cached, as those of the case's own are."""
        others = super().others
        self._held.append((others, {}))
        return others

    @cached_property
    def want(self) -> torch.Tensor:
        """The right result for the case's own arguments, float64."""
        return self.oracle(self.values)

    @cached_property
    def got(self) -> torch.Tensor:
        """The reference's own result for the case's arguments."""
        return self.eager(self.values)

    @property
    def size(self) -> float:
        """The rms of right results over several draws, where a result has few elements; else 0."""
        return self._sizes[0] if len(self._sizes) == 1 else 0.0

    @cached_property
    def dtype(self) -> str:
        """The type of the reference's result; the least precise of several."""
        return max((_name(one.dtype) for one in self._own(self.values)), key=correctness.floor)

    @property
    def implemented(self) -> bool:
        """Whether torch has the reference's operations for its types on the device; what else it raises is raised when
        it is asked."""
        try:
            self._own(self.values)
        except NotImplementedError:
            return False
        except Exception:
            return True
        return True

    def oracle(self, values: list[Any]) -> torch.Tensor:
        """Return the right result for those arguments, float64."""
        return self._joined(self._right(values))

    def eager(self, values: list[Any]) -> torch.Tensor:
        """Return the reference's own result."""
        return self._joined(self._own(values))

    def hold(self, values: list[Any]) -> None:
        """Cache the results of those arguments until `hold` gets others; those of the case's own are always cached."""
        if self._asked is None or self._asked[0] is not values:
            self._asked = (values, {})

    def expected(self, values: list[Any], results: Writer) -> dict[str, Any]:
        """Write the right result for those arguments; return the keys of its event.

        Alternatives to a result of integers are right too where a few elements depend on ties between inputs. Several
        outputs are written as one vector; `expected_outputs` has the shape, dtype and rms of each.

        Raises:
            Tied: a ValueError; more elements depend on ties, at arguments that the claim does not draw.
        """
        own, want = self._own(values), _vector(self._right(values))
        whole = [not one.dtype.is_floating_point for one in own]
        also: list[torch.Tensor] = []
        if any(whole):
            drawn = any(one is values for one, _ in self._held)
            also = self.moves(self._ordered(whole, want), values, want, 6).alternatives(own=drawn)
        if len(own) == 1:
            return results.expected(want, dtype=_name(own[0].dtype), also=also)
        each = zip(own, self._sizes, strict=True)
        outputs = [{"shape": list(one.shape), "dtype": _name(one.dtype), "size": size} for one, size in each]
        return results.expected(want, dtype=self.dtype, also=also) | {"expected_outputs": outputs}

    def moves(
        self, oracle: ties.Oracle, values: list[Any], want: torch.Tensor, salt: int, *, alike: bool = False
    ) -> ties.Moves:
        """Return the random moves of arguments whose right result by that oracle is `want`, see `ties.Moves`."""
        inside = self._tie_breaks if not alike and self._breaks_inside else None
        return ties.Moves(oracle, values, want, self._seed + salt, self._tie_breaks.seen, alike, inside)

    @cached_property
    def _breaks_inside(self) -> bool:
        """Whether intermediate values move too: the reference breaks ties, and hardly any at the case's own inputs,
        where many would be meant."""
        want = self.want
        moves = ties.Moves(self.oracle, self.values, want, self._seed + 6, breaks_ties=True, inside=self._tie_breaks)
        return self._tie_breaks.seen and not moves.hangs

    def in_units(self, values: list[Any]) -> tuple[ties.Oracle, torch.Tensor, torch.Tensor]:
        """Return an oracle, its result and the reference's for those arguments, outputs in units of their rms there."""
        right = self._right(values)
        units = self._sized(right)
        return (
            lambda changed: self._joined(self._right(changed), units),
            self._joined(right, units),
            self._joined(self._own(values), units).double(),
        )

    def _right(self, values: list[Any]) -> Outputs:
        def compute(uploaded: list[Any]) -> Outputs:
            compute_at(self.shape, self.reference)
            with self._tie_breaks:
                return _outputs(self.reference.oracle(*uploaded), torch.float64)

        return self._once(values, "oracle", compute)

    def _own(self, values: list[Any]) -> Outputs:
        def compute(uploaded: list[Any]) -> Outputs:
            compute_at(self.shape, self.reference)
            return _outputs(self.reference.reference(*uploaded))

        return self._once(values, "eager", compute)

    def _joined(self, outputs: Outputs, units: Sequence[float] = ()) -> torch.Tensor:
        if len(outputs) == 1:
            return outputs[0]
        units = units or self._units
        if len(outputs) != len(units):
            raise ValueError(f"the reference returns {len(outputs)} outputs here, elsewhere {len(units)}")
        return _vector([one.double() / unit for one, unit in zip(outputs, units, strict=True)])

    def _sized(self, outputs: Outputs) -> list[float]:
        """Return the rms of each of several outputs; 1 where it is 0."""
        if len(outputs) != len(self._sizes):
            raise ValueError(f"the reference returns {len(outputs)} outputs here, elsewhere {len(self._sizes)}")
        return [max(_rms(one), size) or 1.0 for one, size in zip(outputs, self._sizes, strict=True)]

    def _ordered(self, whole: Sequence[bool], want: torch.Tensor) -> ties.Oracle:
        """Return an oracle that computes outputs of integers alone; it returns the others as they are in `want`."""

        def of(values: list[Any]) -> torch.Tensor:
            outputs = self._right(values)
            if len(outputs) == 1:
                return outputs[0]
            mask = torch.cat([torch.full((one.numel(),), kind) for one, kind in zip(outputs, whole, strict=True)])
            return torch.where(mask.to(want.device), _vector(outputs), want)

        return of

    @cached_property
    def _units(self) -> list[float]:
        """The rms of each of several outputs at the case's own arguments."""
        return self._sized(self._right(self.values))

    @cached_property
    def _sizes(self) -> list[float]:
        """The rms of each output over several draws, where it has few elements; else 0."""
        outputs = self._right(self.values)
        drawn = sum(x.numel() for x in self.flat if isinstance(x, torch.Tensor))
        if drawn > MOST_DRAWN or all(one.numel() > FEW for one in outputs):
            return [0.0] * len(outputs)
        others = [self._right(self.drawn(FIRST_DRAW + draw)) for draw in range(DRAWS)]
        every = zip(outputs, *others, strict=True)
        return [_rms(_vector(draws)) if draws[0].numel() <= FEW else 0.0 for draws in every]

    def _once(self, values: list[Any], kind: str, compute: Callable[[list[Any]], Outputs]) -> Outputs:
        held = [*self._held, *([] if self._asked is None else [self._asked])]
        cached = next((results for one, results in held if one is values), {})
        if kind not in cached:
            copied = placed(values, lambda x: x.to(self.device, copy=True), self._host)  # it may work in place
            cached[kind] = compute(copied)
        return cached[kind]


def _outputs(result: Any, dtype: torch.dtype | None = None) -> Outputs:
    """Return the outputs of a reference, in that dtype. Raises TypeError where there are none."""
    outputs = outputs_of(own(result))
    if not outputs:
        raise TypeError(f"the reference returns neither a tensor nor several, but {type(result).__name__}")
    return tuple(one if dtype is None else one.to(dtype) for one in outputs)


def _vector(outputs: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return a single output as it is, several as one vector."""
    return outputs[0] if len(outputs) == 1 else torch.cat([one.reshape(-1) for one in outputs])


def _rms(values: torch.Tensor) -> float:
    """Return the rms of the finite elements, 0 where there is none."""
    try:
        return correctness.rms(values)
    except correctness.NothingFinite:
        return 0.0


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
