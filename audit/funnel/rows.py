"""A dataset as a collection: one item a row; claim folders are made of the rows that are left, when they are needed."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from audit import datasets, importers
from audit.datasets import formats
from audit.datasets.dataset import Dataset
from audit.datasets.rules import duplicates, floor
from audit.errors import BadInput
from audit.funnel.collection import Collection, Item
from audit.funnel.state import Passage
from audit.importers import tables, writer
from audit.importers.material import Given

IMPOSSIBLE = "impossible time"
NO_CODE, NO_CLAIM, COPY = "no code", "the dataset marks it wrong", "the code of another row"
_ODD = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Rows:
    """The rows of the files of a dataset with what importers need, and what the user says beside them."""

    files: Mapping[str, Any]
    given: Given


def of_dataset(path: Path, folder: Path, *, gpu: str | None = None, unit: str | None = None) -> Collection:
    """The rows of a dataset, each with what the lint over all of them says about it.

    Args:
        path: as for `audit lint`.
        folder: where claim folders are made.
        gpu: the GPU of rows that name none.
        unit: of times.

    Raises:
        BadInput: as `datasets.read`.
    """
    data = datasets.read(path, gpu=gpu, unit=unit)
    rows = Rows(_sources(path, data), Given(gpu=gpu, unit=unit))
    told = _told(data)
    items = []
    for file, row in zip(data.frame["file"], data.frame["row"], strict=True):
        name = f"{_ODD.sub('_', Path(str(file)).name.partition('.')[0].lower()).strip('_') or 'rows'}_{row:06}"
        cells = {str(key): cell for key, cell in rows.files[file].loc[row].items() if cell is not None and cell == cell}
        text = json.dumps(cells, sort_keys=True, default=str)
        made = partial(_make, text=text, name=f"{Path(str(file)).name.partition('.')[0]}-row-{row}", given=rows.given)
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        items.append(Item(name, folder / name, digest, made=made, told=told.get((str(file), int(row)))))
    gone = data.read - len(data.frame)
    notes = (
        *data.notes,
        f"{gone:,} of {data.read:,} rows were left out when the dataset was read; `audit lint` says why.",
    )
    return Collection(path.name, tuple(items), notes if gone else data.notes)


def _sources(path: Path, data: Dataset) -> dict[str, Any]:
    form = formats.FORMATS[data.format]
    found = {}
    for file in data.frame["file"].unique():
        place = path / file if path.is_dir() else path
        there = tables.names(place)
        figures = [name for name in form.figures if name in there]
        columns = [name for name in (*form.figures, *form.others, *form.sources) if name in there]
        found[file] = tables.read(place, columns, numbers=figures).frame
    return found


def _told(data: Dataset) -> dict[tuple[str, int], Passage]:
    """By file and row: what the lint over the dataset settles or leaves out, the strongest reason last."""
    frame = data.frame
    claims = frame[frame["correct"] & frame["has_code"]]
    left_out = (
        (duplicates.copies(claims), COPY, "an earlier row of this task holds the same code"),
        (frame[~frame["correct"]], NO_CLAIM, "a row that its own dataset marks wrong claims nothing"),
        (frame[~frame["has_code"]], NO_CODE, "a figure without code can be linted, not audited"),
    )
    told = {}
    for rows, why, reason in left_out:
        for file, row in zip(rows["file"], rows["row"], strict=True):
            told[file, row] = Passage(stage="lint", outcome="left out", verdict=why, reasons=(reason,))
    for one in floor.run(data).marks:
        if one.grade == "proved" and (one.file, one.row) not in told:
            told[one.file, one.row] = Passage(stage="lint", outcome="settled", verdict=IMPOSSIBLE, reasons=(one.text,))
    return told


def _make(folder: Path, *, text: str, name: str, given: Given) -> None:
    """Imports one row, as a file of its own, into a claim folder. Raises BadInput if something essential is missing."""
    with tempfile.TemporaryDirectory(prefix="audit-") as scratch:
        file = Path(scratch) / f"{name}.jsonl"
        file.write_text(text + "\n", encoding="utf-8", errors="surrogateescape")
        imported = importers.read([file], given=given)
    lacking = [str(one) for one in imported.missing if one.essential]
    if lacking:
        raise BadInput(f"{name}: no audit without {'; '.join(lacking)}")
    writer.write(imported, folder)
