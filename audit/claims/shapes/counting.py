"""Shapes that count for a claim: a failure there is a failure of the claim.

A kernel may be made for the claimed sizes alone: whole tiles, whole vectors, a block as wide as a row. A smaller shape
speaks for the claim where nothing that the source's numbers can tell apart has changed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from audit.claims.shapes.numbers import LARGEST, NOTHING, Demanded, Side
from audit.model import Shape
from audit.model.claim import Shapes

Sizes = Mapping[str, int]
Scope = Literal["claimed", "stated", "kept", "other"]
RESIDUE = 256
"""Sizes keep their residue modulo this: vectors, warps and the usual blocks divide it."""
COARSER = (128, 64, 32, 16)
"""Residues that smaller shapes keep which do not count, the last one that of FEW[0]; sizes that only repeat the work
keep less."""
FEW = (8, 4, 2)
FEWEST = 2
"""No size is proposed below it where the claimed one is larger."""
MOST_CANDIDATES = 9
MOST_WORK, MOST_WORK_OTHER, MOST_WORK_CLAIMED, MOST_WORK_ALONE = 1 << 25, 1 << 22, 1 << 19, 1 << 24
"""Elements and multiplications of a call on the emulated device, at a smaller shape that counts, at one that does not,
and at the claimed one where a smaller one counts too, and where none does: it runs some ten million a second, and
probes make a hundred calls."""
THREAD_COST, PROGRAM_COST = 3, 10_000
"""The work that a launched thread and a program of Triton's interpreter count as at least: 8.4 million threads that
reduce in shared memory and by shuffles took 2.2 to 2.6 s, a program takes some milliseconds."""
INTERPRETED = 4
"""How many times as much the work of a call counts in Triton's interpreter, which computes blocks by NumPy: with it
audits of 105 small cases took 1,175 s beside other work, with 32 and so at smaller shapes 1,222 s."""


def scope_of(shape: Sizes, shapes: Shapes, numbers: Collection[int]) -> Scope:
    """Return why a shape counts for the claim; `other`: it does not.

    It is the claimed one, one that the claim states, or one that keeps the residues and divisors of such a one.
    """
    if dict(shape) == shapes.claimed:
        return "claimed"
    stated = [*shapes.others, *(shapes.emulated if shapes.emulated_by == "claim" else ())]
    if dict(shape) in stated:
        return "stated"
    return "kept" if kept_of(shape, shapes, numbers) else "other"


def kept_of(shape: Sizes, shapes: Shapes, numbers: Collection[int]) -> list[Shape]:
    """Return the shapes of the claim that a smaller one `keeps`, the claimed one first."""
    return [one for one in (shapes.claimed, *shapes.others) if keeps(shape, one, numbers, module=shapes.module)]


def counts(shape: Sizes, shapes: Shapes, numbers: Collection[int]) -> bool:
    """Return whether a failure at that shape is a failure of the claim."""
    return scope_of(shape, shapes, numbers) != "other"


def keeps(shape: Sizes, claimed: Sizes, numbers: Collection[int], *, module: Collection[str] = ()) -> bool:
    """Return whether a smaller shape has what the source can tell apart in common with the claimed one.

    Every size has the same residue modulo RESIDUE, every divisor in common with a number of the source, and lies on
    the same side of each such number. Products of sizes keep their divisors with them. So does each quotient of two
    sizes of a module, such as the width of an attention head.
    """
    if set(shape) != set(claimed):
        return False
    pairs = [(shape[name], size) for name, size in claimed.items()]
    quotients = _quotients(claimed, module)
    pairs += [(shape[one] // shape[other], claimed[one] // claimed[other]) for one, other in quotients]
    whole = all(shape[one] % shape[other] == 0 for one, other in quotients)
    return whole and all(_kept(size, of, numbers) for size, of in pairs)


def _kept(size: int, claimed: int, numbers: Collection[int]) -> bool:
    alike = 0 < size <= claimed and (claimed - size) % _step(claimed, numbers) == 0
    return alike and size >= _threshold(claimed, numbers)


def _quotients(claimed: Sizes, module: Collection[str]) -> list[tuple[str, str]]:
    """Return the pairs of sizes of a module of which the second, larger than 1, divides the first; small ones first."""
    names = sorted((name for name in claimed if name in module), key=lambda name: claimed[name])
    return [(one, other) for one in names for other in names
            if one != other and claimed[other] > 1 and claimed[one] % claimed[other] == 0]  # fmt: skip


def beyond_limits(shape: Sizes, claimed: Sizes, numbers: Collection[int]) -> bool:
    """Return whether every size is above each number of the source that the claimed one is above."""
    return all(size >= _threshold(claimed[name], numbers) for name, size in shape.items())


def smallest(claimed: Sizes, numbers: Collection[int]) -> Shape:
    """Return the smallest shape that `keeps`."""
    return {name: _smallest(size, _step(size, numbers), _threshold(size, numbers)) for name, size in claimed.items()}


def candidates(
    claimed: Sizes,
    numbers: Collection[int],
    *,
    repeating: Collection[str] = (),
    demanded: Demanded = NOTHING,
    above: Collection[tuple[str, str]] = (),
    module: Collection[str] = (),
) -> list[Shape]:
    """Return shapes for a device that can run few elements, the most faithful first, each smaller than the one before.

    Args:
        claimed, numbers: the claimed sizes, and the numbers that the sources name.
        repeating: sizes that only repeat the work, as a batch does: they are made smaller first.
        demanded: what checks of the sources demand of sizes: the source refuses a shape without it.
        above: pairs of sizes of which the first stays above the second: the task takes one from the other.
        module: sizes that a module is made with, which the first shape has as claimed.
    """
    least = smallest(claimed, numbers)
    for larger, other in above:
        step, lowest = _step(claimed[larger], numbers), max(least[other] + 1, least[larger])
        least[larger] = min(claimed[larger], _smallest(claimed[larger], step, lowest))
    for one, other in _quotients(claimed, module):
        quotient = claimed[one] // claimed[other]
        if least[other] == claimed[other]:
            quotient = smallest({one: quotient}, numbers)[one]
        least[one] = min(claimed[one], max(least[one], quotient * least[other]))
    found = [{**least, **{name: claimed[name] for name in module}}]
    found += [least] if least != found[0] else []
    batch, others = (tuple(name for name in claimed if (name in repeating) == first) for first in (True, False))
    for names, moduli in ((batch, (*COARSER, *FEW)), (others, (*COARSER, FEW[0]))):
        for modulus in moduli:
            least = {name: min(found[-1][name], _coarse(claimed[name], modulus, demanded)) for name in names}
            shape = {name: least.get(name, found[-1][name]) for name in claimed}
            for larger, other in above:
                lowest = _coarse(claimed[larger], modulus, demanded, max(shape[other] + 1, shape[larger]))
                shape[larger] = min(found[-1][larger], lowest)
            for one, other in _quotients(claimed, module):
                shape[one] = min(found[-1][one], -(-shape[one] // shape[other]) * shape[other])
            found += [shape] if shape != found[-1] else []
    return _spread(found)


def first_that_fits(scopes: Sequence[Scope], work: Sequence[int | None], *, slower: int = 1) -> int:
    """Return the place of the first candidate whose work is within its bound, else of the last whose work is known.

    Args:
        scopes: of the candidates, in order.
        work: elements and multiplications of a call at each; None where not known.
        slower: how many times slower than compiled ones the device runs these kernels.
    """
    claimed = MOST_WORK_CLAIMED if "kept" in scopes else MOST_WORK_ALONE
    bounds: dict[Scope, int] = {"other": MOST_WORK_OTHER, "claimed": claimed}
    for place, (scope, amount) in enumerate(zip(scopes, work, strict=True)):
        if amount is not None and slower * amount <= bounds.get(scope, MOST_WORK):
            return place
    return max((place for place, amount in enumerate(work) if amount is not None), default=len(scopes) - 1)


def _step(claimed: int, numbers: Iterable[int]) -> int:
    """Return the least difference that keeps the residue and every divisor in common with a number, limits aside."""
    shared = (one for one in numbers if one <= LARGEST and not isinstance(one, Side))
    return math.lcm(RESIDUE, *(math.gcd(claimed, one) for one in shared))


def _threshold(claimed: int, numbers: Iterable[int]) -> int:
    return max((number for number in numbers if number <= claimed), default=1)


def _smallest(claimed: int, step: int, least: int) -> int:
    size = claimed % step or min(step, claimed)
    return size if size >= least else size + (least - size + step - 1) // step * step


def _coarse(claimed: int, modulus: int, demanded: Demanded, least: int = FEWEST) -> int:
    """Return the smallest size of that residue that is not 0, not below `least`, and what the sources demand."""
    if claimed in demanded.equal:
        return claimed
    modulus = math.lcm(modulus, *(number for number in demanded.multiples if claimed % number == 0))
    return min(claimed, _smallest(claimed, modulus, min(claimed, least)))


def _spread(found: list[Shape]) -> list[Shape]:
    """At most MOST_CANDIDATES of them, the first and the last among them."""
    if len(found) <= MOST_CANDIDATES:
        return found
    last = MOST_CANDIDATES - 1
    return [found[place * (len(found) - 1) // last] for place in range(MOST_CANDIDATES)]
