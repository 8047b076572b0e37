"""New argument values at the same addresses for each timed call.

Every call gets one of a few buffer sets. Before the call a content is written there past torch's version counters,
another one than the set held before. A content is a draw of `inputs`, or a mixture of two draws, whose numbers no
earlier call has seen.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import torch

from audit.run.calls import correctness, raw_memory
from audit.run.calls.containers import leaves, rebuilt, tensors
from audit.run.calls.outputs import packed
from audit.run.calls.raw_memory import Arena, Kind
from audit.run.inputs import structure
from audit.run.inputs.ties import REFUSED

BUFFER_SETS = 2
MOST_CONTENTS = 14
MOST_BYTES = 4 << 30
"""The most device memory for contents and their right results, besides a quarter of the free memory. Where two contents
do not fit, all are stored on the host."""
MOST_ELEMENTS = 1 << 22
"""The most elements of a right result that are stored, in pieces drawn for each batch of contents."""
REFERENCE_MS = 30.0
"""The most time of the reference for a batch of contents."""
DRAWN_SHARE = 0.25
"""The share of contents that are draws; each batch has at least one draw and one mixture."""
LEAST_SHARE, MOST_SHARE = 0.15, 0.85
"""The bounds of the first draw's share in a mixture."""
Values = list[Any]


@dataclass
class Content:
    """One content: its row in the arena, the number of its draw (None: a mixture), and the rms of its right result."""

    row: int
    drawn: int | None
    scale: float = 0.0
    key: object = field(default_factory=object)
    """Equal for contents of the same bytes."""


