"""Records of one claim side by side, as a table and as a page: claimed, possible, measured or NOT MEASURED."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.apps import cli
from audit.measure import OURS
from audit.model import Finding, Measurement, Record, Rung, Verdict, store
from audit.model.errors import BadInput
from audit.report import compare as several
from audit.report import markdown
from audit.report.compare import compare
from audit.report.figures import portability


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
            variant=v, role="repair", technique="t", precision="fp32", state="passed", reason="r", median_ms=samples[v]
        )
        for v in ("fixed_grid2d", "shared_tiled")
    )
    return record.model_copy(update={"measurements": measurements, "ladder": rungs})


def rows(text: str) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    return {row[0]: row[1:] for row in cells}


def test_what_one_device_proves_is_told_beside_gpus_that_nobody_asked(record: Record) -> None:
    h100 = timed(finished(record, "NVIDIA H100 80GB HBM3", "wrong"))
    result = rows(compare([finished(record, "emulated device (CPU)", "wrong"), h100]))
    assert list(result) == ["T4", "A100", "L4", "H100", "emulated device (CPU)"]
    assert result["H100"][2:] == ["wrong", "shared\\_tiled: 2 ms", "1.5x, inconclusive"]
    assert result["T4"][2:] == ["not asked (wrong on emulated device (CPU))", "NOT MEASURED", "NOT MEASURED"]


def test_a_right_kernel_is_not_called_right_elsewhere(record: Record) -> None:
    result = rows(compare([finished(record, "NVIDIA H100", "confirmed")]))
    assert (result["H100"][2], result["T4"][2]) == ("confirmed", "not asked")


def test_a_gpu_that_the_claim_does_not_name_has_the_floor_its_own_record_states(record: Record) -> None:
    values = {"probe": "floor_here", "target": "NVIDIA H200", "outcome": "pass", "evidence": {"floor_ms": 0.5}}
    here = Finding.model_validate({**values, "summary": "s", "reproduce_with": "a"})
    h200 = finished(record, "NVIDIA H200", "wrong").model_copy(update={"findings": (*record.findings, here)})
    assert rows(compare([h200]))["NVIDIA H200"][1] == "0.5 ms"
    assert rows(compare([finished(record, "NVIDIA H200", "wrong")]))["NVIDIA H200"][1] == "unknown"


def test_unfinished_and_foreign_records_are_refused(record: Record) -> None:
    with pytest.raises(BadInput, match="incomplete"):
        compare([record])
    changed = tuple(one.model_copy(update={"size_bytes": one.size_bytes + 1}) for one in record.claim.sources)
    other = record.claim.model_copy(update={"sources": changed})
    done = finished(record, "x", "wrong")
    with pytest.raises(BadInput, match="different claims or sources"):
        compare([done, done.model_copy(update={"claim": other})])


@pytest.mark.parametrize("role", ["repair", "ablation"])
def test_a_repair_that_joined_the_claim_later_keeps_records_of_one_claim(record: Record, role: str) -> None:
    statement = record.claim.statement
    joined = statement.variant[-1].model_copy(update={"file": "later.cu", "role": role})
    longer = statement.model_copy(update={"variant": (*statement.variant, joined)})
    later = record.model_copy(update={"claim": record.claim.model_copy(update={"statement": longer})})
    both = [finished(record, "NVIDIA H100", "wrong"), finished(later, "NVIDIA H200", "wrong")]
    if role == "repair":
        assert "NVIDIA H200" in rows(compare(both))
    else:
        with pytest.raises(BadInput, match="different claims or sources"):
            compare(both)


def page_rows(records: list[Record]) -> dict[str, tuple[str, ...]]:
    (table,) = several.page(records, ()).sections[0].tables
    return {row[0]: row[1:] for row in table.rows}


def test_a_gpu_without_a_record_is_not_measured(record: Record) -> None:
    result = page_rows([timed(finished(record, "NVIDIA H100 80GB HBM3", "wrong"))])
    assert result["T4"][0] == "108.9x"
    assert result["T4"][4:] == ("not asked (wrong on NVIDIA H100 80GB HBM3)", *["NOT MEASURED"] * 3)
    assert result["H100"][4:] == ("wrong", "none: it is wrong", "shared_tiled", "1.5x, inconclusive")


def test_a_cleared_claimed_kernel_shows_its_own_ratio(record: Record) -> None:
    right = timed(finished(record, "NVIDIA H100", "overstated"))
    rungs = tuple(
        rung.model_copy(update={"variant": "claimed"}) for rung in right.ladder if rung.variant == "fixed_grid2d"
    )
    times = tuple(
        one.model_copy(update={"variant": "claimed"}) if one.variant == "fixed_grid2d" else one
        for one in right.measurements
    )
    result = page_rows([right.model_copy(update={"ladder": (*right.ladder, *rungs), "measurements": times})])
    assert result["H100"][4:6] == ("overstated", "0.5x, inconclusive")
    assert result["A100"][4:6] == ("not asked", "NOT MEASURED")


def test_a_ratio_without_a_doubt_has_its_interval_and_a_doubtful_one_says_so(record: Record) -> None:
    def interleaved(noise: float) -> Record:
        done = timed(finished(record, "NVIDIA H100", "wrong"))
        blocks = tuple(range(12))
        times = tuple(
            one.model_copy(update={
                "samples_ms": tuple(one.samples_ms[0] * (1 + noise * (block % width)) for block in blocks),
                "blocks": blocks, "positions": blocks, "session": "ladder"})
            for one, width in zip(done.measurements, (2, 3, 2), strict=True)
        )  # fmt: skip
        return done.model_copy(update={"measurements": times})

    assert rows(compare([interleaved(0.001)]))["H100"][4].startswith("1.499x (1.498 to 1.5)")
    assert not rows(compare([interleaved(0.001)]))["H100"][4].endswith("inconclusive")
    assert rows(compare([interleaved(0.3)]))["H100"][4].endswith("), inconclusive")
    alt = portability.draw([interleaved(0.3)])
    assert alt is not None
    assert "claimed kernel wrong, ratio inconclusive" in alt.alt


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("failed", "none: it is wrong"),
        ("undefined", "none: undefined behaviour"),
        ("undecided", "none: not decided"),
    ],
)
def test_a_variant_that_did_not_pass_has_no_ratio_and_its_own_reason(record: Record, state: str, words: str) -> None:
    wrong = timed(finished(record, "NVIDIA H100", "wrong"))
    rungs = tuple(rung.model_copy(update={"state": state}) for rung in wrong.ladder)
    assert several.measured(wrong.model_copy(update={"ladder": rungs}), "shared_tiled") == words


def test_the_page_says_what_carries_over_and_names_its_records(record: Record) -> None:
    both = [finished(record, "emulated device (CPU)", "wrong"), finished(record, "NVIDIA H100", "wrong")]
    text = markdown.render(several.page(both, ()), figures="figures")
    assert "A verdict speaks for the shapes and the device it names" in text
    assert "2 records of one claim" in text
    assert "| NVIDIA H100 | wrong |" in text
    with pytest.raises(BadInput, match="incomplete"):
        several.page([record], ())


def test_the_command_writes_page_and_figure(record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "record.json"
    store.write(timed(finished(record, "NVIDIA H100", "wrong")), path)
    assert cli.main(["compare", str(path), "--out", str(tmp_path / "out")]) == 0
    assert "wrote" in capsys.readouterr().out
    shown = (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")
    assert shown.count("<svg") == 1
    assert (tmp_path / "out" / "figures" / "portability.png").read_bytes().startswith(b"\x89PNG")
    assert "NOT MEASURED" in (tmp_path / "out" / "compare.md").read_text(encoding="utf-8")
    (tmp_path / "file").write_text("")
    assert cli.main(["compare", str(path), "--out", str(tmp_path / "file")]) == 2
