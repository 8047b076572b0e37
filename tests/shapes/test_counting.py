"""Which smaller shapes speak for a claim."""

from __future__ import annotations

import itertools

import pytest

from audit.claims.shapes.counting import candidates, counts, first_that_fits, keeps, scope_of, smallest
from audit.claims.shapes.numbers import Demanded, Side
from audit.model.claim import Shapes


@pytest.mark.parametrize(
    ("size", "claimed", "numbers", "kept"),
    [
        (256, 4096, {128, 8}, True),
        (64, 4096, {128, 8}, False),  # a tile of 128 no longer fits
        (512, 4096, {1024}, False),  # 1024 divides the claimed size
        (1024, 4096, {1024}, True),
        (232, 1000, {4, 32}, True),
        (125, 1000, {4, 32}, False),  # 1000 is a multiple of 4
        (232, 1000, {500}, False),  # below a number that the claimed size is above
        (160, 4000, {1024}, False),
        (1184, 4000, {1024}, True),
        (4096, 4096, set(), True),
        (4352, 4096, set(), False),  # no smaller one
        (16, 16, {1024}, True),
        (8, 16, set(), False),
        (1 << 20, 1 << 22, {1 << 20}, True),
        (1 << 20, 1 << 22, {1 << 20, (1 << 20) + 1}, False),  # no longer above the limit
        (1 << 18, 1 << 19, {1 << 20}, True),  # a limit asks for its side alone, not for divisors
        (1024, 4096, {1024, Side(1025)}, False),  # no longer above 1024, as in `n > 1024`
        (184, 3000, {25}, False),
        (184, 3000, {Side(25)}, True),
        (96 * 8, 96 * 80, {96}, True),
        (256, 96 * 80, {96}, False),
    ],
)
def test_residues_divisors_and_thresholds_are_kept(size: int, claimed: int, numbers: set[int], kept: bool) -> None:
    assert keeps({"n": size}, {"n": claimed}, numbers) is kept


def test_other_names_are_other_shapes() -> None:
    assert not keeps({"m": 4}, {"n": 4}, ())
    assert not keeps({"n": 4}, {"n": 4, "m": 4}, ())


@pytest.mark.parametrize("claimed", [{"n": 1}, {"n": 1000, "m": 7680}, {"n": 4096, "m": 2, "k": 33}, {"n": 65537}])
@pytest.mark.parametrize("numbers", [set(), {128}, {96, 1024}, {3, 5, 7, 48}])
def test_the_smallest_keeps_all_products_too(claimed: dict[str, int], numbers: set[int]) -> None:
    least = smallest(claimed, numbers)
    assert keeps(least, claimed, numbers)
    for names in itertools.chain(*(itertools.combinations(claimed, count) for count in (1, 2, 3))):
        whole, part = 1, 1
        for name in names:
            whole, part = whole * claimed[name], part * least[name]
        assert all(part % number == 0 for number in numbers if whole % number == 0)


def test_candidates_shrink_what_only_repeats_first() -> None:
    found = candidates({"rows": 4096, "cols": 1000}, {4, 32}, repeating=["rows"])
    assert found[0] == {"rows": 256, "cols": 232}
    assert [one["cols"] for one in found] == sorted((one["cols"] for one in found), reverse=True)
    rows = [one["rows"] for one in found]
    assert rows == sorted(rows, reverse=True)
    assert rows[-1] == 2
    assert all(one["rows"] == 2 for one in found if one["cols"] != 232)
    assert len(found) <= 9


def test_candidates_keep_what_the_sources_demand() -> None:
    claimed, demands = {"M": 512, "N": 512, "K": 1024, "D": 80}, Demanded(frozenset({64, 32}), frozenset({80}))
    assert candidates(claimed, {64, 32}, repeating=["M"])[-1] == {"M": 2, "N": 8, "K": 8, "D": 8}
    found = candidates(claimed, {64, 32}, repeating=["M"], demanded=demands)
    assert all(shape["D"] == 80 and shape["M"] % 64 == shape["N"] % 64 == shape["K"] % 64 == 0 for shape in found)
    assert found[-1] == {"M": 64, "N": 64, "K": 64, "D": 80}


