"""The split product of the triangular claim is float32's: over its range of numbers, and with infinities and NaN."""

from __future__ import annotations

from typing import Any

import pytest

from audit import claims
from audit.build.emulated.build import build
from tests.emulated.child import run

SOURCE = claims.load("triangular_mm").path / "mma_split.cu"
CODE = """
N, WIDE = 70, 140  # one tile, and two: steps of others are skipped
draw = torch.Generator().manual_seed(7)
normal = lambda side=N: torch.randn(side, side, generator=draw).tril()
powers = lambda *shape: 10 ** (torch.rand(*shape, generator=draw) * 12 - 8)
inf, nan = float("inf"), float("nan")
def placed(*places, side=WIDE):
    matrix = normal(side)
    for row, col, value in places:
        matrix[row, col] = value
    return matrix
extreme = lambda result: result.where(~result.isfinite(), torch.tensor(0.0)).nan_to_num(3.0, 1.0, 2.0)
inner = powers(N)
asked = {
    "one": (normal(1), normal(1)),
    "odd": (normal(33), normal(33)),
    "small": (normal() * 1e-8, normal()),
    "large": (normal() * 2e5, normal() * 2e5),
    "ends": (normal() * 1e-30, normal() * 1e30),
    "products that are subnormal": (normal() * 1e-19, normal() * 1e-19),
    "subnormal": (normal() * 1e-40, normal() * 1e30),
    "rows and columns": (normal() * powers(N, 1), normal() * powers(1, N)),
    "undone in the sum": (normal() * inner, normal() / inner[:, None]),
    "elements": (normal() * powers(N, N), normal() * powers(N, N)),
    "powers": (normal() ** 9, normal() ** 9),
    "rows of zeros": (placed(*((50, col, 0.0) for col in range(51)), side=N), normal() * (torch.arange(N) % 3 > 0)),
    "infinity in A": (placed((135, 60, inf), (20, 3, -inf)), normal(WIDE)),
    "NaN in A": (placed((120, 60, nan)), normal(WIDE)),
    "infinity and NaN in B": (normal(WIDE), placed((135, 60, inf), (130, 2, nan))),
    "infinities in both": (placed((135, 60, inf), (135, 100, -inf)), placed((60, 30, -inf))),
    "overflow": (placed((100, 100, 3e38), (120, 3, 3e38)), placed((3, 3, 3e38))),
}
for number, (name, (a, b)) in enumerate(asked.items()):
    order = ("forward", "random")[number % 2]
    runtime.configure(allocator="poison_nan", thread_order=order, seed=3, checker=True, compute_capability=80)
    got, ours = functions["forward"](a, b), torch.matmul(a, b).tril()
    size = torch.matmul(a.double().abs(), b.double().abs()).tril()
    off = (got.double() - torch.matmul(a.double(), b.double()).tril()).abs()
    taken = ours.isfinite() & got.isfinite() & size.isfinite()
    answer[name] = {
        "alike": torch.equal(extreme(got), extreme(ours)),
        "worst": float((off / (size + 2.0**-122))[taken].max()),
        "reports": runtime.reports(),
    }
    runtime.reset()
    runtime.recover()
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    found: dict[str, Any] = run(build(SOURCE, compute_capability=80), CODE)
    return found


def test_every_element_is_as_near_as_float32s(answers: dict[str, Any]) -> None:
    assert len(answers) == 17
    assert {name: one["worst"] for name, one in answers.items() if not one["worst"] <= 2.0**-20} == {}


def test_infinities_and_nan_are_where_torch_has_them(answers: dict[str, Any]) -> None:
    assert [name for name, one in answers.items() if not one["alike"]] == []


def test_no_access_is_reported(answers: dict[str, Any]) -> None:
    assert {name: one["reports"] for name, one in answers.items() if one["reports"]} == {}
