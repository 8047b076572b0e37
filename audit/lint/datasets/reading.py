"""A file or a folder of files → one dataset; bad rows are left out with file, row and column, repeated rows too."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
from pydantic import ValidationError

from audit.claims.importers import tables
from audit.claims.importers.rows import Rejected
from audit.claims.importers.tables import Table
from audit.lint.datasets import formats
from audit.lint.datasets.dataset import NOT_STATED, RATIO, About, Dataset, Format, Refused, completed, sound
from audit.model import gpus, untrusted
from audit.model.base import problem
from audit.model.errors import BadInput

SUFFIXES = (".parquet", ".csv", ".csv.gz", ".json", ".json.gz", ".jsonl", ".jsonl.gz", ".ndjson")
DESCRIPTION = "dataset.toml"
OWN = "lint.csv"
"""What `audit lint --out` writes, perhaps into the folder it reads."""
UNITS = ("ms", "us")
SHORTEST_US = 0.5
"""The resolution of CUDA events, about half a microsecond (CUDA Runtime API, cudaEventElapsedTime): nothing shorter is
measured with them, so a smaller number is no count of microseconds."""
LONGEST_MS = 600_000.0
"""Ten minutes: no benchmark waits so long for a call, so times that are all above it are no milliseconds."""
SHOWN_NAMES = 5
LEAST, MOST = 1e-12, 1e12
"""No time in any unit and no ratio lies outside; what does would overflow a sum or a quotient."""


def read(path: Path, *, gpu: str | None = None, unit: str | None = None) -> Dataset:
    """Read a file, or the files of rows in a folder, with the `dataset.toml` beside it where there is one.

    `gpu` is that of rows that name none; without a `unit` that of times is read from them. Raises BadInput: no such
    file, no rows, files of different formats, or a unit the times exclude.
    """
    files = _files(path)
    description = path / DESCRIPTION if path.is_dir() else path.with_name(DESCRIPTION)
    known = _description(description) if description.is_file() else About()
    parts = [_part(file) for file in files]
    form = parts[0][0]
    other = next((file.name for file, part in zip(files, parts, strict=True) if part[0] is not form), None)
    if other is not None:
        raise BadInput(f"{path}: {files[0].name} is {form.name}, {other} is not; give datasets one at a time")
    frame = pd.concat([part[1] for part in parts], ignore_index=True)
    refused = [one for part in parts for one in part[2]]
    read_rows = len(frame) + len({(one.file, one.row) for one in refused})
    frame, twice = _once(frame)
    frame, notes = _with_gpu(frame, gpu or known.gpu)
    decided, sentence = _unit(frame["kernel_time"], stated=unit)
    return Dataset(
        name=known.title or path.name,
        format=form.name,
        frame=frame,
        baselines=tuple(name for name in form.baselines if RATIO + name in frame),
        unit=decided,
        read=read_rows,
        refused=(*refused, *twice),
        notes=(*notes, sentence),
        about=known,
    )


def _description(path: Path) -> About:
    """Return the description in `path`. Raises BadInput for no TOML, or a key that does not belong there."""
    try:
        table = untrusted.toml(untrusted.source_text(path).decode("utf-8"), str(path))
        return About.model_validate_json(json.dumps(table, default=str))
    except RecursionError as error:
        raise BadInput(f"{path}: nested too deeply to be read") from error
    except ValidationError as error:
        raise BadInput(f"{path}: key {problem(error)}; known: {', '.join(About.model_fields)}") from error


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = [file for file in path.iterdir() if file.name.endswith(SUFFIXES) and file.name != OWN and file.is_file()]
    if not found:
        raise BadInput(f"{path}: no file of rows in this folder; known: {', '.join(SUFFIXES)}")
    return sorted(found)


def _part(file: Path) -> tuple[Format, pd.DataFrame, list[Refused]]:
    if sound(file.name) != file.name:
        raise BadInput(f"{sound(str(file))}: the name is not UTF-8; rename the file")
    there = tables.names(file)
    form = formats.recognised(there, file=str(file))
    columns = [name for name in (*form.figures, *form.others) if name in there]
    figures = [name for name in form.figures if name in there]
    positive, numbers = (figures, []) if form.none is None else ([], figures)
    table, bad = _plausible(tables.read(file, columns, numbers=numbers, positive=positive), figures, none=form.none)
    frame = completed(pd.DataFrame(form.convert(table), index=table.frame.index))
    found = sorted((*table.rejected, *bad), key=lambda one: one.row)
    refused = [Refused(one.row, one.column, one.reason, file.name) for one in found]
    return form, frame.assign(file=file.name, row=frame.index), refused


def _plausible(table: Table, columns: list[str], *, none: float | None) -> tuple[Table, list[Rejected]]:
    """Return the rows whose figures can be times or ratios, with NaN for the number that stands for none."""
    frame = table.frame.assign(**{name: table.frame[name].where(table.frame[name] != none) for name in columns})
    bad = [
        Rejected(int(row), name, f"{frame.at[row, name]} is no time or ratio; it must be above zero and under {MOST:g}")
        for name in columns
        for row in frame.index[frame[name].notna() & ~frame[name].between(LEAST, MOST)]
    ]
    gone = {one.row for one in bad}
    return replace(table, frame=frame[~frame.index.isin(gone)]), bad


def _once(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[Refused]]:
    """Return rows without those that repeat another in everything but their place."""
    same = [name for name in frame if name not in ("file", "row")]
    repeated = frame.duplicated(same, keep="first")
    group = frame.groupby(same, dropna=False, sort=False)
    first_file, first_row = (group[name].transform("first") for name in ("file", "row"))
    refused = [
        Refused(int(frame["row"][at]), "", f"repeats row {first_row[at]} of {first_file[at]}", str(frame["file"][at]))
        for at in frame.index[repeated]
    ]
    return frame[~repeated].reset_index(drop=True), refused


def _with_gpu(frame: pd.DataFrame, text: str) -> tuple[pd.DataFrame, list[str]]:
    silent = frame["gpu"] == NOT_STATED
    if not silent.any():
        names = list(frame["gpu"].unique())
        many = f"{len(names)} GPUs are in it ({', '.join(names[:SHOWN_NAMES])}): no figure is pooled over them."
        return frame, [many] if len(names) > 1 else []
    if not text:
        return frame, [f"{int(silent.sum()):,} rows name no GPU; --gpu says which one they speak of."]
    where = gpus.described(text)
    return frame.assign(gpu=frame["gpu"].where(~silent, where)), [
        f"{int(silent.sum()):,} rows that name no GPU are read as {where}."
    ]


def _unit(times: pd.Series, *, stated: str | None) -> tuple[str | None, str]:
    """Return the unit of published times, None where nothing decides, and the sentence that says why.

    The user's word (`stated`) is believed unless the times, NaN where there is none, exclude it. Raises BadInput: the
    user's unit is unknown, or excluded by the times.
    """
    if stated is not None and stated not in UNITS:
        raise BadInput(f"--unit {stated}: unknown; known: {', '.join(UNITS)}")
    known = times.dropna()
    if known.empty:
        return None, "No times are published, only ratios."
    least = float(known.min())
    if least < SHORTEST_US:
        return _agreed(
            "ms", stated, f"the shortest, {least:.3g}, would be under the {SHORTEST_US} µs CUDA events resolve"
        )
    if least > LONGEST_MS:
        return _agreed("us", stated, f"the shortest, {least:.3g}, would be more than ten minutes in milliseconds")
    if stated is not None:
        return stated, f"Times are read as {stated}, as asked."
    return None, (
        f"Nothing says whether times are ms or µs (the shortest is {least:.3g}); give --unit to have them held "
        "against the hardware. Ratios do not depend on it."
    )


def _agreed(unit: str, result: str | None, why: str) -> tuple[str, str]:
    if result not in (None, unit):
        raise BadInput(f"--unit {result}: the times cannot be that: {why}; leave the option out")
    return unit, f"Times are {unit}: {why}."
