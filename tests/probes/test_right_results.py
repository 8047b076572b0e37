"""What is special about a right result is reported, on the emulated device."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from audit import claims
from audit.audit import Audit
from audit.build.emulated.device import EmulatedDevice
from audit.model import Record
from audit.report.progress import Progress
from audit.run.processes.pool import Workers

pytestmark = pytest.mark.audits

ONE_OF = {
    "controls_loss": "block_sums_good",
    "controls_good/any_argmax": "last_of_equals",
    "controls_good/product_half": "float_sums",
}


@pytest.fixture(scope="module", params=ONE_OF)
def record(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, workers: Workers) -> Record:
    folder = claims.load(str(claims.KERNELS / request.param)).only(ONE_OF[request.param])
    out, progress = Path(tmp_path_factory.mktemp("out")), Progress(io.StringIO())
    with Audit(folder, EmulatedDevice(), out, entropy=7, workers=workers, progress=progress) as audit:
        for stage in (audit.prepare, audit.build, audit.verify):
            stage()
    return audit.record


def test_what_is_special_about_a_right_result_is_told(record: Record) -> None:
    values = {(one.target, one.probe): one for one in record.findings}
    name = record.claim.statement.name
    if name == "controls_loss":
        task = values[name, "task"]
        assert (task.outcome, task.grade) == ("fail", "hint")
        assert "constant, previous_output" in task.summary
        assert values["block_sums_good", "distributions"].evidence["discriminating"] is True
        assert "shape [1] for []" in values["block_sums_good", "contract"].summary
    if name == "product_half":
        assert "float16 is held to 0.002, no finer than it can hold" in values["float_sums", "agreement"].summary
    if name == "any_argmax":
        asked = values["last_of_equals", "distributions"].evidence["distributions"]
        assert isinstance(asked, list)
        names = {str(one["distribution"]) for one in asked if isinstance(one, dict)}
        assert {"uniform", "heavy_tail"} <= names
        assert not names & {"zeros", "constant_rows"}  # all columns are equal there
