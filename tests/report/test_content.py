"""What the report says of each verdict, and that its tables hold no number that the record does not."""

import re

import pytest

from audit.model import Record, Verdict
from audit.report import content
from audit.report.markdown import render
from audit.report.quantities import NOT_MEASURED
from audit.report.view import Report, Section
from tests.report.fixture import judged, measured, triangular

ACCUSING = re.compile(
    r"\b(wrong|fails?|failed|convicted|cheat\w*|fraud\w*|dishonest\w*|fake\w*|incorrect|defect\w*|never written)\b",
    re.I,
)


def text_of(record: Record) -> str:
    return render(content.build(record, ()), figures="figures")


def section(record: Record, slug: str) -> Section:
    report: Report = content.build(record, ())
    return next(one for one in report.sections if one.slug == slug)


def with_verdict(record: Record, **fields: object) -> Record:
    return record.model_copy(update={"verdict": Verdict.model_validate(fields)})


def test_sections_stand_in_the_order_of_a_review() -> None:
    slugs = [one.slug for one in content.build(triangular(), ()).sections]
    assert slugs == [
        "claim", "verdict", "summary", "soundness", "strengths", "weaknesses", "ablation", "floors", "measured",
        "questions", "limitations", "rating", "checklists", "environment", "reproduce", "reply", "timings", "findings",
    ]  # fmt: skip


def test_wrong_names_cause_confidence_scope_and_evidence() -> None:
    record = triangular()
    text = text_of(record)
    assert record.verdict.name == "wrong"
    assert "does not compute the stated result" in text
    assert "Changing only the 2-D grid makes the kernel right" in text
    assert "1 of 255 rows" in text
    assert "audit run triangular_mm --device emulated --seed 20261121" in text
    grades = [point.badge.split()[0] for point in section(record, "weaknesses").points]
    assert grades == ["proved"] * 5 + ["hint"]


def test_the_summary_says_both_orders_and_not_measured() -> None:
    (table,) = section(triangular(), "summary").tables
    rows = {row[0]: row for row in table.rows}
    claimed = rows["claimed"][4:]
    assert claimed == ("wrong", "right, difference exactly 0", "1 of 255 rows", "convicted", NOT_MEASURED)
    assert rows["fixed_grid2d"][4:] == ("right", "right", "all 65,025 elements", "cleared", NOT_MEASURED)
    assert rows["wmma_tf32"][4] == "no answer"


def test_questions_follow_from_findings() -> None:
    questions = " ".join(section(triangular(), "questions").bullets)
    assert "At N = 255, 1 of 255 rows were written" in questions
    assert "How was 0.267 ms timed on T4" in questions
    assert "87.37x on A100, 27.23x on L4, about 150x on H100" in questions


def test_limitations_list_device_shapes_gpus_and_skips() -> None:
    limits = section(triangular(), "limitations")
    text = " ".join(limits.bullets)
    assert "Shapes run: N = 1; N = 33; N = 255." in text
    assert "N = 4,096) was not run" in text
    assert f"{NOT_MEASURED} in this audit: T4, A100, L4, H100." in text
    assert ("Build", "wmma_tf32") in [row[:2] for row in limits.tables[0].rows]


def test_undecided_says_what_is_missing_and_accuses_nobody() -> None:
    record = triangular(defects=False)
    text = text_of(record)
    assert record.verdict.name == "undecided"
    assert "Missing: a time" in text
    assert not ACCUSING.search(text), ACCUSING.findall(text)
    assert not section(record, "weaknesses").points


def test_confirmed_accuses_nobody() -> None:
    record = with_verdict(measured(triangular(defects=False)), name="confirmed", confidence="high", scope="T4 only")
    text = text_of(record)
    assert "The kernel is right" in text
    assert not ACCUSING.search(text), ACCUSING.findall(text)
    assert "5.65 ms" in text


def test_mistimed_speaks_of_the_time_and_not_of_the_result() -> None:
    floors = [finding for finding in triangular().findings if finding.probe == "floor"]
    right = triangular(defects=False)
    record = judged(right.model_copy(update={"findings": (*right.findings, *floors)}))
    assert record.verdict.name == "mistimed"
    assert "not the time of the stated work" in text_of(record)
    assert "0.267 ms is under the fp32 compute floor" in text_of(record)


def test_incomplete_says_so_on_top() -> None:
    record = triangular().model_copy(update={"verdict": Verdict(name="incomplete"), "ladder": ()})
    text = text_of(record)
    assert text.index("INCOMPLETE") < text.index("##")
    assert {row[7] for row in section(record, "summary").tables[0].rows} == {"not judged"}
    assert "INCOMPLETE" not in text_of(triangular())


def test_a_record_without_any_finding_still_gives_a_report() -> None:
    record = triangular().model_copy(update={"findings": (), "ladder": (), "verdict": Verdict(name="incomplete")})
    assert "No shape has been run yet." in text_of(record)


def test_a_kernel_that_is_not_cleared_is_timed_as_an_exhibit_only() -> None:
    record = measured(triangular())
    timing = record.measurements[0].model_copy(update={"variant": "claimed"})
    record = record.model_copy(update={"measurements": (*record.measurements, timing)})
    standings = [row[-1] for row in section(record, "timings").tables[0].rows]
    assert standings == ["counts", "exhibit only: not cleared"]


def test_a_measured_gpu_is_recognised_by_its_whole_name() -> None:
    device = triangular().device.model_copy(update={"kind": "cuda", "name": "NVIDIA L40S"})
    record = measured(triangular()).model_copy(update={"device": device})
    assert any("A100, L4, H100" in text for text in section(record, "limitations").bullets)
    record = record.model_copy(update={"device": device.model_copy(update={"name": "NVIDIA L4"})})
    assert any("T4, A100, H100" in text for text in section(record, "limitations").bullets)


def numbers_in(text: str) -> list[str]:
    return re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?(?![\w.]*\d)", text)


@pytest.mark.parametrize("record", [triangular(), measured(triangular())], ids=["emulated", "with times"])
def test_every_number_in_a_table_is_in_the_record(record: Record) -> None:
    text = re.sub(r"[0-9a-f]{64}", "", record.model_dump_json(by_alias=True))
    known = {float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", text)
             if number.strip(",")}  # fmt: skip
    derived = {float(len(one.samples_ms)) for one in record.measurements} | {float(len(record.claim.sources))}
    shown = [
        number
        for one in content.build(record, ()).sections
        for table in one.tables
        for row in table.rows
        for cell in row
        for number in numbers_in(cell)
    ]
    assert len(shown) > 100
    for number in shown:
        value = float(number.replace(",", ""))
        assert any(abs(value - other) <= 5e-4 * abs(other) for other in known | derived), number
