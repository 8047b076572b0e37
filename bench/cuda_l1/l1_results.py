"""Write the table of rows of CUDA-L1 with what is known of each, and its counts into the pages.

    python bench/cuda_l1/l1_results.py FILE [OUT...] [--gpu OUT...]

FILE as in `l1_cases.py`, OUT folders of `bench/audits.py`, on the emulated device and behind `--gpu` on a GPU, with
times or without; of a row in several the last counts, and one in none keeps its committed row. Records are judged by
the rules of today. Writes `verdicts.csv` under `reports/datasets/cuda_l1/`, and all that `l1_pages.py` makes from it;
`readings.csv` there has what readers of the sources made of failures.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import l1_pages
from l1_cases import Row, rows
from l1_pages import (
    CACHE,
    FALLS_BACK,
    FOLDER,
    MISSING,
    NO_ANSWER,
    NO_CODE,
    NOT_ASKED,
    NOT_BUILT,
    OPERATORS,
    OWN,
    RIGHT,
    SO_FAR,
    Known,
    cached,
    hints_of,
    kind_of,
    values_of,
)

from audit import judge
from audit.judge.evidence import BUILD, KERNELS, deciding_about
from audit.model import Finding, Record
from audit.model.store import RECORD
from audit.report import safe_csv
from audit.review import hints
from audit.review.hints import Source

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
Asked = tuple[Known, Record | None]
"""The state of a row, and its record, judged by the rules of today."""


def asked(folders: Sequence[Path]) -> dict[str, Asked]:
    """Return the last state and record of each row; one that was cut counts as far as it came."""
    return dict(one for folder in folders for one in _of_folder(folder))


def _of_folder(folder: Path) -> Iterator[tuple[str, Asked]]:
    for path in sorted(folder.glob("states/*.json")):
        record = folder / "records" / path.stem / RECORD
        known = judge.opened(record) if record.is_file() else None
        yield path.stem, (json.loads(path.read_text(encoding="utf-8")), known)


def on_gpu(state: Known, record: Record | None) -> Known:
    """Return what is known of a row on a GPU: its values, whose kernels ran, and what torch's builder refuses."""
    findings = [] if record is None else deciding_about(record.findings, record.claimed_name)
    values, evidence = values_of(findings)
    if (build := next((one for one in findings if one.probe == BUILD and one.outcome != "pass"), None)) is not None:
        values, evidence = NOT_BUILT if build.outcome == "fail" else NO_ANSWER, build.summary
    return {
        "values": SO_FAR if values == RIGHT and state["outcome"] != "finished" else values,
        "evidence": evidence or next(iter(state["reasons"]), ""),
        "kind": kind_of(findings),
        "cached": cached(findings),
        "refused": any(one.evidence.get("refused_by_torch") for one in findings if one.probe == KERNELS),
    }


def reviewed(known: dict[str, Row]) -> dict[str, list[Finding]]:
    """Return the findings of the source review of each row with code."""
    with_code = [row for row in known.values() if row.code]
    sources = [Source(row.code, row.name, python=True, advice=True) for row in with_code]
    return {row.name: found for row, found in zip(with_code, hints.findings(sources), strict=True)}


def line(row: Row, emulated: Asked | None, gpu: Known, hints: list[Finding]) -> Known:
    """Return the row of the table, without its times."""
    state, record = emulated or ({}, None)
    findings = () if record is None else record.findings
    task = "" if record is None or record.verdict.task is None else record.verdict.task.state
    refused = any(one.probe in REFUSALS and one.outcome == "fail" for one in hints) or bool(gpu.get("refused"))
    kind = gpu.get("kind", NO_ANSWER)
    kind = kind_of(findings) if kind == NO_ANSWER else kind
    verdict: str = record.verdict.name if record is not None and state["outcome"] == "finished" else ""
    reasons = state.get("reasons", [])
    if state and verdict in ("", "undecided"):
        verdict, reasons = NO_ANSWER, state["missing"] or reasons
    evidence = gpu.get("evidence") or (reasons[0] if reasons else "")
    name = kind
    if not row.code:
        name = NO_CODE
    elif any("not valid Python" in one or "no audit without" in one for one in reasons):
        name, verdict = MISSING, ""
    elif NOT_BUILT in (gpu.get("values"), verdict):
        name = NOT_BUILT
    elif kind != OWN and (refused or (kind == OPERATORS and KERNEL in row.code)):
        name = FALLS_BACK
    elif not state and not gpu:
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


def main() -> None:
    """Write the table and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path, nargs="*")
    parser.add_argument("--gpu", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    known, emulated, gpu = rows(given.file), asked(given.out), asked(given.gpu)
    hints = reviewed(known)
    timed = {
        path.stem: json.loads(path.read_text())["ratios"] for one in given.gpu for path in one.glob("times/*.json")
    }
    before, judged = {one["id"]: one for one in l1_pages.committed()}, FOLDER / "readings.csv"
    read = {one["id"]: one["judgement"] for one in csv.DictReader(judged.open(newline=""))} if judged.exists() else {}
    every = []
    for name, row in known.items():
        line_now = before.get(name, {})
        if name in emulated or name in gpu or name not in before:
            there = on_gpu(*gpu[name]) if name in gpu else {}
            line_now = line(row, emulated.get(name), there, hints.get(name, []))
        every.append(line_now | times(timed.get(name, ())) | {"read": read.get(name, "")})
    cells = [[row.get(column, "") for column in COLUMNS] for row in every]
    (FOLDER / "verdicts.csv").write_text(safe_csv.text(COLUMNS, cells), encoding="utf-8")
    l1_pages.write()


if __name__ == "__main__":
    main()
