"""What the report says of each verdict, and that its tables hold no number that the record does not."""

import re
from pathlib import Path

import pytest

from audit import judge
from audit.judge.evidence import CORRECTNESS, NONE_CLAIMED
from audit.lint import floors
from audit.model import Finding, Record, Speedup, Verdict
from audit.model.claim import Original
from audit.model.record import RatioAnswer
from audit.probes import PROBES
from audit.report import content, evidence, outcome
from audit.report.markdown import render
from audit.report.messages import NOT_MEASURED
from audit.report.view import Report, Section
from tests.conftest import finding
from tests.report.fixture import COST, judged, measured, swept, triangular
from tests.report.test_times import H100, raced

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
        "verdict", "reproduce", "checked", "cause", "measured", "strengths", "weaknesses", "questions", "limitations",
        "reply", "rating", "claim", "variants", "floors", "environment",
    ]  # fmt: skip


def test_a_failure_at_sizes_of_the_kit_is_observed_and_an_answer_at_the_claimed_one_is_missing() -> None:
    whole = triangular()
    statement = whole.claim.statement
    shapes = statement.shapes.model_copy(update={"emulated_by": "importer"})
    claim = whole.claim.model_copy(update={"statement": statement.model_copy(update={"shapes": shapes})})
    said = f"N=255: 32,385 of 65,025 elements wrong; this probe asked at {NONE_CLAIMED}"
    others = [one for one in whole.findings if not one.fails_kernel or one.target != "claimed"]
    wrong = next(one for one in whole.findings if one.probe == "agreement" and one.target == "claimed")
    outside = [*others, wrong.model_copy(update={"claimed": False, "summary": said})]
    record = judged(whole.model_copy(update={"claim": claim, "findings": tuple(outside)}))
    assert record.verdict.name == "undecided" and any(said in one for one in record.verdict.missing)
    card = section(record, "verdict").card
    assert card is not None and not any("elements wrong" in one for one in card.missing)
    assert "an answer at a shape that the claim speaks of: Agreement with a float64 oracle" in card.missing[0]
    assert "32,385 of 65,025 elements wrong" in card.evidence[0]
    assert dict(card.facts)["What would decide it"].endswith("--shape N=33, which makes that the claimed shape")


def test_a_source_that_the_emulated_device_does_not_build_is_one_for_a_gpu() -> None:
    whole = triangular()
    build = next(one for one in whole.findings if one.probe == "build" and one.outcome == "skip")
    record = judged(whole.model_copy(update={"findings": (build.model_copy(update={"target": "claimed"}),)}))
    card = section(record, "verdict").card
    assert card is not None and "audit the claim on a GPU" in dict(card.facts)["What would decide it"]


def test_a_kernel_that_is_wrong_with_one_of_its_configurations_is_one_for_a_gpu() -> None:
    whole = triangular()
    wrong = finding("configurations", "fail", evidence={"of": 2}, device="emulated")
    tuned = finding("kernels_ran", evidence={"tuned": [{"kernel": "k", "of": 2}]}, device="emulated")
    others = (one for one in whole.findings if one.target == "claimed" and not one.fails_kernel)
    left = [one for one in others if one.probe not in ("kernels_ran", "configurations")]
    right = [finding(name, device="emulated") for name in CORRECTNESS if name not in {one.probe for one in left}]
    record = judged(whole.model_copy(update={"findings": (*left, *right, tuned, wrong)}))
    card = section(record, "verdict").card
    assert card is not None and "leave the wrong one out" in dict(card.facts)["What would decide it"]


@pytest.mark.parametrize("chosen_by", ["claim", "importer"])
def test_page_one_says_that_the_kit_chose_a_size(chosen_by: str) -> None:
    record = triangular()
    shapes = record.claim.statement.shapes.model_copy(update={"emulated_by": chosen_by})
    statement = record.claim.statement.model_copy(update={"shapes": shapes})
    record = record.model_copy(update={"claim": record.claim.model_copy(update={"statement": statement})})
    said = "**Size asked**: N = 33 is a smaller size that the kit chose for the emulated device; the claim states N = "
    assert (said in text_of(record)) is (chosen_by == "importer")


