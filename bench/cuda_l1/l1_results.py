"""Write the table of rows of CUDA-L1 with what is known of each, and its counts into the pages.

    python bench/cuda_l1/l1_results.py FILE OUT... [--values JSON...] [--times JSON...]

FILE as in `l1_screen.py`, OUT folders of it; of a row in several the last counts. JSON are `values.json` and
`times.json` of `l1_on_gpu.py`; where the files of its rows lie beside one, they are judged again by the rules of today.
Writes `verdicts.csv` under `reports/datasets/cuda_l1/`, and all that `l1_pages.py` makes from it; `readings.csv` there
has what readers of the sources made of failures.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import l1_pages
from l1_kinds import (
    CACHE,
    FALLS_BACK,
    MISSING,
    NO_ANSWER,
    NO_CODE,
    NOT_BUILT,
    OPERATORS,
    OWN,
    cached,
    hints_of,
    kind_of,
)
from l1_on_gpu import summary
from l1_pages import FOLDER, NOT_ASKED, Known
from l1_screen import Row, rows

from audit import judge
from audit.apps.batch import state
from audit.apps.batch.screening import RECORDS
from audit.apps.batch.state import Attempt, ItemState
from audit.model import Finding, store
from audit.report import safe_csv
from audit.review import process
from audit.review.process import Source

COLUMNS = (
    "id", "sha256", "state", "hints", "emulated", "task", "gpu", "torch_refuses", "published", "eager", "compile",
    "do_bench", "doubt", "evidence", "read",
)  # fmt: skip
EVIDENCE = 240
"""Characters of a piece of evidence that are kept."""
KERNEL = "__global__"
"""In the text of a source with a kernel, also one that is compiled from a string or from a file that it writes."""
REFUSALS = ("review.undeclared_binding", "review.second_module")
"""The hints of the source review that torch cannot build an extension."""
Screened = tuple[Attempt, tuple[Finding, ...], str]
"""An attempt, the findings of its record, and whether the task can tell."""


def screened(folders: Sequence[Path]) -> dict[str, Screened]:
    """Return the last attempt of each row, and the findings and the state of the task of its record."""
    found: dict[str, Screened] = {}
    for folder in folders:
        for path in sorted(folder.glob("shard_*/items/*.json")):
            one = state.read(ItemState, path)
            if one.last is None:
                continue
            record = path.parents[1] / RECORDS / one.item / "emulated" / store.RECORD
            known = judge.opened(record) if record.is_file() else None
            task = known and known.verdict.task
            found[one.item] = one.last, known.findings if known else (), task.state if task else ""
    return found


def reviewed(known: dict[str, Row]) -> dict[str, list[Finding]]:
    """Return the findings of the source review of each row with code."""
    with_code = [row for row in known.values() if row.code]
    sources = [Source(row.code, True, row.name, "fp32", True) for row in with_code]
    return {row.name: found for row, found in zip(with_code, process.findings(sources), strict=True)}


def line(row: Row, emulated: Screened | None, gpu: Known, hints: list[Finding]) -> Known:
    """Return the row of the table, without its times."""
    attempt, findings, task = emulated or (None, (), "")
    refused = any(one.probe in REFUSALS and one.outcome == "fail" for one in hints) or bool(gpu.get("refused"))
    kind = gpu.get("kind", NO_ANSWER)
    kind = kind_of(findings) if kind == NO_ANSWER else kind
    verdict = (
        "" if attempt is None else NO_ANSWER if attempt.outcome == NO_ANSWER else attempt.verdict or attempt.outcome
    )
    reasons = attempt.reasons if attempt is not None else ()
    evidence = gpu.get("evidence") or (reasons[0] if reasons else "")
    name = kind
    if not row.code:
        name = NO_CODE
    elif attempt is not None and any("not valid Python" in one or "no audit without" in one for one in reasons):
        name, verdict = MISSING, ""
    elif NOT_BUILT in (gpu.get("values"), verdict):
        name = NOT_BUILT
    elif kind != OWN and (refused or (kind == OPERATORS and KERNEL in row.code)):
        name = FALLS_BACK
    elif attempt is None and not gpu:
        name = NOT_ASKED
    elif cached(findings) or gpu.get("cached"):
        name = CACHE
    return {
        "id": row.name,
        "sha256": row.sha256,
        "state": name,
        "hints": " ".join(hints_of(hints)),
        "emulated": verdict,
        "task": task,
        "gpu": gpu.get("values", ""),
        "torch_refuses": "yes" if refused else "",
        "published": row.scores["score_default"] or "",
        "evidence": evidence[:EVIDENCE].replace("\n", " "),
    }


def times(ratios: Sequence[Known]) -> Known:
    """Return the cells of a row's ratios, baseline time over kernel time."""
    found: Known = {}
    for one in ratios:
        found[one["against"]] = f"{one['ratio']:.3f}"
        if one["against"] == "eager":
            found |= {"do_bench": f"{one['do_bench']:.3f}" if one["do_bench"] else "", "doubt": one["doubt"] or ""}
    return found


def again(known: Known, folder: Path) -> Known:
    """Return what is known of a row, from its own file where that lies in the folder."""
    file = folder / f"{known['id']}.jsonl"
    return summary(known["id"], file) if file.is_file() else known


def latest(files: Sequence[Path], whole: Callable[[Known], bool]) -> dict[str, Known]:
    """Return the last answer of each row of which something is known."""
    every = [again(one, file.parent) for file in files for one in json.loads(file.read_text(encoding="utf-8"))]
    return {one["id"]: one for one in every if whole(one)}


def main() -> None:
    """Write the table and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path, nargs="*")
    parser.add_argument("--values", type=Path, nargs="*", default=[])
    parser.add_argument("--times", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    known, emulated = rows(given.file), screened(given.out)
    hints = reviewed(known)
    on_gpu = latest(given.values, lambda one: one["end"] != "cut" or one["values"] != NO_ANSWER)
    timed = latest(given.times, lambda one: bool(one["ratios"]))
    judged = FOLDER / "readings.csv"
    read = {one["id"]: one["judgement"] for one in csv.DictReader(judged.open(newline=""))} if judged.exists() else {}
    every = [
        line(row, emulated.get(name), on_gpu.get(name, {}), hints.get(name, []))
        | times(timed.get(name, {}).get("ratios", []))
        | {"read": read.get(name, "")}
        for name, row in known.items()
    ]
    cells = [[row.get(column, "") for column in COLUMNS] for row in every]
    (FOLDER / "verdicts.csv").write_text(safe_csv.text(COLUMNS, cells), encoding="utf-8")
    l1_pages.write()


if __name__ == "__main__":
    main()
