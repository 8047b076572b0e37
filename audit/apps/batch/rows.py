"""A dataset as items, one a row; claim folders are made of the rows that are left, when they are needed."""

from __future__ import annotations

import hashlib
import json
import math
import re
from functools import partial
from pathlib import Path

from audit.apps.batch.items import Item
from audit.apps.batch.state import Attempt
from audit.claims import importers
from audit.claims.importers import tables, writer
from audit.claims.importers.facts import Given
from audit.lint import datasets
from audit.lint.datasets import formats
from audit.lint.datasets.dataset import Dataset
from audit.lint.datasets.rules import hardware
from audit.lint.datasets.rules import rows as row_rules
from audit.model.errors import BadInput
from audit.model.run_directory import Scratch

IMPOSSIBLE = "impossible time"
NO_CODE, NO_CLAIM, COPY = "no code", "the dataset marks it wrong", "the code of another row"
_ODD = re.compile(r"[^a-z0-9]+")


def of_dataset(
    path: Path, folder: Path, *, gpu: str | None = None, unit: str | None = None
) -> tuple[list[Item], tuple[str, ...]]:
    """The rows of a dataset, each with what the lint over all of them says, and notes on how they were read; claim
    folders are made in `folder`. Raises BadInput: as `datasets.read`, which takes the other arguments."""
    data = datasets.read(path, gpu=gpu, unit=unit)
    texts, known, items = _texts(path, data), _known(data), []
    for file, number in zip(data.frame["file"].astype(str), data.frame["row"].astype(int), strict=True):
        row, text = int(number), texts[file, number]
        key = f"{_ODD.sub('_', file.lower()).strip('_') or 'rows'}_{row:06}"
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        name, given = f"{file.partition('.')[0]}-row-{row}", Given(gpu=gpu, unit=unit)
        making = partial(make, text=text, name=name, given=given)
        items.append(Item(key, folder / key, digest, make=making, known=known.get((file, row))))
    gone = data.read - len(data.frame)
    note = f"{gone:,} of {data.read:,} rows were left out when the dataset was read; `audit lint` says why."
    return items, (*data.notes, note) if gone else data.notes


def _texts(path: Path, data: Dataset) -> dict[tuple[str, int], str]:
    """By file and row: the cells that importers need, as one line of JSON."""
    form = formats.FORMATS[data.format]
    found = {}
    for file in data.frame["file"].unique():
        place = path / file if path.is_dir() else path
        there = tables.names(place)
        figures = [name for name in form.figures if name in there]
        columns = [name for name in (*form.figures, *form.others, *form.sources) if name in there]
        frame = tables.read(place, columns, numbers=figures).frame
        for row, cells in zip(frame.index, frame.to_dict("records"), strict=True):
            filled = {
                name: cell
                for name, cell in cells.items()
                if cell is not None and not (isinstance(cell, float) and math.isnan(cell))
            }
            found[file, int(row)] = json.dumps(filled, sort_keys=True, default=str)
    return found


def _known(data: Dataset) -> dict[tuple[str, int], Attempt]:
    """By file and row: what the lint over the dataset settles or leaves out, the strongest reason last."""
    frame = data.frame
    claims = frame[frame["correct"] & frame["has_code"]]
    left_out = (
        (row_rules.copies(claims), COPY, "an earlier row of this task holds the same code"),
        (frame[~frame["correct"]], NO_CLAIM, "a row that its own dataset marks wrong claims nothing"),
        (frame[~frame["has_code"]], NO_CODE, "a figure without code can be linted, not audited"),
    )
    known = {}
    for rows, why, reason in left_out:
        for file, row in zip(rows["file"], rows["row"], strict=True):
            known[file, row] = Attempt(stage="lint", outcome="left out", verdict=why, reasons=(reason,))
    for one in hardware.floor(data).marks:
        if one.grade == "proved" and (one.file, one.row) not in known:
            known[one.file, one.row] = Attempt(stage="lint", outcome="settled", verdict=IMPOSSIBLE, reasons=(one.text,))
    return known


def make(folder: Path, *, text: str, name: str, given: Given) -> None:
    """Imports one row, a line of JSON, into a claim folder. Raises BadInput if something essential is missing."""
    with Scratch() as scratch:
        file = scratch / f"{name}.jsonl"
        file.write_text(text + "\n", encoding="utf-8", errors="surrogateescape")
        imported = importers.read([file], given=given)
    if lacking := imported.blocking():
        raise BadInput(f"{name}: no audit is possible: {lacking}")
    writer.write(imported, folder)