def test_wrong_names_cause_confidence_scope_and_evidence() -> None:
    record = triangular()
    text = text_of(record)
    assert record.verdict.name == "wrong"
    assert "does not compute the stated result" in text
    assert "Changing only the 2-D grid makes the kernel right" in text
    assert "1 of 255 rows" in text
    assert "audit run triangular_mm --device emulated --seed 20261121" in text
    assert "**Is the result right**: wrong (N = 33 / N = 255, in 2 builds)" in text
    points = section(record, "weaknesses").bullets
    assert [point.rpartition("[")[2] for point in points] == ["proved]", "hint]"], "one point for each cause"
    assert "Seen too by: Agreement with a float64 oracle, Both execution orders, Inherited memory." in points[0]
    assert "0.267 ms" not in "".join(points), "others than the authors took that time"


def test_page_one_holds_at_most_three_pieces_of_evidence_each_with_shape_and_device() -> None:
    card = section(triangular(), "verdict").card
    assert card is not None
    assert [piece.partition(":")[0] for piece in card.evidence] == [
        "Write coverage", "Both execution orders", "Agreement with a float64 oracle",
    ]  # fmt: skip
    assert all(piece.endswith("(N = 255).") for piece in card.evidence), "these findings name no device"


def test_the_shape_of_a_piece_is_the_one_its_sentence_speaks_of() -> None:
    shapes = {"shapes": [{"shape": {"N": 33}, "right": False, "elements_wrong": 9}]}
    result = finding("fresh_values", "fail", grade="proved", evidence=shapes, device="emulated",
                   summary="N=255: other values at the same addresses: 5 of 9 elements wrong")  # fmt: skip
    (piece,) = outcome.pieces(triangular().model_copy(update={"findings": (result,)}))
    assert piece == "Other values at the same addresses: 5 of 9 elements wrong (N = 255 on emulated device)."


def test_one_table_holds_every_question_and_failures_of_the_claim_come_first() -> None:
    (table,) = section(triangular(), "checked").tables
    results = [row[1] for row in table.rows]
    assert results[:4] == ["failed"] * 4
    assert "failed, at a time that others took" in results[4:]
    assert results.index("passed") > results.index("failed, at a time that others took")
    assert len({row[0] for row in table.rows}) == len(table.rows)


def test_questions_without_an_answer_for_one_reason_share_a_row() -> None:
    why = "not asked: N={}: the first call is already wrong; see agreement"
    skipped = [finding(probe, "skip", summary=why.format(size)) for probe, size in (("repeat", 33), ("alias", 255))]
    (table,) = section(triangular().model_copy(update={"findings": tuple(skipped)}), "checked").tables
    assert table.rows == (
        ("Result apart from the inputs, Repeated calls", "no answer",
         "not asked: the first call is already wrong; see agreement", ""),
    ) or table.rows[0][0] == "Repeated calls, Result apart from the inputs"  # fmt: skip


def test_a_cause_without_ablations_is_the_line_that_a_proved_failure_agrees_with() -> None:
    race = finding("memory_access", "fail", grade="undefined", summary="N=255: a race between two threads")
    line = finding("review.missing_barrier", "fail", grade="hint", summary="no barrier between write and read",
                   line=12, evidence={"confirm_with": "memory_access", "hints": []})  # fmt: skip
    other = line.model_copy(update={"probe": "review.layout", "line": 30, "evidence": {"confirm_with": "layout"}})
    record = triangular().model_copy(update={"findings": (race, line, other)})
    assert section(record, "cause").bullets == (
        "claimed.cu, line 12: no barrier between write and read. The question that it points at failed: Memory access.",
    )
    card = section(judged(record), "verdict").card
    assert card is not None and ("Root cause", section(record, "cause").bullets[0]) in card.facts
    passed = race.model_copy(update={"outcome": "pass", "grade": None})
    assert section(record.model_copy(update={"findings": (passed, line)}), "cause").bullets == ()


def test_a_tail_that_the_sizes_show_names_its_line() -> None:
    record = swept(triangular(defects=False))
    assert section(record, "cause").bullets == (
        "claimed.cu, line 7 holds the number that separates right sizes from wrong ones: wrong at 1 of 3 sizes asked "
        "around N=33, exactly where N % 4 != 0.",
    )
    found = record.findings[-1]
    older = {name: value for name, value in found.evidence.items() if name not in ("rules_tested", "number_line")}
    untested = found.model_copy(update={"evidence": older})
    assert section(record.model_copy(update={"findings": (*record.findings[:-1], untested)}), "cause").bullets == ()


def original(name: str, sha256: str = "0" * 64) -> Original:
    return Original(file="original/kept", sha256=sha256, published_as=name)


