import pytest

from audit.measure import OURS
from audit.model import Finding, Measurement, Record, Rung, Verdict
from audit.model.errors import BadInput
from audit.report.compare import compare


def finished(record: Record, device: str, verdict: str) -> Record:
    named = record.device.model_copy(update={"name": device})
    return record.model_copy(update={"device": named, "verdict": Verdict.model_validate({"name": verdict})})


def timed(record: Record) -> Record:
    samples = {"fixed_grid2d": 6.0, "shared_tiled": 2.0, "baseline:eager": 3.0}
    measurements = tuple(
        Measurement(variant=name, shape={"N": 4096}, protocol=OURS, samples_ms=(ms,)) for name, ms in samples.items()
    )
    rungs = tuple(
        Rung(
            variant=v, role="repair", technique="t", precision="fp32", state="cleared", reason="r", median_ms=samples[v]
        )
        for v in ("fixed_grid2d", "shared_tiled")
    )
    return record.model_copy(update={"measurements": measurements, "ladder": rungs})


def rows(text: str) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    return {row[0]: row[1:] for row in cells}


def test_what_one_device_proves_is_told_beside_gpus_that_nobody_asked(record: Record) -> None:
    h100 = timed(finished(record, "NVIDIA H100 80GB HBM3", "wrong"))
    told = rows(compare([finished(record, "emulated device (CPU)", "wrong"), h100]))
    assert list(told) == ["T4", "A100", "L4", "H100", "emulated device (CPU)"]
    assert told["H100"][2:] == ["wrong", "shared\\_tiled: 2 ms", "1.5x"]
    assert told["T4"][2:] == ["not asked (wrong on emulated device (CPU))", "NOT MEASURED", "NOT MEASURED"]


def test_a_right_kernel_is_not_called_right_elsewhere(record: Record) -> None:
    told = rows(compare([finished(record, "NVIDIA H100", "confirmed")]))
    assert (told["H100"][2], told["T4"][2]) == ("confirmed", "not asked")


def test_a_gpu_that_the_claim_does_not_name_has_the_floor_its_own_record_states(record: Record) -> None:
    told = {"probe": "floor_here", "target": "NVIDIA H200", "outcome": "pass", "evidence": {"floor_ms": 0.5}}
    here = Finding.model_validate({**told, "summary": "s", "see_again": "a"})
    h200 = finished(record, "NVIDIA H200", "wrong").model_copy(update={"findings": (*record.findings, here)})
    assert rows(compare([h200]))["NVIDIA H200"][1] == "0.5 ms"
    assert rows(compare([finished(record, "NVIDIA H200", "wrong")]))["NVIDIA H200"][1] == "unknown"


def test_unfinished_and_foreign_records_are_refused(record: Record) -> None:
    with pytest.raises(BadInput, match="incomplete"):
        compare([record])
    other = record.claim.model_copy(update={"sources": ()})
    done = finished(record, "x", "wrong")
    with pytest.raises(BadInput, match="different claims or sources"):
        compare([done, done.model_copy(update={"claim": other})])
