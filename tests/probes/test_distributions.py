"""What an error of rounding's size at other inputs is worth."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit import claims
from audit.audit import Audit
from audit.build.emulated.device import EmulatedDevice
from audit.probes import distributions
from audit.probes.observing.cases import Case
from audit.probes.observing.variations import GROUPS, MOST_BYTES, MOST_BYTES_OF_INPUTS, groups_of
from audit.report.progress import Progress
from audit.run.processes.pool import Workers

KNOWN_GOOD = claims.KERNELS / "controls_good/row_energy"


def test_a_sum_that_rounds_more_than_the_reference_is_not_failed(tmp_path: Path, workers: Workers) -> None:
    """Float additions one after another, held to a tolerance that only drawn numbers keep."""
    folder = Path(shutil.copytree(KNOWN_GOOD, tmp_path / "row_energy"))
    head, *variants = re.split(r"(?m)^(?=\[\[variant\]\])", (folder / "claim.toml").read_text(encoding="utf-8"))
    head = re.sub(r"relative = .*", "relative = 1.5e-6", head)
    head = re.sub(r"emulated = .*", "emulated = [{ rows = 40, cols = 1000 }]", head)
    kept = [variant for variant in variants if "float_atomics.cu" in variant]
    (folder / "claim.toml").write_text("".join([head, *kept]), encoding="utf-8")
    loaded = claims.load(str(folder))
    progress = Progress(io.StringIO())
    with Audit(loaded, EmulatedDevice(), tmp_path / "out", entropy=1, workers=workers, progress=progress) as audit:
        for stage in (audit.prepare, audit.build, audit.verify):
            stage()
        found = {one.probe: one for one in audit.record.findings if one.target == "float_atomics"}
    assert found["agreement"].outcome == "pass"
    assert (found["distributions"].outcome, found["distributions"].grade) == ("fail", "hint")
    assert "all within 10 times what they may be off, which rounding can explain" in found["distributions"].summary
    assert not any(one.fails_kernel for one in found.values())


def test_a_large_case_is_asked_in_fewer_ways(tmp_path: Path) -> None:
    inputs = tmp_path / "0.inputs.pt"
    inputs.touch()
    case = Case({"N": 2}, inputs, np.zeros(2), "float32")
    assert groups_of(case) == [*GROUPS]
    with inputs.open("r+b") as file:
        file.truncate(MOST_BYTES)  # a hole: it takes no room
        assert groups_of(case) == ["other", "discriminating", "graded", "inputs"]
        file.truncate(MOST_BYTES_OF_INPUTS)
        assert groups_of(case) == ["other", "discriminating", "graded"]


WRONG = {"right": False, "elements": 8, "elements_wrong": 2, "max_abs_diff": 1.0, "index": [0], "far": True}


@pytest.mark.parametrize(
    ("entry", "grade"),
    [
        ({"distribution": "heavy_tail", "expected": -109.0, "got": "-inf"}, "hint"),
        ({"distribution": "heavy_tail", "expected": 2.0**-30, "got": 0.0}, "hint"),
        ({"distribution": "heavy_tail", "expected": -109.0, "got": 7.0}, "proved"),
        ({"distribution": "strided", "expected": -19.05, "got": "nan"}, "hint"),
        ({"distribution": "strided", "expected": -19.05, "got": 7.0}, "proved"),
        ({"distribution": "sorted", "expected": -1.4937, "got": -1.5016, "slight": True}, "hint"),
        ({"distribution": "sorted", "expected": -1.4937, "got": 0.5}, "proved"),
        ({"distribution": "uniform", "expected": -1.4937, "got": "nan"}, "proved"),
    ],
)
def test_what_range_and_cancellation_explain_is_a_hint(entry: dict[str, Any], grade: str) -> None:
    seen = {"shape": {"n": 8}, "distributions": [WRONG | entry], "discriminating": False, "undefined": None}
    answer = distributions.conclude(seen)
    assert (answer.outcome, answer.grade) == ("fail", grade)