def test_sizes_of_which_one_is_taken_from_the_other_stay_apart() -> None:
    claimed, above = {"LENGTH": 1024, "MOST": 4096}, [("MOST", "LENGTH")]
    found = candidates(claimed, {32}, above=above)
    assert found[0] == {"LENGTH": 256, "MOST": 512}
    assert keeps(found[0], claimed, {32})
    assert all(one["MOST"] > one["LENGTH"] for one in found)
    assert found[-1] == {"LENGTH": 8, "MOST": 16}
    assert found == sorted(found, key=lambda one: -one["MOST"])


MODULE = {"hidden": 1024, "heads": 16, "batch": 512}


@pytest.mark.parametrize(
    ("shape", "numbers", "kept"),
    [
        ({"hidden": 1024, "heads": 16, "batch": 256}, {2}, True),
        ({"hidden": 256, "heads": 16, "batch": 256}, {2}, False),  # a head has 16 elements in place of 64
        ({"hidden": 512, "heads": 8, "batch": 256}, {2}, False),  # the residue of the heads differs
        ({"hidden": 1000, "heads": 16, "batch": 256}, {2}, False),
    ],
)
def test_quotients_of_a_modules_sizes_are_kept(shape: dict[str, int], numbers: set[int], kept: bool) -> None:
    assert keeps(shape, MODULE, numbers, module=("hidden", "heads")) is kept


def test_candidates_have_the_module_as_claimed_first() -> None:
    claimed = {"batch": 1024, "width": 8192, "out": 32768}
    found = candidates(claimed, {32}, repeating=["batch"], module=("width", "out"))
    assert found[0] == {"batch": 256, "width": 8192, "out": 32768}
    assert found[1] == {"batch": 256, "width": 256, "out": 1024}, "the quotient of the two sizes is kept"
    assert all(keeps(one, claimed, {32}, module=("width", "out")) for one in found[:2])
    assert found[-1]["out"] % found[-1]["width"] == 0
    found = candidates(MODULE, {2}, repeating=["batch"], module=("hidden", "heads"))
    assert found[0] == {"hidden": 1024, "heads": 16, "batch": 256}
    assert all(one["hidden"] % one["heads"] == 0 for one in found)


def test_a_shape_that_the_claim_states_counts_whoever_chose_the_small_ones() -> None:
    shapes = Shapes(claimed={"n": 4096}, others=({"n": 7},), emulated=({"n": 33}, {"n": 256}, {"n": 512}))
    assert [scope_of({"n": n}, shapes, {1024}) for n in (4096, 7, 33)] == ["claimed", "stated", "stated"]
    chosen = shapes.model_copy(update={"emulated_by": "importer"})
    found = [scope_of({"n": n}, chosen, {1024}) for n in (4096, 7, 33, 256, 1024)]
    assert found == ["claimed", "stated", "other", "other", "kept"]
    assert counts({"n": 1024}, chosen, {1024})
    assert not counts({"n": 256}, chosen, {1024})


def test_the_first_whose_work_fits() -> None:
    assert first_that_fits(["kept", "other"], [1 << 25, 1]) == 0
    assert first_that_fits(["kept", "other", "other"], [1 << 26, 1 << 23, 1 << 22]) == 2
    assert first_that_fits(["kept", "other"], [None, None]) == 1
    assert first_that_fits(["kept", "other", "other"], [None, 1 << 40, None]) == 1, "the task refuses the smallest"
    assert first_that_fits(["kept", "other"], [1 << 25, 1], slower=2) == 1
    assert first_that_fits(["claimed", "kept"], [1 << 19, 1]) == 0
    assert first_that_fits(["claimed", "kept"], [1 << 20, 1]) == 1, "a smaller one that counts is cheaper"
    assert first_that_fits(["claimed", "other"], [1 << 24, 1]) == 0, "no smaller one counts"
    assert first_that_fits(["claimed", "other"], [1 << 25, 1]) == 1