class Contents:
    """The `buffer_sets` of the arguments, and the contents written there.

    Args:
        draws: argument lists of one shape, on the host; a list with other numbers, shapes or types than the first is
            left out.
        place: copies an argument list to where calls expect it.
        reference: computes the right result, in the baseline's own precision.
        choice: the random numbers.
        free_bytes: free device memory.
    """

    def __init__(
        self,
        draws: Sequence[Values],
        place: Callable[[Values], Values],
        reference: Callable[..., torch.Tensor],
        *,
        choice: random.Random,
        free_bytes: int,
    ) -> None:
        self._numbers = [number for number, draw in enumerate(draws) if _alike(draw, draws[0])]
        self._draws = [draws[number] for number in self._numbers]
        self.buffer_sets: list[Values] = [place(self._draws[index % len(self._draws)]) for index in range(BUFFER_SETS)]
        self._reference, self._choice = reference, choice
        self._buffers = [tensors(buffer_set) for buffer_set in self.buffer_sets]
        self._kinds = [Kind.of(one) for one in self._buffers[0]]
        self._held: list[object] = [None] * BUFFER_SETS
        self._pieces: list[int] | None = None
        self._used: dict[str, set[int]] = {}
        self._mixed = [mixable(columns) for columns in zip(*(tensors(draw) for draw in self._draws), strict=True)]
        self.mixes, self.most = any(self._mixed), MOST_CONTENTS
        self.batch: list[Content] = []
        self._make_room(free_bytes)

    def renew(self, count: int) -> None:
        """Draw a batch of new contents, `count` or as many as fit, two at least.

        Once the reference has refused a mixture, no more are made.
        """
        try:
            self._renew(max(2, min(count, self.most)))
        except REFUSED:
            if not self.mixes:
                raise
            self.mixes = False
            self._renew(max(2, min(count, self.most)))

    def spend(self, reference_ms: float) -> None:
        """Bound the size of a batch by the time of one call of the reference."""
        self.most = max(2, min(self.most, int(REFERENCE_MS / max(reference_ms, 1e-3))))

    def taken(self, owner: str, count: int) -> list[tuple[Content, int]]:
        """Return contents with a buffer set each, in random order: none twice for an owner while the batch has others,
        and none that the set held last. Raises LookupError: there is no batch."""
        used = self._used.setdefault(owner, set())
        found = []
        for _ in range(count):
            ways = self._ways(used) or self._ways(set()) or [(one, 0) for one in self.batch]
            if not ways:
                raise LookupError("no contents to choose from: call `renew` first")
            content, buffer_set = self._choice.choice(ways)
            used.add(content.row)
            self._held[buffer_set] = content.key
            found.append((content, buffer_set))
        return found

    def write(self, content: Content, buffer_set: int) -> None:
        """Write a content into a buffer set, within new lists and dicts."""
        for column, buffer in enumerate(self._buffers[buffer_set]):
            raw_memory.write(buffer, self._arena.view(content.row, column))
        filled = iter(self._buffers[buffer_set])
        flat = [next(filled) if isinstance(x, torch.Tensor) else x for x in leaves(self._draws[0])]
        self.buffer_sets[buffer_set][:] = rebuilt(self._draws[0], flat)

    def wanted(self, content: Content) -> torch.Tensor:
        """Return the right result for a content, or its pieces, as a vector; drop it before claimed code runs."""
        return self._arena.view(content.row, len(self._kinds))

    def part_of(self, result: torch.Tensor) -> torch.Tensor:
        """Return the elements of a result that correspond to `wanted`."""
        return pieces_of(result, self._pieces)

    def _renew(self, rows: int) -> None:
        self.batch, self._used, self._pieces = [], {}, self._drawn_pieces()
        number = self._choice.randrange(len(self._draws))
        with torch.no_grad():
            for row, mixed in enumerate(self._kinds_of_contents(rows)):
                number = (number + 1) % len(self._draws)
                self.batch.append((self._mixture if mixed else self._drawn)(row, number))
                self._answer(self.batch[-1])

    def _kinds_of_contents(self, rows: int) -> list[bool]:
        """Return which contents of a batch are mixtures: most, but at least one of either kind."""
        if not self.mixes:
            return [False] * rows
        sure = [False, True]
        more = [self._choice.random() >= DRAWN_SHARE for _ in range(rows - len(sure))]
        return self._choice.sample([*sure, *more], rows)

    def _make_room(self, free_bytes: int) -> None:
        with torch.no_grad():
            result = packed(self._reference(*self.buffer_sets[0]))
        self.shape, self.dtype = tuple(result.shape), result.dtype
        self.elements = min(result.numel(), MOST_ELEMENTS)
        kinds = [*self._kinds, Kind(result.dtype, (self.elements,), (1,))]
        fit = min(MOST_BYTES, free_bytes // 4) // max(1, Arena.row_bytes(kinds)) - len(self._draws)
        self.most = self._first_draw = max(2, min(MOST_CONTENTS, fit))
        device = result.device if fit >= 2 else torch.device("cpu")
        self._arena = Arena(kinds, self.most + len(self._draws), device=device)
        for number, draw in enumerate(self._draws):
            for column, x in enumerate(tensors(draw)):
                raw_memory.write(self._draw(number, column), x)

    def _drawn_pieces(self) -> list[int] | None:
        """Return the numbers of the pieces to compare in this batch; None for the whole result."""
        count = torch.Size(self.shape).numel()
        if count <= self.elements:
            return None
        return sorted(self._choice.sample(range(count // PIECE), self.elements // PIECE))

    def _draw(self, number: int, column: int) -> torch.Tensor:
        return self._arena.view(self._first_draw + number, column)

    def _ways(self, used: set[int]) -> list[tuple[Content, int]]:
        left = [one for one in self.batch if one.row not in used]
        return [
            (one, buffer_set) for one in left for buffer_set in range(BUFFER_SETS) if self._held[buffer_set] != one.key
        ]

    def _drawn(self, row: int, number: int) -> Content:
        for column in range(len(self._kinds)):
            raw_memory.write(self._arena.view(row, column), self._draw(number, column))
        return Content(row, self._numbers[number], key=("drawn", number))

    def _mixture(self, row: int, number: int) -> Content:
        """Make a content with every mixable tensor between two draws, or scaled down if there is one draw."""
        other = (number + 1) % len(self._draws)
        share = self._choice.uniform(LEAST_SHARE, MOST_SHARE)
        for column, mixes in enumerate(self._mixed):
            target, one = self._arena.view(row, column), self._draw(number, column)
            if not mixes:
                raw_memory.write(target, one)
            else:
                target.copy_(
                    mixture(one, self._draw(other, column) if other != number else torch.zeros_like(one), share)
                )
        return Content(row, None)

    def _answer(self, content: Content) -> None:
        """Store the reference's result for a content."""
        self.write(content, 0)
        self._held[0] = content.key
        result = packed(self._reference(*self.buffer_sets[0]))
        part = self.part_of(result)
        with suppress(correctness.NothingFinite):
            content.scale = correctness.rms(part.double())
        self.wanted(content).copy_(part)


def _alike(one: Values, other: Values) -> bool:
    """Return whether two argument lists differ in values of tensors alone."""
    pairs = list(zip(leaves(one), leaves(other), strict=False))
    if len(leaves(one)) != len(leaves(other)):
        return False
    return all(
        (x.shape, x.dtype, x.stride()) == (y.shape, y.dtype, y.stride())
        if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor)
        else type(x) is type(y) and x == y
        for x, y in pairs
    )


PIECE = 4096
"""Elements of one piece of a large result."""


def mixture(one: torch.Tensor, other: torch.Tensor, share: float) -> torch.Tensor:
    """Return numbers between those of two tensors; where both are equal, or not finite, those of the first."""
    wide = torch.float64 if one.dtype == torch.float64 else torch.float32
    mixed = one.to(wide) * share + other.to(wide) * (1 - share)
    keep = (one == other) | ~(one.isfinite() & other.isfinite())
    return torch.where(keep, one, mixed.to(one.dtype))


def pieces_of(result: torch.Tensor, pieces: Sequence[int] | None) -> torch.Tensor:
    """Return a result as a vector, row major: all of it, or the numbered pieces of `PIECE` elements."""
    flat = result.reshape(-1)
    if pieces is None:
        return flat
    rows = flat[: flat.numel() // PIECE * PIECE].view(-1, PIECE)
    return rows[torch.tensor(pieces, device=result.device)].reshape(-1)


def mixable(columns: Sequence[torch.Tensor]) -> bool:
    """Return whether a tensor may be mixed: its draws hold fractions, are not all alike, and are no unit vectors."""
    first = columns[0]
    if first.dtype not in (torch.float16, torch.bfloat16, torch.float32, torch.float64) or not first.numel():
        return False
    whole = all(bool((one == one.round()).all()) for one in columns)
    alike = len(columns) > 1 and all(torch.equal(one, first) for one in columns[1:])
    return not whole and not alike and structure.mixes(columns)
