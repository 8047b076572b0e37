"""Sizes that would refute a rule about sizes, and the rules that no size could refute.

A threshold is established by the result on both sides of it. A modulus k is established by right results at multiples
of k alone, of which no larger number divides all, and by a wrong result at a multiple of each divisor of k.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from audit.claims.shapes.sweep import MOST_THREADS, Rule, Sizes, explanation, is_small
from audit.model import Shape

Results = Sequence[tuple[Sizes, bool]]
"""Shapes of the same names, and whether the result is right there."""
MOST_TELLING = 8
"""Shapes asked in a round."""
LEAST = 2
"""A kernel may be wrong at sizes of 1 alone."""
MOST_NAMED, MOST_SPREAD, MOST_MODULI, MOST_MULTIPLES = 4, 6, 4, 2
SPLITS = 2
"""Shapes of one product."""
FACTORS, MOST_FACTOR = (2, 3, 4, 8, 16), 64


def established(results: Results, numbers: Collection[int]) -> tuple[Rule, ...]:
    """Return the rules that hold exactly where the result is wrong, if sizes that would refute each were asked."""
    rules = explanation(results, numbers) or ()
    known = [_alone(results, rule) for rule in rules]
    found = tuple(rule for rule in known if rule is not None)
    fits = all(any(rule.holds(shape) for rule in found) != right for shape, right in results)
    return found if found and len(found) == len(rules) and fits and not _products(results, found) else ()


def telling(results: Results, numbers: Collection[int], asked: Sequence[Sizes] = ()) -> list[Shape]:
    """Return shapes that tell the rules apart that fit the results, the most telling first, but for those `asked`.

    The first shape of the results bounds them; `numbers` are those that the source names.
    """
    if not (rules := explanation(results, numbers)):
        return []
    columns = [_about(results, rule, numbers) for rule in rules]
    columns.append([shape for product in _products(results, rules) for shape in _against(results, rules, product)])
    turns = [shape for turn in itertools.zip_longest(*columns) for shape in turn if shape is not None]
    known, base = [*asked, *(shape for shape, _ in results)], results[0][0]
    new = [shape for shape in turns if shape not in known and is_small(shape, base)]
    return [shape for index, shape in enumerate(new) if shape not in new[:index]][:MOST_TELLING]


def _alone(results: Results, rule: Rule) -> Rule | None:
    """Return the one rule about that size, or that product, that fits; None where several do, or one shape decides."""
    found = _only(rule.of, _values(results, rule.of))
    return found if found and (len(rule.of) == 1 or _in_several_shapes(results, found)) else None


def _only(of: tuple[str, ...], values: Mapping[int, bool]) -> Rule | None:
    """Return the one rule that fits; None where several do, or one right value alone is a multiple."""
    fitting = _fitting(of, values)
    one_right = sum(values.values()) == 1 and any(rule.kind == "%" for rule in fitting)
    return fitting[0] if len(fitting) == 1 and not one_right else None


def _in_several_shapes(results: Results, rule: Rule) -> bool:
    """Return whether two shapes of a product on either side of its limit were asked, or several of a modulus."""
    near = {">": (rule.number, rule.number + 1), "<": (rule.number - 1, rule.number)}.get(rule.kind)
    products = [(math.prod(shape.values()), right) for shape, right in results]
    if near is None:
        return min(sum(right for _, right in products), sum(not right for _, right in products)) >= SPLITS
    return all(sum(product == value for product, _ in products) >= SPLITS for value in near)


def _anchor(results: Results) -> Sizes:
    """Return the first shape with a right result."""
    return next(shape for shape, right in results if right)


def _values(results: Results, of: Sequence[str]) -> dict[int, bool]:
    """Return the result by the product of all sizes, or by one size where the others are those of the anchor; a value
    with both results is wrong."""
    anchor, values = _anchor(results), dict[int, bool]()
    for shape, right in results:
        if len(of) > 1 or all(shape[name] == anchor[name] for name in anchor if name not in of):
            value = math.prod(shape[name] for name in of)
            values[value] = right and values.get(value, True)
    return values


def _fitting(of: tuple[str, ...], values: Mapping[int, bool]) -> list[Rule]:
    """Return every rule that holds exactly at the wrong values: of a threshold the least and the largest number."""
    right = [value for value, is_right in values.items() if is_right]
    wrong = [value for value, is_right in values.items() if not is_right]
    if not right or not wrong:
        return []
    divisors = _divisors(math.gcd(*right))
    found = [Rule(of, "%", one) for one in divisors if all(value % one for value in wrong)]
    if max(right) < min(wrong):
        found += [Rule(of, ">", limit) for limit in sorted({max(right), min(wrong) - 1})]
    if max(wrong) < min(right):
        found += [Rule(of, "<", limit) for limit in sorted({max(wrong) + 1, min(right)})]
    return found


def _divisors(number: int) -> list[int]:
    low = [one for one in range(1, math.isqrt(number) + 1) if number % one == 0]
    return sorted({*low, *(number // one for one in low)})


def _about(results: Results, rule: Rule, numbers: Collection[int]) -> list[Shape]:
    """Return shapes that tell the rules about that size, or that product, from each other."""
    anchor, values = _anchor(results), _values(results, rule.of)
    if len(rule.of) == 1:
        (name,) = rule.of
        return [{**anchor, name: value} for value in _telling(anchor[name], rule.of, values, numbers)]
    near = math.prod(anchor.values())
    return [shape for value in (*_telling(near, rule.of, values, numbers), *_edges(rule.of, values))
            for shape in _split(value, anchor)]  # fmt: skip


def _edges(of: tuple[str, ...], values: Mapping[int, bool]) -> Iterator[int]:
    """Yield the values on both sides of each fitting threshold."""
    for rule in _fitting(of, values):
        yield from {">": (rule.number, rule.number + 1), "<": (rule.number - 1, rule.number)}.get(rule.kind, ())


def _telling(near: int, of: tuple[str, ...], values: Mapping[int, bool], numbers: Collection[int]) -> list[int]:
    """Return values that tell the fitting rules apart, those of numbers in the source first."""
    fitting = [] if _only(of, values) else _fitting(of, values)
    right, wrong = (sorted(value for value, one in values.items() if one is kind) for kind in (True, False))
    moduli = sorted((rule.number for rule in fitting if rule.kind == "%"), key=lambda one: (one not in numbers, -one))
    asked = [_multiples(one, near, values, math.lcm(*moduli)) for one in moduli[:MOST_MODULI]]
    if any(rule.kind == ">" for rule in fitting):
        asked.append(_between(right[-1], wrong[0], numbers, step=1))
    if any(rule.kind == "<" for rule in fitting):
        asked.append(_between(wrong[-1], right[0], numbers, step=-1))
    turns = (value for turn in itertools.zip_longest(*asked) for value in turn)
    return [value for value in turns if value is not None and value not in values]


def _multiples(modulus: int, near: int, values: Mapping[int, bool], all_of: int) -> list[int]:
    """Return multiples of a modulus, and of no larger one that fits, near a value and not known."""
    odd = (factor for factor in range(1, MOST_FACTOR, 2) if math.gcd(factor, all_of // modulus) == 1)
    new = [modulus * factor for factor in odd if modulus * factor not in values]
    return sorted(new, key=lambda value: abs(value - near))[:MOST_MULTIPLES]


def _between(low: int, high: int, numbers: Collection[int], *, step: int) -> list[int]:
    """Return values between two others: each number of the source with its neighbour, then some at equal distances."""
    near = sorted({*numbers, MOST_THREADS, LEAST}, key=lambda one: abs(one - low))
    named = [value for number in near for value in (number, number + step)]
    width = (high - low) / (MOST_SPREAD + 1)
    spread = [round(low + width * part) for part in range(1, MOST_SPREAD + 1)]
    inner = [value for value in named if low < value < high]
    return list(dict.fromkeys([*inner[:MOST_NAMED], *(value for value in spread if low < value < high)]))


def _products(results: Results, rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules about the product of all sizes that fit as well as rules about single ones."""
    names = tuple(results[0][0])
    if len(names) == 1 or any(len(rule.of) > 1 for rule in rules):
        return []
    found = _fitting(names, _values(results, names))
    return [rule for rule in found if all(rule.holds(shape) != right for shape, right in results)]


