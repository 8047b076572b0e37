"""What a leaderboard's task says beyond its sizes: the tolerance, and where a submission may write its result."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import importers
from audit.importers.imported import Imported
from tests.importers import published
from tests.importers.published import FORMATS, POPCORN_REFERENCE


def leaderboard(folder: Path, reference: str) -> Imported:
    return importers.read([published.write(folder, **(FORMATS["popcorn"] | {"reference__py": reference}))])


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("x, w, y = data\n    y = torch.relu(x * w)\n    return y", 2),
        ("x, w, y = data\n    return torch.relu(x * w)", 2),
        ("x, w, y = data\n    y[...] = torch.relu(x * w)\n    return y", None),
        ("x, w = data\n    return torch.relu(x * w)", None),
        ("x, w, y = data\n    y = y * 0 + torch.relu(x * w)\n    return y", None),
        ("return torch.relu(data[0])", None),
    ],
)
def test_a_tensor_that_the_reference_never_reads_is_a_destination(body: str, place: int | None, tmp_path: Path) -> None:
    reference = (
        f"import torch\n\n\ndef ref_kernel(data):\n    {body}\n\n\ndef generate_input(rows, seed):\n    return ()\n"
    )
    found = leaderboard(tmp_path, reference)
    assert found.reference is not None
    assert found.reference.options["destination"] == place


@pytest.mark.parametrize(
    ("call", "relative", "said"),
    [
        ("make_match_reference(ref_kernel)", 1e-5, "the defaults of its utils.py"),
        ("make_match_reference(ref_kernel, rtol=2e-2, atol=1e-3)", 2e-2, "rtol = 0.02, atol = 0.001"),
    ],
)
def test_the_tolerance_is_what_the_check_is_given(call: str, relative: float, said: str, tmp_path: Path) -> None:
    found = leaderboard(tmp_path, POPCORN_REFERENCE.partition("check_implementation")[0] + f"check = {call}\n")
    assert found.tolerance is not None
    assert found.tolerance.relative == relative
    assert said in found.tolerance.reason


def test_a_check_of_its_own_leaves_the_tolerance_open(tmp_path: Path) -> None:
    found = leaderboard(tmp_path, POPCORN_REFERENCE.partition("check_implementation")[0])
    assert [one.key for one in found.missing if one.essential] == ["tolerance"]


def test_modules_beside_the_reference_are_taken_along(tmp_path: Path) -> None:
    utils = "class DeterministicContext: ...\n\ndef make_match_reference(reference, **tolerance): ...\n"
    found = importers.read([published.write(tmp_path, **(FORMATS["popcorn"] | {"utils__py": utils}))])
    assert found.reference is not None
    assert found.reference.options["beside"] == {"task": "task.py", "utils": "utils.py"}
    assert {"task.py", "utils.py", "reference.py", "submission.py", "task.yml"} == {one.file for one in found.originals}


def test_tests_that_are_all_large_are_halved(tmp_path: Path) -> None:
    task = (
        'tests: [{"rows": 7168, "features": 24, "seed": 1}]\nbenchmarks: [{"rows": 8192, "features": 24, "seed": 1}]\n'
    )
    found = importers.read([published.write(tmp_path, **(FORMATS["popcorn"] | {"task__yml": task}))])
    assert found.shapes is not None
    assert (found.shapes.claimed["rows"], found.shapes.emulated) == (8192, ({"rows": 56, "features": 24},))
    assert any("sizes halved for the emulated device (rows 7168 -> 56)" in choice for choice in found.choices)