@pytest.mark.parametrize(
    ("originals", "shown"),
    [
        ((original("my kernel.cu", "a" * 64), original("reference.py")), "my kernel.cu"),
        ((original("k.cu"), original("reference.py")), "k.cu"),  # and a binding behind it
        ((original("k.cu"), original("k.cuh"), original("reference.py")), "claimed.cu"),  # joined: other lines
        ((original("row 3 of a.parquet"),), "claimed.cu"),
        ((), "claimed.cu"),
    ],
)
def test_a_cause_names_the_file_that_the_user_gave(originals: tuple[Original, ...], shown: str) -> None:
    record = swept(triangular(defects=False))
    claim = record.claim.statement
    variants = tuple(
        one.model_copy(update={"sha256": "a" * 64}) if one.role == "claimed" else one for one in claim.variant
    )
    claim = claim.model_copy(update={"original": originals, "variant": variants})
    audited = record.claim.model_copy(update={"statement": claim})
    (cause,) = section(record.model_copy(update={"claim": audited}), "cause").bullets
    assert cause.startswith(f"{shown}, line 7 holds the number")
    assert claim.known_as(variants[1]) == variants[1].file


@pytest.mark.parametrize(
    ("probe", "summary", "words"),
    [
        ("memory_access", "N=255: out-of-bounds-read: reads 2 bytes past the end of a block", "CUDA does not allow"),
        ("inputs_intact", "N=255: the call changed input 0, which the reference leaves as it is", "changes an input"),
        ("distributions", "N=255: sparse inputs: 3 of 9 elements wrong", "right for the task's own inputs, and wrong"),
    ],
)
def test_a_failure_beside_right_values_has_a_headline_of_its_own(probe: str, summary: str, words: str) -> None:
    right = triangular(defects=False)
    access = finding(probe, "fail", summary=summary)
    others = [one for one in right.findings if (one.probe, one.target) != (probe, "claimed")]
    record = judged(right.model_copy(update={"findings": (*others, access)}))
    card = section(record, "verdict").card
    assert card is not None and (card.name, words in card.headline) == ("wrong", True)
    wrong = finding("agreement", "fail", summary="N=255: 3 of 9 elements wrong")
    both = judged(right.model_copy(update={"findings": (*others, access, wrong)}))
    card = section(both, "verdict").card
    assert card is not None and "does not compute the stated result" in card.headline


def test_hints_of_probes_are_named_beside_a_right_result() -> None:
    right = triangular(defects=False)
    hint = finding(
        "dead_inputs", "fail", grade="hint", summary="N=255: with other values in input 1", device="emulated"
    )
    read = finding("review.layout", "fail", grade="hint", summary="read as contiguous", line=3)
    record = judged(right.model_copy(update={"findings": (*right.findings, hint, read)}))
    assert outcome.hints(record) == ("dead_inputs",)
    assert outcome.hints(right) == ()
    assert outcome.hints(judged(triangular().model_copy(update={"findings": (*triangular().findings, hint)}))) == ()


def test_every_variant_stands_with_both_orders_and_not_measured() -> None:
    (table,) = section(triangular(), "variants").tables
    rows = {row[0]: row for row in table.rows}
    claimed = rows["claimed"][4:]
    assert claimed == ("wrong", "right, difference exactly 0", "1 of 255 rows", "failed", NOT_MEASURED)
    assert rows["fixed_grid2d"][4:] == ("right", "right", "all 65,025 elements", "passed", NOT_MEASURED)
    assert rows["wmma_tf32"][4] == "no answer"


def test_questions_follow_from_findings() -> None:
    questions = " ".join(section(triangular(), "questions").bullets)
    assert "At N = 255, 1 of 255 rows were written" in questions
    assert "108.9x on T4, 87.37x on A100, 27.23x on L4, about 150x on H100" in questions


def with_times_of_the_authors(record: Record) -> Record:
    """The same with the T4's times as the authors', and its floor."""
    claim = record.claim.statement
    stated = claim.model_copy(update={"observation": (claim.observation[0].model_copy(update={"by": None}),)})
    others = [one for one in record.findings if one.probe != "floor"]
    audited = record.claim.model_copy(update={"statement": stated})
    return judged(record.model_copy(update={"claim": audited, "findings": (*others, *floors.floors(stated, COST))}))


def test_only_a_time_of_the_authors_asks_them_a_question() -> None:
    asked = " ".join(section(triangular(), "questions").bullets)
    assert "0.267 ms" not in asked
    own = " ".join(section(with_times_of_the_authors(triangular()), "questions").bullets)
    assert "How was 0.267 ms timed on T4" in own
    assert "stand behind 87.37x on A100, 27.23x on L4, about 150x on H100" in own


