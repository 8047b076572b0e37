"""Do kernels that the dataset itself marks as wrong carry a speedup?"""

from __future__ import annotations

from audit.lint.datasets.answer import Answer, count, mark, not_asked, times
from audit.lint.datasets.dataset import Dataset

NAME = "marked_wrong"
TITLE = "Speedups of kernels marked wrong"


def run(data: Dataset) -> Answer:
    """Return their number, and the median with them."""
    frame = data.frame
    if frame["correct"].all():
        return not_asked(NAME, TITLE, "no row is marked wrong, or the dataset marks none")
    scored = frame[frame[data.headline].notna()]
    wrong = scored[~scored["correct"]]
    sentences = [
        f"{count(len(wrong), len(scored))} of the rows with a speedup are marked wrong; no figure counts them."
    ]
    if len(wrong) and len(data.scored):
        least, most = data.scored[data.headline].median(), scored[data.headline].median()
        sentences.append(f"Counted all the same, the median would move from {times(least)} to {times(most)}.")
    bias = ("A dataset's own mark is taken as it is: kernels it marks right may be wrong; an audit of each tells.",)
    text = "marked wrong, with a speedup of"
    marks = tuple(mark(row, NAME, "hint", f"{text} {times(row[data.headline])}") for _, row in wrong.iterrows())
    return Answer(NAME, TITLE, tuple(sentences), bias, (), marks)
