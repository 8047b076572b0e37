"""Formats, units, GPUs, and rows that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from audit.lint import datasets
from audit.model.errors import BadInput
from audit.model.gpus import described
from tests.datasets.made import archive, archived, cuda_l1, lines, scores


def test_a_folder_of_files_per_gpu_is_one_dataset(tmp_path: Path) -> None:
    for name in ("a100.jsonl", "3090.jsonl"):
        without = scores(None, custom_code=None, task_id=2), scores(2.0, custom_code="None", task_id=3)
        lines(tmp_path / name, [scores(2.0), *without])
    data = datasets.read(tmp_path)
    assert (data.format, data.baselines) == ("CUDA-L1", ("eager", "torch.compile"))
    assert list(data.frame["gpu"]) == [*["RTX 3090"] * 3, *["A100"] * 3]
    assert list(data.frame["has_code"]) == [True, False, False] * 2
    assert len(data.scored) == 4
    assert any("no figure is pooled" in note for note in data.notes)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl", "json"])
def test_the_archive_reads_the_same_from_every_file_format(tmp_path: Path, suffix: str) -> None:
    rows = [archived(0.5), archived(0.25, 2.0, Correct=False), archived(None, Correct=False, Kernel_Name="z")]
    frame, path = pd.DataFrame(rows), tmp_path / f"archive.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix == "csv":
        frame.to_csv(path, index=False)
    elif suffix == "json":
        path.write_text(json.dumps(rows))
    else:
        lines(path, rows)
    data = datasets.read(path)
    assert list(data.frame["ratio eager"].dropna()) == [2.0, 8.0]
    assert list(data.frame["correct"]) == [True, False, False]
    assert list(data.frame["flops"]) == [2.0 * 4096**3] * 3
    assert data.unit == "ms"


def test_kernelbench_results_take_minus_one_for_no_time(tmp_path: Path) -> None:
    values = {"correctness": True, "compiled": True, "metadata": {"hardware": "NVIDIA H100 80GB HBM3"}}
    odd = {**values, "metadata": {"hardware": "\udced"}, "sample_id": 0, "runtime": 0.3, "ref_runtime": 0.3}
    rows = {
        "7": [{**values, "sample_id": 0, "runtime": 0.02, "ref_runtime": 0.05}],
        "8": [{**values, "sample_id": 0, "runtime": -1.0, "ref_runtime": -1.0, "correctness": False}],
        "9": [{**values, "sample_id": 0, "runtime": -3.0, "ref_runtime": 1.0}],
        "10": [odd],
    }
    (tmp_path / "eval_results.json").write_text(json.dumps(rows))
    data = datasets.read(tmp_path / "eval_results.json")
    assert list(data.frame["task"]) == ["7", "8", "10"]
    assert list(data.frame["gpu"].unique()) == ["H100 SXM", "?"]
    assert data.scored["ratio eager"].tolist() == [2.5, 1.0]
    (refused,) = data.refused
    assert (refused.row, refused.column) == (3, "runtime")


def test_cuda_l2_names_gpu_types_and_mode_in_the_name_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "cuda_l2_a100_F16F16F16F16_speedup_server.csv"
    path.write_text("mnk,torch.matmul,cuBLAS-tn,cuBLAS-max\n64_128_256,1.5,1.4,1.2\n64_x_2,1.1,1.1,1.1\n")
    frame = datasets.read(path).frame
    assert list(frame["gpu"]) == ["A100", "A100"]
    assert list(frame["level"]) == ["F16F16F16F16, server"] * 2
    assert (frame["flops"][0], frame["bytes"][0]) == (2 * 64 * 128 * 256, 2 * (64 * 256 + 256 * 128 + 64 * 128))
    assert frame["flops"].isna()[1]
    assert [name for name in frame if name.startswith("ratio ")] == ["ratio torch.matmul", "ratio cuBLAS"]


def test_a_file_of_cuda_l2_with_another_name_names_no_gpu(tmp_path: Path) -> None:
    (tmp_path / "speedups.csv").write_text("mnk,torch.matmul\n64_128_256,1.5\n")
    data = datasets.read(tmp_path / "speedups.csv")
    assert list(data.frame["gpu"]) == ["not stated"]
    assert "1 rows name no GPU" in data.notes[0]


def test_robust_kbench_has_two_parts_of_a_task_and_two_ratios(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    head = "Kernel Name,Correct,Runtime (ms),Speedup,Speedup Compile,Code,task_name,forward"
    path.write_text(f"{head}\nk,True,0.011,2.5,5.9,code,linear,True\nl,False,0.11,1.2,,code,linear,False\n")
    data = datasets.read(path)
    assert list(data.frame["task"]) == ["linear forward", "linear backward"]
    assert list(data.frame["correct"]) == [True, False] and data.unit == "ms"
    assert data.frame["ratio torch.compile"].tolist()[0] == 5.9 and data.frame["ratio torch.compile"].isna()[1]


def test_a_table_without_a_column_of_robust_kbench_is_of_no_format(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text("Kernel Name,Runtime (ms),Speedup,task_name\nk,0.011,2.5,linear\n")
    with pytest.raises(BadInput, match=r"robust-kbench results: task_name, forward, Runtime \(ms\)"):
        datasets.read(tmp_path / "results.csv")


def test_bad_rows_are_told_with_row_and_column_and_good_ones_go_on(tmp_path: Path) -> None:
    path = tmp_path / "a100.jsonl"
    good = [scores(2.0), scores(3.0, task_id=2)]
    bad = ['{"level_id": 1, "task_id": 3, "score_default": NaN}']
    bad += [json.dumps(scores(ratio)) for ratio in (-1.0, 0.0, 1e300)]
    bad += ['{"level_id": 1, "task_id": 4, "score_default": "fast"}', '{"level_id": 1, "task_']
    path.write_text("\n".join([*map(json.dumps, good), *bad]))
    data = datasets.read(path)
    assert len(data.frame) == 2
    assert data.read == 8
    assert sorted({one.row for one in data.refused}) == [3, 4, 5, 6, 7, 8]
    assert {one.row for one in data.refused if one.column == "score_default"} == {3, 4, 5, 6, 7}
    assert "nan" in str(data.refused[0])


def test_a_repeated_row_counts_once_and_says_which_it_repeats(tmp_path: Path) -> None:
    data = datasets.read(lines(tmp_path / "h20.jsonl", [scores(2.0), scores(3.0, task_id=2), scores(2.0)]))
    assert len(data.frame) == 2
    assert [str(one) for one in data.refused] == ["h20.jsonl, row 3: repeats row 1 of h20.jsonl"]


@pytest.mark.parametrize(
    ("times", "result", "unit"),
    [([0.02, 30.0], None, "ms"), ([20.0, 30.0], None, None), ([20.0, 30.0], "us", "us"), ([7e5, 9e5], None, "us")],
)
def test_the_unit_is_read_from_the_times(
    tmp_path: Path, times: list[float], result: str | None, unit: str | None
) -> None:
    rows = [archived(time, Kernel_Name=str(time)) for time in times]
    assert archive(tmp_path, rows, unit=result).unit == unit


def test_a_unit_the_times_exclude_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be that"):
        archive(tmp_path, [archived(0.02)], unit="us")
    with pytest.raises(BadInput, match="known: ms, us"):
        archive(tmp_path, [archived(0.02)], unit="hours")


@pytest.mark.parametrize(
    ("text", "name"),
    [("a100", "A100"), ("3090", "RTX 3090"), ("h20", "H20"), ("NVIDIA H100 PCIe", "H100 PCIe"), ("l40s", "l40s"),
     ("NVIDIA A100-SXM4-80GB", "A100 80GB"), ("NVIDIA GeForce RTX 3090 Ti", "NVIDIA GeForce RTX 3090 Ti")],
)  # fmt: skip
def test_gpus_go_by_the_name_of_the_table(text: str, name: str) -> None:
    assert described(text) == name


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no known dataset has columns colour"):
        datasets.read(lines(tmp_path / "x.jsonl", [{"colour": 1}]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="no file of rows"):
        datasets.read(tmp_path / "empty")
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    lines(mixed / "a100.jsonl", [scores(1.0)])
    lines(mixed / "archive.jsonl", [archived(1.0)])
    with pytest.raises(BadInput, match="give datasets one at a time"):
        datasets.read(mixed)
    (tmp_path / "dataset.toml").write_text('colour = "red"')
    with pytest.raises(BadInput, match="key colour"):
        cuda_l1(tmp_path, [scores(1.0)])