def test_every_number_comes_with_who_states_it_and_where() -> None:
    record = triangular()
    claim = record.claim.statement
    number = claim.speedup[0].model_copy(update={"by": "a leaderboard", "url": "https://example.org/runs"})
    stated = claim.model_copy(update={"speedup": (number, *claim.speedup[1:])})
    changed = record.model_copy(update={"claim": record.claim.model_copy(update={"statement": stated})})
    rows = {row[0]: row for row in section(changed, "claim").tables[0].rows}
    assert rows["T4"][2] == "a leaderboard; https://example.org/runs"
    assert rows["T4"][5].startswith("a public re-run")
    assert (rows["A100"][2], rows["A100"][5]) == (claim.source.authors, "nobody")


def test_limitations_list_device_shapes_gpus_and_skips() -> None:
    limits = section(triangular(), "limitations")
    text = " ".join(limits.bullets)
    assert "Shapes run: N = 1; N = 33; N = 255." in text
    assert "N = 4,096) was not run" in text
    assert f"{NOT_MEASURED} here: T4, A100, L4, H100." in text


def test_no_defect_says_what_is_missing_and_fails_no_kernel() -> None:
    record = triangular(defects=False)
    text = text_of(record)
    assert record.verdict.name == "no defect found"
    assert "**Is the result right**: right" in text
    assert "**Was the ratio reached**: not measured" in text
    assert "Missing: a time" in text
    accusing = ACCUSING.findall(text.replace("no defect found", ""))
    assert not accusing
    assert not section(record, "weaknesses").bullets


def test_confirmed_fails_no_kernel() -> None:
    record = with_verdict(measured(triangular(defects=False)), name="confirmed", confidence="high", scope="T4 only")
    text = text_of(record)
    assert "The kernel is right" in text
    assert not ACCUSING.search(text), ACCUSING.findall(text)


def test_mistimed_speaks_of_the_time_and_not_of_the_result() -> None:
    record = with_times_of_the_authors(triangular(defects=False))
    assert record.verdict.name == "mistimed"
    assert "not the time of the stated work" in text_of(record)
    assert "0.267 ms is under the fp32 compute floor" in text_of(record)


def test_incomplete_says_so_on_top() -> None:
    record = triangular().model_copy(update={"verdict": Verdict(name="incomplete"), "ladder": ()})
    text = text_of(record)
    assert text.index("INCOMPLETE") < text.index("##")
    assert {row[7] for row in section(record, "variants").tables[0].rows} == {"not judged"}
    assert "INCOMPLETE" not in text_of(triangular())


def test_sizes_around_the_claim_stand_in_a_section_and_fail_no_kernel_of_what_it_does_not_claim() -> None:
    record = swept(triangular(defects=False))
    assert record.verdict.name == "no defect found"
    result = section(record, "sizes")
    (table,) = result.tables
    assert "exactly where N % 4 != 0" in result.paragraphs[0]
    assert "no failure of the claim" in result.paragraphs[1]
    assert table.columns[1:4] == ("Right at", "Wrong at", "A GPU refuses a launch at")
    assert table.rows == (("N", "33, 36", "34", "4096", "1", "65", "97"),)
    slugs = [one.slug for one in content.build(record, ()).sections]
    assert slugs[slugs.index("sizes") - 1] == "variants"
    card = section(record, "verdict").card
    assert card is not None and "exactly where N % 4 != 0" in dict(card.facts)["Sizes around the claim"]


def test_sizes_of_several_names_have_a_row_each_and_one_for_all_at_once() -> None:
    record = triangular(defects=False)
    entries = [({"m": 4, "n": 8}, "right"), ({"m": 5, "n": 8}, "wrong"), ({"m": 4, "n": 7}, "right"),
            ({"m": 3, "n": 7}, "wrong")]  # fmt: skip
    evidence = {"around": {"m": 4, "n": 8}, "sizes": [{"sizes": sizes, "result": result} for sizes, result in entries]}
    found = Finding(probe="sweep", target="claimed", outcome="fail", grade="hint", summary="s", evidence=evidence)
    record = record.model_copy(update={"findings": (*record.findings, found)})
    (table,) = section(record, "sizes").tables
    assert table.rows == (("m", "4", "5"), ("n", "7, 8", ""), ("all at once", "", "3 x 7"))


