"""The arguments of one case, other draws of them, and the structure that restricts their changes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import cached_property
from types import ModuleType
from typing import Any

import torch

from audit.run.calls.arguments import as_bytes
from audit.run.calls.containers import leaves, rebuilt
from audit.run.inputs.structure import NONE, Structures, read, same, tables
from audit.run.inputs.transforms import Range

DRAWS = 3
"""Draws that are compared: a table is the same in each."""
MORE_DRAWS = 64
"""The salt from which on draws show the structure of the inputs."""


class DrawnArguments:
    """Arguments of one shape that the claim's `inputs` has drawn.

    `flat` are their leaves, see `containers`.
    """

    def __init__(self, reference: ModuleType, values: list[Any], shape: dict[str, int]) -> None:
        self.reference, self.values, self.shape = reference, values, shape
        self.flat = leaves(values)

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
        return self.drawn(1)
