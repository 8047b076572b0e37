"""The tables and the figure of times: ratios with intervals, no speedup for what did not pass, the way down."""

from __future__ import annotations

import pytest

from audit import judge
from audit.measure import DO_BENCH, OURS
from audit.measure.samples import ALONE, HOT, SIZED
from audit.model import Finding, Measurement, Record
from audit.report import content, evidence, figures, times, waterfall
from audit.report.view import Section
from tests.report.fixture import triangular

BLOCKS = tuple(range(12))
H100 = "NVIDIA H100 80GB HBM3"
COST = {"flops": 2.29e10, "bytes": 1.34e8}
TIMES_MS = {"baseline:eager": 2.72, "baseline:eager_tf32": 0.37, "baseline:blocked": 1.8, "fixed_grid2d": 6.6,
            "register_blocked": 0.3, "wmma_f16": 0.33, "control:again:register_blocked": 0.3}  # fmt: skip


def timing(name: str, median_ms: float, *, protocol: str = OURS, session: str = "ladder") -> Measurement:
    samples = tuple(median_ms * (1 + 0.001 * (block % 3)) for block in BLOCKS)
    return Measurement(variant=name, shape={"N": 4096}, protocol=protocol, samples_ms=samples, blocks=BLOCKS,
                       positions=BLOCKS, session=session)  # fmt: skip


def ceiling(name: str, sizes: dict[str, int], ms: float) -> Measurement:
    return Measurement(variant=f"ceiling:{name}", shape=sizes, protocol=ALONE, samples_ms=(ms,), session="ladder")


def raced(*, right: bool = False, extra: tuple[Measurement, ...] = ()) -> Record:
    """The audit on an H100 with one interleaved session; `right`: the claimed kernel passes too."""
    record = triangular(defects=not right)
    floor = Finding.model_validate(
        {"probe": "floor_here", "target": H100, "outcome": "pass", "summary": "floors",
         "evidence": {**COST, "floor_ms": 0.342, "matrix_unit_floor_ms": 0.04}}
    )  # fmt: skip
    side = {"M": 4096, "N": 4096, "K": 4096}
    times = dict(TIMES_MS, **({"claimed": 0.9} if right else {}))
    measurements = (
        *(timing(name, ms) for name, ms in times.items()),
        timing("register_blocked", 0.29, protocol=HOT),
        timing("claimed", 0.9 if right else 0.02, protocol=DO_BENCH, session=""),
        timing("baseline:eager", 2.7, protocol=DO_BENCH, session=""),
        ceiling("copy", {"bytes": 2 << 28}, 0.2),
        ceiling("matmul_fp32", side, 2.7),
        ceiling("matmul_fp16", side, 0.2),
        *extra,
    )
    device = record.device.model_copy(update={"kind": "cuda", "name": H100})
    values = {"device": device, "measurements": measurements, "findings": (*record.findings, floor)}
    record = record.model_copy(update=values)
    rungs = judge.ladder(record.claim.statement, record.findings, record.measurements)
    return record.model_copy(update={"ladder": rungs, "verdict": judge.judge(record)})


def section(record: Record, slug: str) -> Section:
    return next(one for one in content.build(record, ()).sections if one.slug == slug)


