"""Each rule on a few rows whose answer can be counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.lint import datasets
from audit.lint.datasets.answer import Answer
from audit.lint.datasets.dataset import Dataset
from audit.lint.datasets.rules import RULES
from tests.datasets.made import TASK, archive, archived, cuda_l1, scores


def asked(rule: str, data: Dataset) -> Answer:
    answer = RULES[rule](data)
    assert answer.asked, answer.sentences
    return answer


def cells(answer: Answer, table: int = 0) -> list[tuple[str, ...]]:
    return list(answer.tables[table].rows)


def test_the_strongest_baseline_is_that_of_each_row(tmp_path: Path) -> None:
    answer = asked("strongest_baseline", cuda_l1(tmp_path, [scores(8.0, 1.0), scores(2.0, 4.0), scores(3.0, 3.0)]))
    (row,) = cells(answer)
    assert row[:4] == ("H100", "3", "3.00x", "2.00x")
    assert row[5:7] == ("4.00x", "3.00x (eager)")
    assert [mark.row for mark in answer.marks] == [1]
    assert "errs low" in answer.tables[0].columns[3]
    assert "errs low" in answer.bias[0]


def test_baselines_of_a_row_that_differ_fivefold_contradict(tmp_path: Path) -> None:
    answer = asked("baselines_disagree", cuda_l1(tmp_path, [scores(5.1, 1.0), scores(5.0, 1.0), scores(1.0, 6.0)]))
    assert [mark.row for mark in answer.marks] == [3, 1]
    assert "H100 2 of 3 (67 %)" in answer.sentences[0]


def test_the_rows_that_carry_the_mean_are_named(tmp_path: Path) -> None:
    answer = asked("carried_mean", cuda_l1(tmp_path, [scores(1.0), scores(1.0), scores(100.0), scores(2.0)]))
    (row,) = cells(answer)
    assert row[2:7] == ("26.00x", "1.50x", "3.76x", "100.0x", "1.33x")
    assert row[7:] == ("1 row", "96 %")
    assert [mark.row for mark in answer.marks] == [3]
    assert "without its largest row 1.33x" in answer.sentences[1]


def test_published_figures_stand_beside_those_of_the_rows(tmp_path: Path) -> None:
    (tmp_path / "dataset.toml").write_text(
        'published = [{ gpu = "H100", statistic = "mean", value = 2.0 },\n'
        '{ gpu = "H100", statistic = "rows", value = 3.0 }, { gpu = "T4", statistic = "median", value = 3.0 }]'
    )
    rows = cells(asked("published", cuda_l1(tmp_path, [scores(1.0), scores(3.0)])))
    assert [row[-1] for row in rows] == ["the same", "lower in the file", "no such rows"]


def test_a_time_under_the_fastest_units_floor_is_proved_impossible(tmp_path: Path) -> None:
    rows = [archived(ms, Kernel_Name=f"{ms}", PyTorch_Code_Module=TASK) for ms in (0.1, 0.2, 3.0)]
    answer = asked("floor", archive(tmp_path, rows, gpu="H100"))  # fp16 units: 0.139 ms; CUDA cores: 2.05 ms
    assert [(mark.row, mark.grade) for mark in answer.marks] == [(1, "proved"), (2, "hint")]
    assert "3 of 3" in answer.sentences[0]


def test_without_a_gpu_nothing_is_proved_impossible(tmp_path: Path) -> None:
    answer = asked("floor", archive(tmp_path, [archived(0.01)]))
    assert [mark.grade for mark in answer.marks] == ["hint"]


def test_scores_and_code_are_held_against_each_other(tmp_path: Path) -> None:
    rows = [scores(4.0), scores(2.0, custom_code=None), scores(None, custom_code=None), scores(None)]
    answer = asked("artifact", cuda_l1(tmp_path, rows))
    (row,) = cells(answer)
    assert row == ("H100", "4", "2", "1", "1", "1", "3.00x", "1.50x")
    assert [mark.row for mark in answer.marks] == [2]


def test_a_dataset_without_a_slower_row_was_chosen_by_its_figure(tmp_path: Path) -> None:
    answer = asked("artifact", cuda_l1(tmp_path, [scores(1.0 + place / 100, 0.9) for place in range(60)]))
    assert "None of 60 scored rows is slower than eager, while 100 % are slower than another" in answer.sentences[1]
    other = asked("artifact", cuda_l1(tmp_path, [scores(0.99 + place / 100) for place in range(60)]))
    assert len(other.sentences) == 1


def test_kernels_marked_wrong_count_nowhere(tmp_path: Path) -> None:
    data = archive(tmp_path, [archived(0.5), archived(0.1, Correct=False)])
    answer = asked("marked_wrong", data)
    assert [mark.row for mark in answer.marks] == [2]
    assert "from 2.00x to 6.00x" in answer.sentences[1]
    assert cells(asked("carried_mean", data))[0][2] == "2.00x"


def test_ratios_apart_from_their_times_are_told_and_a_thousand_is_two_units(tmp_path: Path) -> None:
    rows = [
        archived(0.5, 1.0, CUDA_Speedup_Native=2.01),
        archived(0.5, 1.0, CUDA_Speedup_Native=3.0, Kernel_Name="b"),
        archived(500.0, 0.6, CUDA_Speedup_Native=0.0012, Kernel_Name="c"),
    ]
    answer = asked("own_arithmetic", archive(tmp_path, rows))
    assert [mark.row for mark in answer.marks] == [2, 3]
    assert "ms beside µs" in answer.marks[1].text
    assert "ms beside" not in answer.marks[0].text


def test_code_is_compared_without_regard_to_white_space(tmp_path: Path) -> None:
    rows = [archived(1.0, CUDA_Code="int  a;"), archived(2.0, CUDA_Code="int a;\n"), archived(3.0, CUDA_Code="int b;")]
    answer = asked("duplicates", archive(tmp_path, rows))
    assert [mark.row for mark in answer.marks] == [2]


def test_a_task_scored_twice_with_other_figures_is_told(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("gpu,level_id,task_id,has_code,score_default\nt4,1,1,1,2.0\nt4,1,1,1,3.0\nt4,1,2,1,3.0\n")
    answer = asked("duplicates", datasets.read(path))
    assert [mark.row for mark in answer.marks] == [2]


def test_the_best_of_many_stands_beside_the_middle_one(tmp_path: Path) -> None:
    rows = [archived(ms, Kernel_Name=f"{ms}") for ms in (0.5, 1.0, 2.0)]
    (row,) = cells(asked("best_of_many", archive(tmp_path, rows)))
    assert row[1:] == ("1", "3", "2.00x", "1.00x", "100 %", "0 %")


def test_levels_stand_one_by_one(tmp_path: Path) -> None:
    rows = cells(asked("levels", cuda_l1(tmp_path, [scores(1.0), scores(3.0, level_id=2), scores(5.0, level_id=2)])))
    assert [row[1:5] for row in rows] == [("1", "1", "1.00x", "1.00x"), ("2", "2", "4.00x", "4.00x")]


def test_rows_that_hold_half_of_the_work_stand_beside_the_others(tmp_path: Path) -> None:
    """Two products of 2 * 1024 ** 3 operations each hold more than half of the work; 18 are of 2 * 64 ** 3."""
    sizes = [("1024_1024_1024", 0.5), ("1024_1024_1024", 2.0), *(("64_64_64", 1.5 + row / 1000) for row in range(18))]
    rows = [f"{mnk},{2 * ratio},{ratio}" for mnk, ratio in sizes]
    path = tmp_path / "cuda_l2_h100_F32F16F16F32_speedup_offline.csv"
    path.write_text("\n".join(["mnk,torch.matmul,cuBLAS-max", *rows]))
    answer = asked("where_work_is", datasets.read(path))
    (row,) = cells(answer)
    assert row[:6] == ("H100", "F32F16F16F32, offline", "2 of 20", "2.00x", "1.00x", "1.51x")
    assert row[6] == "1.25x"
    assert "2 of 20 rows, 1.00x (the others 1.51x)" in answer.sentences[0]


def test_gpus_are_compared_over_the_tasks_they_share(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(
        "gpu,level_id,task_id,has_code,score_default\n"
        "a100,1,1,1,2.0\na100,1,2,1,1.0\na100,1,3,1,9.0\nh100,1,1,1,1.0\nh100,1,2,1,3.0\n"
    )
    answer = asked("portability", datasets.read(path))
    assert (
        "2 of 3 tasks are scored on all 2 GPUs; of these 0 are more than 1.1x on every one and 2 on"
        in answer.sentences[0]
    )
    assert [row[2] for row in cells(answer)] == ["1.50x", "2.00x"]
    assert cells(answer, 1)[0] == ("A100", "1.00", "-1.00")
    assert any("speed does not" in text for text in answer.bias)


@pytest.mark.parametrize(
    "rule", ["strongest_baseline", "published", "floor", "own_arithmetic", "portability", "levels", "where_work_is"]
)
def test_a_rule_that_lacks_what_it_needs_says_so(tmp_path: Path, rule: str) -> None:
    row = {"level_id": 1, "task_id": 1, "custom_code": "c", "score_default": 2.0}
    answer = RULES[rule](cuda_l1(tmp_path, [row]))
    assert not answer.asked
    assert answer.sentences[0].startswith("Not asked: ")
    assert not answer.marks


def test_every_figure_says_which_way_it_errs(tmp_path: Path) -> None:
    data = archive(tmp_path, [archived(0.5, PyTorch_Compile_Runtime=2.0), archived(0.4, Kernel_Name="b", Level_ID=2)])
    without = {"own_arithmetic", "duplicates"}  # these count what contradicts itself, and estimate nothing
    for name, rule in RULES.items():
        answer = rule(data)
        assert answer.bias or name in without or not answer.asked, name
