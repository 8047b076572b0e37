"""Annotated runs of kernelbench.com with what an audit on a GPU made of them: the committed rows, and those of a visit.

A run has the gravest verdict of its sizes. A job that was cut has an answer only where something was proved before.
`due` in `annotations.csv` says which verdicts an annotation calls for, as decided before any run was asked;
`readings.csv` is what readers of the sources made of each failure.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from audit import judge
from audit.model import store

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "reports" / "datasets" / "kernelbench_com"
VERDICTS, READINGS = "verdicts.csv", FOLDER / "readings.csv"
COLUMNS = ("run", "problem", "gpu", "annotation", "kind", "due", "sha256", "outcome", "verdict", "sizes", "hints",
           "evidence")  # fmt: skip
GRAVEST = ("wrong", "undefined", "cannot be built", "aliased result", "vacuous", "reduced precision", "mistimed",
           "overstated", "no defect found", "no answer")  # fmt: skip
FAILS, ALIASED, NO_ANSWER = ("wrong", "undefined"), "aliased result", "no answer"
RIGHT_SO_FAR = ("vacuous", "no defect found")
"""Verdicts that a probe which was not reached could have changed."""
WITHOUT = {
    "cut": "ended at the limit of a job, or with the visit, before anything was decided",
    "bad input": "refused: the kit could not read the task or the source",
    "finished": "asked to the end, undecided",
}
"""Why a run has no answer, by the outcome of its job; those of `crashed` and `failed` are shown as they are."""
HINTS = {
    "library": ("kernels_ran", "review.library_operator"),
    "caller": ("review.harness_sniffing",),
    "cache": ("review.last_call", "review.result_cache", "review.static_cache"),
    "process": ("backend_flags", "review.backend_flags", "review.backend_settings"),
    "timing": ("review.cache_control",),
}
"""The hints that name what an annotation of that kind names; a hint fails no kernel."""
EVIDENCE = 240
"""Characters of the first reason that are kept."""


@dataclass(frozen=True)
class Run:
    """A run that was asked, with its row of the two tables."""

    row: dict[str, str]

    @property
    def verdict(self) -> str:
        """The gravest verdict of its sizes."""
        return self.row["verdict"]

    @property
    def answered(self) -> bool:
        """Whether some size was decided."""
        return self.verdict != NO_ANSWER

    @property
    def within_reach(self) -> bool:
        """Whether an audit without times can see what the annotation names."""
        return bool(self.row["due"])

    @property
    def caught(self) -> bool:
        """Whether it has a verdict that is due, for a reason that its reader did not find false."""
        return self.within_reach and self.verdict in self.row["due"].split("|") and self.row["run"] not in false()

    @property
    def hinted(self) -> bool:
        """Whether a hint names it."""
        return bool({*self.row["hints"].split()} & {*HINTS.get(self.row["kind"], ())})


def verdict(state: dict[str, object]) -> str:
    """Return the verdict of one job; one that was not decided, or was cut with nothing proved, is no answer."""
    name = str(state["verdict"])
    unfinished = state["outcome"] == "cut" and name in RIGHT_SO_FAR
    return name if name in GRAVEST and not unfinished else NO_ANSWER


def states(folders: Iterable[Path]) -> dict[str, list[dict[str, object]]]:
    """Return the states of all jobs, by run."""
    found: dict[str, dict[str, object]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.json")):
            if path.parent.name == "states":
                found[path.name] = _judged_now(json.loads(path.read_text(encoding="utf-8")), path)
    by_run: dict[str, list[dict[str, object]]] = {}
    for state in found.values():
        by_run.setdefault(str(state["run"]), []).append(state)
    return by_run


def _judged_now(state: dict[str, object], path: Path) -> dict[str, object]:
    """Return a state with the verdict of its record by the rules of today, where it had one and a record is there."""
    record = path.parents[1] / "records" / path.stem / store.RECORD
    if not state["verdict"] or not record.exists():
        return state
    found = judge.judge(store.read(record))
    return state | {"verdict": found.name, "reasons": [*found.reasons], "missing": [*found.missing]}


def rows(name: Path) -> list[dict[str, str]]:
    """Return the rows of a table."""
    with name.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def false() -> frozenset[str]:
    """Return the runs whose verdict a reader of the source found false."""
    return frozenset(row["run"] for row in rows(READINGS) if row["judgement"] == "false")


def runs(by_run: dict[str, list[dict[str, object]]]) -> list[Run]:
    """Return all chosen runs, those without a state as they are committed."""
    said = {row["run"]: row for row in rows(HERE / "annotations.csv")}
    before = {row["run"]: Run(row) for row in rows(FOLDER / VERDICTS)}
    chosen = [row for row in rows(FOLDER / "runs.csv") if row["chosen"]]
    return [
        _run(row, said.get(row["run"], {}), by_run[row["run"]]) if row["run"] in by_run else before[row["run"]]
        for row in chosen
    ]


def _run(row: dict[str, str], said: dict[str, str], of: list[dict[str, object]]) -> Run:
    gravest = min(of, key=lambda one: GRAVEST.index(verdict(one)), default=None)
    hints = sorted({hint for one in of for hint in _texts(one, "hints")})
    found = NO_ANSWER if gravest is None else verdict(gravest)
    if found == "cannot be built" and row["ported"] and "cannot be built" not in said.get("due", ""):
        found = NO_ANSWER  # its flags were for another GPU, and its instructions may be
    first, second = ("missing", "reasons") if found == NO_ANSWER else ("reasons", "missing")
    reasons = [] if gravest is None else [*_texts(gravest, first), *_texts(gravest, second)]
    kept = {name: row[name] for name in ("run", "problem", "gpu", "annotation", "sha256")}
    return Run(kept | {
        "kind": said.get("kind", ""),
        "due": said.get("due", ""),
        "outcome": "" if gravest is None else str(gravest["outcome"]),
        "verdict": found,
        "sizes": str(sum(verdict(one) != NO_ANSWER for one in of)),
        "hints": " ".join(hints),
        "evidence": " ".join((reasons or ["not asked"])[0].split())[:EVIDENCE],
    })  # fmt: skip


def _texts(state: dict[str, object], key: str) -> list[str]:
    value = state[key]
    return [str(one) for one in value] if isinstance(value, list) else []
