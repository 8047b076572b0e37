"""The published examples: their pages are what their rows give, and say what must be found in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit.lint import datasets
from audit.lint.datasets import page
from audit.lint.datasets.answer import Answer
from audit.lint.datasets.dataset import Dataset
from audit.lint.datasets.rules.baselines import median_of_strongest
from audit.report import html, markdown

PUBLISHED = Path(__file__).resolve().parents[2] / "reports" / "datasets"
FOLDER = PUBLISHED / "cuda_l1"
PICTURE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+")


@pytest.fixture(scope="module")
def data() -> Dataset:
    return datasets.read(FOLDER / "cuda_l1_scores.csv")


@pytest.fixture(scope="module")
def answers(data: Dataset) -> dict[str, Answer]:
    return {answer.rule: answer for answer in datasets.lint(data)}


def test_medians_against_the_strongest_of_its_own_baselines(data: Dataset) -> None:
    medians = {gpu: f"{median_of_strongest(rows, data):.2f}" for gpu, rows in data.by_gpu()}
    assert medians == {"A100": "1.02", "H100": "0.99", "RTX 3090": "1.02", "H20": "1.00", "L40": "1.01"}


def test_the_rows_that_carry_the_headline_means_are_named(answers: dict[str, Answer]) -> None:
    result = answers["carried_mean"]
    carriers = {mark.place for mark in result.marks}
    assert {"H100, level 2, task 96", "A100, level 2, task 83", "A100, level 1, task 12"} <= carriers
    assert any("H100: mean 4.14x" in one and "without its largest row 2.53x" in one for one in result.sentences)


def test_34_rows_of_the_a100_have_contradicting_baselines(answers: dict[str, Answer]) -> None:
    counted = {row[0]: row[2] for row in answers["baselines_disagree"].tables[0].rows}
    assert counted["A100"].startswith("34 of ")


def test_the_farthest_fall_is_the_one_known(answers: dict[str, Answer]) -> None:
    first = answers["strongest_baseline"].marks[0]
    assert first.place == "H100, level 2, task 96"
    assert first.text == "368.2x against eager, 1.25x against torch.compile"


def test_the_means_of_cuda_l2_are_confirmed_and_its_largest_products_on_an_h100_are_slower() -> None:
    answers = {answer.rule: answer for answer in datasets.lint(datasets.read(PUBLISHED / "cuda_l2"))}
    assert {row[-1] for row in answers["published"].tables[0].rows} == {"the same"}
    (row,) = [row for row in answers["where_work_is"].tables[0].rows if row[0] == "H100"]
    assert row[2:6] == ("22 of 1,000", "0.90x", "0.89x", "1.04x")


@pytest.mark.parametrize("folder", [FOLDER, PUBLISHED / "cuda_l2"], ids=["cuda_l1", "cuda_l2"])
def test_the_pages_derive_from_the_rows(folder: Path) -> None:
    from audit.lint.datasets import figures

    data = datasets.read(folder / "cuda_l1_scores.csv" if folder == FOLDER else folder)
    answers = datasets.lint(data)
    drawn = figures.draw(data)
    report = page.build(data, list(answers), drawn)
    shown = PICTURE.sub("picture", html.render(report))
    assert PICTURE.sub("picture", (folder / "lint.html").read_text(encoding="utf-8")) == shown
    assert (folder / "lint.md").read_text(encoding="utf-8") == markdown.render(report, figures="figures")
    assert (folder / "lint.csv").read_text(encoding="utf-8") == page.rows(list(answers))
    for figure in drawn.values():
        assert (folder / "figures" / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")
        assert figure.dark.startswith(b"\x89PNG")
        assert figure.dark != figure.png


def test_its_source_is_cited(data: Dataset) -> None:
    assert data.about.source.startswith("https://")
    assert data.about.source in (FOLDER / "lint.md").read_text(encoding="utf-8")