def test_a_hint_of_a_probe_stands_on_page_one_where_nothing_failed() -> None:
    hint = Finding(probe="distributions", target="claimed", outcome="fail", grade="hint", summary="sorted: 3 wrong",
                   device="emulated")  # fmt: skip
    of_source = hint.model_copy(update={"probe": "review.legacy_stream", "device": None})
    for record, last in ((triangular(defects=False), "Hint only. "), (triangular(), "")):
        found = outcome.pieces(record.model_copy(update={"findings": (of_source, *record.findings, hint)}))
        assert len(found) == outcome.MOST_PIECES
        assert ["Hint only. " in piece for piece in found] == [False, False, bool(last)]


def test_a_record_without_any_finding_still_gives_a_report() -> None:
    record = triangular().model_copy(update={"findings": (), "ladder": (), "verdict": Verdict(name="incomplete")})
    assert "No shape has been run yet." in text_of(record)


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
    assert len(shown) > 60
    for number in shown:
        value = float(number.replace(",", ""))
        assert any(abs(value - other) <= 5e-4 * abs(other) for other in known | derived), number


def test_a_reason_of_the_verdict_that_quotes_a_finding_is_no_second_piece_of_evidence() -> None:
    record = judge.opened(Path(__file__).resolve().parents[2] / "reports/library_call/emulated/record.json")
    assert record.verdict.ratio is not None
    assert record.verdict.ratio.reasons[0].startswith("kernels_ran: ")
    assert sum("the source has no kernel of its own" in text for text in outcome.pieces(record)) == 1


def test_strengths_are_sentences_about_the_claim_and_not_a_list_of_probes() -> None:
    right = section(raced(right=True), "strengths").bullets
    assert 3 <= len(right) <= 6
    assert any("agrees with a float64 oracle at all 3 shapes asked, the largest N = 255" in one for one in right)
    assert any(one.startswith(f"On {H100} it is 3.022x") for one in right)
    titles = [str(evidence.title(probe)) for probe in PROBES]
    for record in (raced(right=True), triangular()):
        assert not [
            one
            for one in section(record, "strengths").bullets
            if one.startswith(tuple(f"{title}:" for title in titles))
        ]
    assert not any("oracle" in one or "as fast" in one for one in section(triangular(), "strengths").bullets)


def test_a_right_result_of_a_task_that_cannot_tell_is_no_strength() -> None:
    record = raced(right=True)
    task = record.verdict.task
    assert task is not None
    blind = record.verdict.model_copy(update={"task": task.model_copy(update={"state": "cannot tell"})})
    found = section(record.model_copy(update={"verdict": blind}), "strengths").bullets
    assert not any("oracle" in one or "as fast" in one for one in found)


def test_hints_of_the_source_are_one_point_behind_all_others() -> None:
    record = triangular()
    hints = [
        finding(f"review.rule_{number}", "fail", grade="hint", line=10 + number, summary=f"hint {number}")
        for number in range(6)
    ]
    *others, last = section(record.model_copy(update={"findings": (*hints, *record.findings)}), "weaknesses").bullets
    shown = "line 10, hint 0; line 11, hint 1; line 12, hint 2; line 13, hint 3; and 2 more"
    assert last == f"Read in the source alone: {shown}. [hint]"
    assert others and not any("rule" in one for one in others)


def test_a_ratio_that_was_not_reached_is_a_weakness() -> None:
    record = raced(right=True)
    answer = RatioAnswer(state="weak baseline", reasons=("H100: claimed 20x, measured 1.00x",))
    changed = record.model_copy(update={"verdict": record.verdict.model_copy(update={"ratio": answer})})
    assert "The published ratio: H100: claimed 20x, measured 1.00x." in section(changed, "weaknesses").bullets


def test_a_ratio_of_another_shape_stands_in_a_row_of_its_own_and_no_gpu_has_two_floors() -> None:
    record = triangular()
    statement = record.claim.statement
    other = Speedup(gpu="H100", ratio=7.5, shape={"N": 64})
    claim = statement.model_copy(update={"speedup": (*statement.speedup, other)})
    changed = record.model_copy(update={"claim": record.claim.model_copy(update={"statement": claim})})
    before, after = (section(one, "claim").tables[0].rows for one in (record, changed))
    assert [row[0] for row in after] == [*(row[0] for row in before), "H100, N = 64"]
    assert after[-1][1] == "7.5x"
    assert "7.5x" not in str(section(changed, "verdict"))
    targets = [one.target for one in floors.floors(claim, COST)]
    assert targets == [one.target for one in floors.floors(statement, COST)]
