"""The unit of a published time is concluded from something that is told, or it is not concluded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit.claims import importers
from audit.claims.importers import published as numbers
from audit.claims.importers.facts import Given
from audit.model.errors import BadInput
from tests.importers import published


@pytest.mark.parametrize(
    ("times", "more", "unit", "why"),
    [
        ({"runtime": 1.42}, {"statistics": {"mean": 1.42}}, "ms", "CUDA events in ms"),
        ({"runtime": 1420.0}, {"statistics": {"mean": 1.42}}, "us", "a thousand times the mean"),
        ({"runtime": 0.0142}, {}, "ms", "shorter than the launch"),
        ({"runtime": 0.5, "eager": 40.0}, {}, "ms", "shorter than the launch"),
        ({"runtime": 95_000.0}, {}, "us", "longer than a minute"),
        ({"runtime": 35.0}, {"named": "µs"}, "us", "the source names it"),
        ({"runtime": 35.0}, {"given": "ms"}, "ms", "as the user says"),
    ],
)
def test_concluded_from(times: dict[str, float], more: dict[str, Any], unit: str, why: str) -> None:
    found = numbers.concluded(times, **{"given": None, **more})
    assert found is not None
    assert found[0] == unit
    assert why in found[1]


@pytest.mark.parametrize(
    ("times", "statistics"),
    [({"runtime": 35.0}, None), ({"runtime": 35.0}, {"mean": 20.0}), ({"runtime": 0.5, "eager": 95_000.0}, None)],
)
def test_not_concluded(times: dict[str, float], statistics: Any) -> None:
    assert numbers.concluded(times, given=None, statistics=statistics) is None


def test_unknown_units_name_the_known_ones() -> None:
    with pytest.raises(BadInput, match="known: ms, us, s, ns"):
        numbers.unit_of("fortnights")


def result(folder: Path, **fields: Any) -> Path:
    values = {key: value for key, value in (published.RESULT | fields).items() if value is not None}
    return published.write(folder, **(published.FORMATS["kernelbench"] | {"result__json": values}))


def test_kernelbench_without_statistics_is_undecidable_until_the_user_says(tmp_path: Path) -> None:
    folder = result(tmp_path, runtime_stats=None, runtime=35.0, ref_runtime=70.0)
    found = importers.read([folder])
    assert found.figures == ()
    assert any("the unit of runtime = 35, ref_runtime = 70 cannot be told" in one.what for one in found.missing)
    assert found.auditable
    answer = importers.read([folder], given=Given(unit="us"))
    assert [(one.about, one.value, one.gpu) for one in answer.figures] == [
        ("kernel", 0.035, "H100 SXM"),
        ("ref_runtime", 0.07, "H100 SXM"),
    ]


def test_minus_one_is_a_time_that_was_not_taken(tmp_path: Path) -> None:
    assert importers.read([result(tmp_path, runtime=-1.0, ref_runtime=-1.0, runtime_stats={})]).figures == ()


@pytest.mark.parametrize("value", [-3.5, 0.0, float("nan"), float("inf"), "fast", True])
def test_a_time_that_is_none_is_one_sentence(value: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"result\.json: runtime = .* is no time or ratio") as error:
        importers.read([result(tmp_path, runtime=value)])
    assert "\n" not in str(error.value)
