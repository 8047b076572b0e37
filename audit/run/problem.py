"""Runs in a child: one case with the claim's reference, its right result in float64, and which changes it allows."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

import torch

from audit.run import correctness, ties
from audit.run.arguments import as_bytes
from audit.run.containers import leaves, rebuilt
from audit.run.harness import placed
from audit.run.outputs import outputs_of, own
from audit.run.results import Writer
from audit.run.structure import NONE, Structures, read, same, tables
from audit.run.transforms import Range

FEW, DRAWS, FIRST_DRAW = 16, 3, 8
"""The rms of a result of few elements is unreliable: a sum may be near zero. It is taken over other draws instead, with
salts from FIRST_DRAW on."""
MORE_DRAWS = 64
"""The salt from which on draws show the structure of the inputs."""
MOST_DRAWN = 1 << 26
"""Elements of the inputs above which other draws cost too much."""
Outputs = tuple[torch.Tensor, ...]
_Held = tuple[list[Any], dict[str, Outputs]]
"""Arguments, and their results by kind."""


class Problem:
    """A case and the claim's reference.

    `flat` are the leaves of its arguments, see `containers`. Several outputs are joined into one vector, each in units
    of its rms at the case's arguments, so that one tolerance fits all.
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
        self.reference, self.values, self.shape = reference, values, shape
        self.flat = leaves(values)
        self.device, self._host = device, host
        self._held: list[_Held] = [(values, {})]
        self._asked: _Held | None = None
        self._tie_breaks = ties.TieBreaks()

    def arguments(self, flat: list[Any]) -> list[Any]:
        """Return arguments of the case's containers around those leaves, `agreed`; tables stay as they are drawn."""
        kept = [self.flat[leaf] if leaf in self.tables else x for leaf, x in enumerate(flat)]
        return self.agreed(rebuilt(self.values, kept))

    def agreed(self, changed: list[Any], base: list[Any] | None = None) -> list[Any]:
        """Return changed arguments with the structure that all draws have, after `agreeing` of `reference.py`, if any,
        has updated second copies of data; `base` are the arguments they were made from, by default the case's own."""
        if self.structures:
            own = self.flat if base is None else leaves(base)
            changed = rebuilt(changed, self.structures.restored(leaves(changed), own))
        return self.agreed_copies(changed)

    def agreed_copies(self, changed: list[Any]) -> list[Any]:
        """Return changed arguments after `agreeing` alone."""
        agreeing: Callable[[list[Any]], list[Any]] | None = getattr(self.reference, "agreeing", None)
        return changed if agreeing is None else agreeing(changed)

    @property
    def keeps(self) -> bool:
        """Whether a structure or a table restricts the changes of the arguments."""
        return bool(self.structures or self.tables)

    def unchanged(self, values: list[Any], base: list[Any] | None = None) -> bool:
        """Return whether arguments are those they were made from, since `keeps` allows no such change."""
        if not self.keeps:
            return False
        flat, own = leaves(values), self.flat if base is None else leaves(base)
        return len(flat) == len(own) and all(map(same, own, flat))

    @cached_property
    def structures(self) -> Structures:
        """The structure that every draw of the arguments has."""
        if not hasattr(self.reference, "inputs"):
            return NONE
        return read(self.flat, offered=map(leaves, self._offered()), drawn=lambda number: leaves(self._another(number)))

    @cached_property
    def tables(self) -> frozenset[int]:
        """The leaves that hold a table, see `structure.tables`."""
        if not hasattr(self.reference, "inputs") or not tables(self.flat, [leaves(self.others)]):
            return frozenset()
        return tables(self.flat, [leaves(self._another(number)) for number in range(DRAWS)])

    def _another(self, number: int) -> list[Any]:
        return self.drawn(MORE_DRAWS + number) if number else self.others

    def _offered(self) -> Iterator[list[Any]]:
        """Yield the arguments that `reference.py` offers besides its draws."""
        if (offered := getattr(self.reference, "discriminating", None)) is not None:
            yield offered(self.shape, self.generator(MORE_DRAWS))
        if (offered := getattr(self.reference, "distributions", None)) is not None:
            yield from offered(self.shape, self.generator(MORE_DRAWS)).values()

    def generator(self, salt: int, *, device: str = "cpu") -> torch.Generator:
        """Return a generator seeded by the inputs, so that its numbers are not known before the audit."""
        return torch.Generator(device).manual_seed(self._seed + salt)

    @cached_property
    def _seed(self) -> int:
        crc = 0
        for tensor in (x for x in self.flat if isinstance(x, torch.Tensor)):
            crc = zlib.crc32(as_bytes(tensor).numpy().data, crc)
        return crc << 8

    def drawn(self, salt: int) -> list[Any]:
        """Draw other arguments of this shape by the claim's `inputs`."""
        values: list[Any] = self.reference.inputs(self.shape, self.generator(salt))
        return values

    @cached_property
    def ranges(self) -> list[Range | None]:
        """The range of each leaf, see `transforms.Range`."""
        return [Range.of(x) for x in self.flat]

    @cached_property
    def others(self) -> list[Any]:
        """Other arguments, drawn by the claim's `inputs`."""
        others = self.drawn(1)
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
            with self._tie_breaks:
                return _outputs(self.reference.oracle(*uploaded), torch.float64)

        return self._once(values, "oracle", compute)

    def _own(self, values: list[Any]) -> Outputs:
        return self._once(values, "eager", lambda uploaded: _outputs(self.reference.reference(*uploaded)))

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