def rows(record: Record) -> dict[str, dict[str, str]]:
    table = section(record, "measured").tables[0]
    return {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_each_passing_variant_stands_against_eager_and_the_strongest_as_precise() -> None:
    split = rows(raced())["register_blocked"]
    assert split["Against eager"].startswith("9.067x (9.0")
    assert split["Which is"] == "blocked"
    assert split["Against the strongest"].startswith("6x (")
    assert split["Conclusion"] == "faster"
    assert split["Of the fp32 floor"] == "113.9 %"
    assert split["Of the ceiling"] == "149.8 %", "flops of the task over 50.9 TFLOP/s of the fp32 product"


def test_rounded_inputs_are_held_against_rounding_baselines() -> None:
    result = rows(raced())
    assert result["wmma_f16"]["Which is"] == "eager TF32"
    assert result["wmma_f16"]["Conclusion"] == "faster"
    assert result["eager TF32"]["Which is"] == "itself"
    assert result["fixed_grid2d"]["Conclusion"] == "slower"


def test_an_exhibit_and_the_control_have_no_row() -> None:
    result = rows(raced())
    assert "claimed" not in result
    assert not [name for name in result if name.startswith("control")]
    assert any("register_blocked, timed twice" in text for text in section(raced(), "measured").paragraphs)


def test_the_do_bench_table_has_a_column_for_each_gpu_in_question_and_times_in_one() -> None:
    extra = (timing("register_blocked", 0.31, protocol=DO_BENCH, session=""),)
    table = section(raced(extra=extra), "measured").tables[1]
    assert table.columns == ("What", "State", "H100", "T4", "L4", "A100")
    assert table.rows == (
        ("claimed", "failed", "0.02002 ms (0.02 to 0.02004)", *["NOT MEASURED"] * 3),
        ("register_blocked", "passed", "0.3103 ms (0.31 to 0.3106)", *["NOT MEASURED"] * 3),
        ("eager", "baseline", "2.703 ms (2.7 to 2.705)", *["NOT MEASURED"] * 3),
    )
    assert table.caption.startswith("Times by triton.testing.do_bench (triton ")
    assert len(section(triangular(), "measured").tables) == 0


def test_the_fastest_stands_first() -> None:
    assert list(rows(raced()))[:4] == ["register_blocked", "wmma_f16", "eager TF32", "blocked"]


@pytest.mark.parametrize(
    ("name", "title"),
    [("claimed", "claimed"), ("baseline:eager", "eager"),
     ("baseline:graph_diagonals_tf32", "diagonals TF32 (CUDA graph)"),
     ("baseline:compile_max_autotune", "torch.compile(max-autotune)"), ("baseline:graph_eager", "eager (CUDA graph)"),
     ("baseline:cudnn_benchmark_tf32", "cudnn.benchmark TF32"), ("baseline:eager_split_fp16", "eager split_fp16")],
)  # fmt: skip
def test_a_baseline_is_called_by_what_it_is(name: str, title: str) -> None:
    assert evidence.callable_title(name) == title


def test_page_one_gives_the_speed_that_can_be_defended() -> None:
    assert times.honest(raced()).startswith("none for the claimed kernel, which did not pass. The fastest variant of")
    assert "0.3003 ms on NVIDIA H100 80GB HBM3: 9.067x (9.0" in times.honest(raced())
    assert times.honest(raced(right=True)).startswith(f"0.9009 ms for the claimed kernel on {H100}; 3.022x")
    assert times.honest(triangular()).startswith("NOT MEASURED")


def test_the_way_down_of_a_wrong_kernel_gives_it_no_ratio() -> None:
    found = [(step.label, step.shown(), step.note) for step in waterfall.steps(raced())]
    assert found[0] == ("published for H100", "about 150x", "")
    assert found[3] == ("claimed kernel here", "none", "failed: no speedup of it is reported")
    assert found[4][:2] == ("register_blocked against eager", "9.067x")
    assert found[5][:2] == ("register_blocked against the strongest baseline", "6x")
    assert len(found) == 6


def test_each_step_down_names_the_times_that_it_rests_on() -> None:
    found = [(step.shown(), step.rests, step.limit) for step in waterfall.steps(raced())]
    eager, blocked = 2.72 * 1.001, 1.8 * 1.001
    assert found == [
        ("about 150x", "as published; not measured here", pytest.approx(eager / 0.342)),
        ("68.07x", "eager 2.723 ms measured, floor 0.04 ms", pytest.approx(eager / 0.04)),
        ("7.961x", "eager 2.723 ms measured, floor 0.342 ms", pytest.approx(eager / 0.342)),
        ("none", "by do_bench a call takes 0.02002 ms; no ratio counts without a right result", None),
        ("9.067x", "eager 2.723 ms, kernel 0.3003 ms", pytest.approx(eager / 0.342)),
        ("6x", "blocked 1.802 ms, kernel 0.3003 ms", pytest.approx(blocked / 0.342)),
    ]


def published(record: Record, ratio: float) -> Record:
    """The record of a claim that publishes another ratio for this GPU."""
    stated = record.claim.statement
    speedup = tuple(one.model_copy(update={"ratio": ratio, "about": False}) for one in stated.speedup)
    statement = stated.model_copy(update={"speedup": speedup})
    claim = record.claim.model_copy(update={"statement": statement})
    return record.model_copy(update={"claim": claim})


def test_a_limit_over_the_published_ratio_takes_nothing_from_it() -> None:
    assert [step.kind for step in waterfall.steps(published(raced(), 20.0))][:3] == ["published", "limit", "measured"]
    found = waterfall.steps(published(raced(), 5.0))
    assert [step.kind for step in found][:2] == ["published", "measured"]
    assert found[0].limit == pytest.approx(2.72 * 1.001 / 0.342), "it is drawn all the same"


def test_without_a_floor_or_with_a_wrong_baseline_no_limit_is_given() -> None:
    record = raced()
    bare = tuple(one for one in record.findings if one.probe not in ("floor", "floor_here"))
    assert {step.limit for step in waterfall.steps(record.model_copy(update={"findings": bare}))} == {None}
    fields = {"probe": "timed_outputs", "target": judge.BASELINE, "outcome": "fail", "grade": "proved", "summary": "w"}
    wrong = record.model_copy(update={"findings": (*record.findings, Finding.model_validate(fields))})
    assert [step.kind for step in waterfall.steps(wrong)][:2] == ["published", "measured"]
    assert waterfall.steps(wrong)[0].limit is None


def test_the_figure_of_times_names_every_time_of_the_table() -> None:
    drawn = {figure.name: figure for figure in figures.draw(raced())}
    assert drawn["times"].alt.startswith(
        "Times on a log axis, the fastest first. register_blocked: 0.3003 ms; wmma_f16"
    )
    assert drawn["times"].alt.count(" ms") == len(rows(raced()))
    assert "times" not in {figure.name for figure in figures.draw(triangular())}


def test_the_way_down_of_a_right_kernel_goes_by_the_published_protocol() -> None:
    found = [(step.label, step.shown()) for step in waterfall.steps(raced(right=True))]
    assert found == [
        ("published for H100", "about 150x"),
        ("work limit on any unit, over eager", "68.07x"),
        ("work limit in fp32, over eager", "7.961x"),
        ("claimed kernel here, published protocol", "3x"),
        ("claimed against eager", "3.022x"),
        ("claimed against the strongest baseline", "2x"),
    ]


def test_a_control_that_failed_makes_every_ratio_inconclusive() -> None:
    other = {"control:again:wmma_f16": 0.4, "wmma_f16": 0.33, "baseline:eager_tf32": 0.37}
    record = raced(extra=tuple(timing(name, ms, session="other") for name, ms in other.items()))
    assert rows(record)["wmma_f16"]["Conclusion"] == "inconclusive"
    assert rows(record)["register_blocked"]["Conclusion"] == "faster", "that of the other session"


@pytest.mark.parametrize("right", [False, True])
def test_the_figure_says_in_words_what_it_shows(right: bool) -> None:
    drawn = {figure.name: figure for figure in figures.draw(raced(right=right))}
    assert drawn["waterfall"].png.startswith(b"\x89PNG")
    assert "published for H100: about 150x" in drawn["waterfall"].alt
    assert ("no speedup of it is reported" in drawn["waterfall"].alt) is not right


def test_without_a_time_there_is_no_way_down() -> None:
    assert waterfall.steps(triangular()) == ()
    assert "NOT MEASURED" in section(triangular(), "measured").paragraphs[0]


def test_times_without_blocks_have_no_interval_and_are_inconclusive() -> None:
    record = raced()
    bare = tuple(one.model_copy(update={"blocks": (), "positions": ()}) for one in record.measurements)
    record = record.model_copy(update={"measurements": bare})
    split = rows(record)["register_blocked"]
    assert (split["95 % interval"], split["Conclusion"]) == ("none", "inconclusive")
    drawn = {figure.name: figure for figure in figures.draw(record)}
    assert "6x, inconclusive" in drawn["waterfall"].alt


def test_a_baseline_that_is_wrong_while_timed_is_named_and_compared_with_nothing() -> None:
    record = raced(right=True)
    assert "Baselines with wrong results" not in " ".join(map(str, section(record, "measured").paragraphs))
    fields = {"probe": "timed_outputs", "target": judge.BASELINE, "outcome": "fail", "grade": "proved", "summary": "w"}
    bad = Finding.model_validate(fields)
    result = section(record.model_copy(update={"findings": (*record.findings, bad)}), "measured")
    assert "timed calls: eager. No ratio to them counts" in " ".join(map(str, result.paragraphs))
    times = result.tables[0]
    assert {str(row[4]) for row in times.rows} == {"none"}


SIZES_MS = {
    2048: {"baseline:eager": 0.4, "baseline:blocked": 0.3, "register_blocked": 0.1},
    4095: {"baseline:eager": 3.0},
}


def sized(*, about: dict[str, object] | None = None, right: bool = False) -> Record:
    """The same audit, which timed two more sizes too, one without a right result of the kernel."""
    record = raced(right=right, extra=tuple(
        timing(name, ms, protocol=SIZED, session=f"N={side}").model_copy(update={"shape": {"N": side}})
        for side, times_ms in SIZES_MS.items() for name, ms in times_ms.items()
    ))  # fmt: skip
    none = "N=4095: register_blocked: wrong in 1 of 2 timed calls chosen at random; in block 7: 1 of 16 elements wrong"
    entries = [{"sizes": {"N": 2048}, "floor_ms": 0.05, "matrix_unit_floor_ms": 0.01}, {"sizes": {"N": 4095}}]
    evidence = {"sizes": entries} if about is None else about
    found = {"probe": "times_at_sizes", "target": "triangular_mm", "outcome": "pass", "evidence": evidence,
             "summary": f"timed at N=2048, N=4095 too; {none}"}  # fmt: skip
    return record.model_copy(update={"findings": (*record.findings, Finding.model_validate(found))})


def test_other_sizes_have_times_ratios_and_floors_of_their_own() -> None:
    table = section(sized(), "measured").tables[-1]
    columns = [str(one) for one in table.columns]
    known = {(str(row[0]), str(row[1])): dict(zip(columns, map(str, row), strict=True)) for row in table.rows}
    assert [*known][:4] == [
        ("N = 2,048", "register_blocked"), ("N = 2,048", "blocked"), ("N = 2,048", "eager"), ("N = 4,095", "eager")
    ]  # fmt: skip
    half, claimed = known["N = 2,048", "register_blocked"], known["N = 4,096", "register_blocked"]
    assert (half["Median"], claimed["Median"]) == ("0.1001 ms", "0.3003 ms")
    assert half["Against eager"].startswith("4x (")
    assert half["Against the strongest"].startswith("3x (")
    assert (half["Of the fp32 floor"], claimed["Of the fp32 floor"]) == ("49.95 %", "113.9 %")
    assert rows(sized()) == rows(raced()), "the times of the claimed size stay as they are"


def test_a_ratio_is_said_to_be_one_of_its_size() -> None:
    at_others = "at other sizes: N = 2,048: 4x (4 to 4); N = 4,095: NOT MEASURED."
    assert str(times.honest(sized())).endswith(f"The ratio over eager is that of N = 4,096; {at_others}")
    assert str(times.honest(raced())).endswith(
        "The ratio over eager is that of N = 4,096; at other sizes: NOT MEASURED."
    )
    text = " ".join(map(str, section(sized(), "measured").paragraphs))
    assert "Timed at N=2048, N=4095 too; N=4095: register_blocked: wrong in 1 of 2 timed calls" in text


def test_the_figure_of_sizes_stands_where_there_are_any() -> None:
    drawn = {figure.name: figure for figure in figures.draw(sized())}
    alt = "N = 2,048: register_blocked: 0.1001 ms, blocked: 0.3003 ms, eager: 0.4004 ms; N = 4,095: eager: 3.003 ms; "
    assert f"{alt}N = 4,096: " in drawn["size_times"].alt
    assert drawn["size_times"].png.startswith(b"\x89PNG")
    assert "size_times" not in {figure.name for figure in figures.draw(raced())}


@pytest.mark.parametrize(
    "about",
    [{}, {"sizes": "N"}, {"sizes": [7, {"sizes": 7}, {"sizes": {"M": 8}}]},
     {"sizes": [{"sizes": {"N": 2048}, "floor_ms": -1.0, "matrix_unit_floor_ms": "0"}] * 20}],
)  # fmt: skip
def test_what_others_wrote_about_sizes_breaks_no_report(about: dict[str, object]) -> None:
    record = sized(about=about)
    assert section(record, "measured").tables
    figures.draw(record)