def _against(results: Results, rules: Sequence[Rule], product: Rule) -> list[Shape]:
    """Return shapes of two changed sizes at which those rules and one about the product differ, the smallest first."""
    anchor = _anchor(results)
    tried = {name: {1, *(anchor[name] * by for by in FACTORS)} for name in anchor}
    pool = (
        {**anchor, name: value, other: size}
        for name in dict.fromkeys(name for rule in rules for name in rule.of)
        for value in _values(results, (name,))
        for other in anchor
        if other != name
        for size in tried[other]
    )
    apart = [one for one in pool if any(rule.holds(one) for rule in rules) != product.holds(one)]
    return sorted(apart, key=lambda one: math.prod(one.values()))[:SPLITS]


def _split(value: int, anchor: Sizes) -> list[Shape]:
    """Return shapes of that product, those with the fewest sizes of 1 and the nearest to the anchor first."""
    found: dict[tuple[int, ...], Shape] = {}
    for one, other in itertools.combinations(anchor, 2):
        for rest in (dict(anchor), dict.fromkeys(anchor, 1)):
            left, more = divmod(value, math.prod(size for name, size in rest.items() if name not in (one, other)))
            made = [{**rest, one: by, other: left // by} for by in _divisors(left)] if not more else []
            found |= {tuple(shape.values()): shape for shape in made}
    return sorted(found.values(), key=lambda shape: (list(shape.values()).count(1), _distance(shape, anchor)))[:SPLITS]


def _distance(shape: Sizes, anchor: Sizes) -> float:
    return sum(abs(math.log(shape[name] / anchor[name])) for name in anchor)
