"""Sizes around a shape, and the simplest rule that tells those where a kernel is right from those where it is not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from audit.model import Shape

Sizes = Mapping[str, int]
POWERS = (4, 32, 2, 16, 8, 64, 128, 256)
"""A size near the base is tried that has exactly this power of two as a divisor; vectors and warps come first."""
MOST_THREADS = 1024
"""Of a block on any GPU; a kernel that takes a row as a block is not launched beyond it."""
MOST_A_SIZE, MOST_SHAPES = 12, 24
SMALL, SMALL_SIZE, GROWTH = 1 << 16, 1 << 11, 8
"""No shape has a larger product of sizes than SMALL, and no size is larger than SMALL_SIZE, unless it is within GROWTH
times that of the base."""
MOST_RULES = 3
"""Several are each about another size, none about a product: else some would fit anything."""


@dataclass(frozen=True)
class Rule:
    """Where a kernel is wrong: the product of the sizes `of` is no multiple of the number, above it, or below it."""

    of: tuple[str, ...]
    kind: Literal["%", ">", "<"]
    number: int

    def holds(self, shape: Sizes) -> bool:
        """Return whether it says "wrong" at that shape."""
        value = math.prod(shape[name] for name in self.of)
        if self.kind == "%":
            return value % self.number != 0
        return value > self.number if self.kind == ">" else value < self.number

    def __str__(self) -> str:
        """As a condition: `cols % 4 != 0`."""
        condition = f"% {self.number} != 0" if self.kind == "%" else f"{self.kind} {self.number}"
        return f"{' * '.join(self.of)} {condition}"


def sizes(base: Sizes, numbers: Collection[int]) -> list[Shape]:
    """Return shapes around a base, without it, the most telling first: one size changed at a time, then all by one.

    `numbers` are those that the source names.
    """
    together = [{name: max(1, size + by) for name, size in base.items()} for by in (-1, 1)] if len(base) > 1 else []
    each = max(2, min(MOST_A_SIZE, (MOST_SHAPES - len(together)) // len(base)))
    columns = [list(itertools.islice(_changed(base, name, numbers), each)) for name in base]
    turns = (shape for turn in itertools.zip_longest(*columns) for shape in turn if shape is not None)
    found: list[Shape] = []
    for shape in (*itertools.islice(turns, MOST_SHAPES - len(together)), *together):
        if shape != dict(base) and shape not in found:
            found.append(shape)
    return found


def explanation(results: Sequence[tuple[Sizes, bool]], numbers: Collection[int]) -> tuple[Rule, ...] | None:
    """The fewest and simplest rules of which one holds exactly where the result is wrong; None without such rules, and
    where the result is right everywhere or wrong everywhere.

    Results are shapes of the same names, and whether the result is right there; `numbers` those that the source names.
    """
    wrong = [place for place, (_, right) in enumerate(results) if not right]
    if not wrong or len(wrong) == len(results):
        return None
    fitting: dict[frozenset[int], Rule] = {}
    for rule in _rules(results, numbers):
        said = frozenset(place for place, (shape, _) in enumerate(results) if rule.holds(shape))
        if said and said <= set(wrong):
            fitting.setdefault(said, rule)
    alone = [said for said, rule in fitting.items() if len(rule.of) == 1]
    for count in range(1, MOST_RULES + 1):
        for chosen in itertools.combinations(fitting if count == 1 else alone, count):
            rules = tuple(fitting[said] for said in chosen)
            if len({rule.of for rule in rules}) == count and len(frozenset[int]().union(*chosen)) == len(wrong):
                return rules
    return None


def _changed(base: Sizes, name: str, numbers: Collection[int]) -> Iterator[Shape]:
    """Yield shapes with another size of that name, each once."""
    tried = {base[name]}
    for size in _near(base[name], numbers):
        if size not in tried and is_small({**base, name: size}, base):
            tried.add(size)
            yield {**base, name: size}


def is_small(shape: Sizes, base: Sizes) -> bool:
    """Return whether a shape is not much larger than the base, see SMALL."""
    within = all(0 < size <= max(SMALL_SIZE, GROWTH * base[name]) for name, size in shape.items())
    return within and math.prod(shape.values()) <= max(SMALL, GROWTH * math.prod(base.values()))


def _near(size: int, numbers: Collection[int]) -> Iterator[int]:
    vectors, others = POWERS[:2], POWERS[2:]
    yield from (size + 1, size - 1, *(_multiple(size, power) for power in vectors), 1, _prime(size))
    yield MOST_THREADS + 1
    yield from (_multiple(size, power) for power in others)
    for number in sorted(numbers, key=lambda one: (abs(one - size), one)):
        yield from (number, number + 1)


def _multiple(size: int, power: int) -> int:
    """Return the odd multiple of a power of two nearest to a size, the larger of two."""
    odd = size // power | 1
    return min((power * one for one in (odd, odd - 2, odd + 2) if one > 0), key=lambda one: (abs(one - size), -one))


def _prime(size: int) -> int:
    """Return the least prime that is larger than the size by two or more; the next number is tried anyway."""
    odd = itertools.count(max(2, size + 2))
    return next(one for one in odd if all(one % factor for factor in range(2, math.isqrt(one) + 1)))


def _rules(results: Sequence[tuple[Sizes, bool]], numbers: Collection[int]) -> Iterator[Rule]:
    """Yield every rule worth a trial, the simplest first; a threshold is a size that was tried."""
    names = tuple(results[0][0])
    moduli = sorted({*POWERS, *(number for number in numbers if number > 1)})
    for of in [*((name,) for name in names), *([names] if len(names) > 1 else [])]:
        tried = sorted({math.prod(shape[name] for name in of) for shape, _ in results})
        yield from (Rule(of, "%", modulus) for modulus in moduli)
        yield from (Rule(of, ">", size) for size in tried)
        yield from (Rule(of, "<", size) for size in tried)
