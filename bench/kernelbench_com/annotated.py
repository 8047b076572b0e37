"""Write what an audit on a GPU made of annotated runs of kernelbench.com: a table of runs, and the figures of its page.

    python bench/kernelbench_com/annotated.py OUT...

OUT are folders of `ask.py`; of a job in several the last counts, and of a run in none the row that is committed. Where
OUT has the record of a job, it is judged by the rules of today. Writes `verdicts.csv` and the figures in `README.md`
under `reports/datasets/kernelbench_com/`, and prints these. A run has the gravest verdict of its sizes. A job that was
cut has an answer only where something was proved before. `due` in `annotations.csv` says which verdicts an annotation
calls for, as decided before any run was asked; `readings.csv` is what readers of the sources made of each failure.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from audit import judge
from audit.apps.selftest.score import interval
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


def share(every: list[Run], counts: Callable[[Run], bool]) -> str:
    """Return `3 of 9, 33 % (12 % to 65 %)`, or that there is none."""
    if not every:
        return "none"
    number = sum(map(counts, every))
    low, high = interval(number, len(every))
    return f"{number} of {len(every)}, {number / len(every):.0%} ({low:.0%} to {high:.0%})"


def by_annotation(every: list[Run]) -> str:
    """Return annotations and verdicts side by side as a table in Markdown."""
    known = Counter((run.row["annotation"], run.verdict) for run in every)
    names = [name for name in GRAVEST if any(verdict == name for _, verdict in known)]
    lines = [f"| Annotation | {' | '.join(names)} |", f"| --- |{' ---: |' * len(names)}"]
    for annotation in sorted({run.row["annotation"] for run in every}):
        lines.append(f"| {annotation} | {' | '.join(str(known[annotation, name]) for name in names)} |")
    return "\n".join(lines)


def by_kind(every: list[Run]) -> str:
    """Return what annotations name, and how many of these were caught, as a table in Markdown."""
    lines = ["| What the annotation names | Verdict that is due | Asked | Answered | Caught | Named by a hint alone |",
             "| --- | --- | ---: | ---: | ---: | ---: |"]  # fmt: skip
    named = [run for run in every if run.row["kind"]]
    for kind, due in sorted({(run.row["kind"], run.row["due"]) for run in named}):
        of = [run for run in named if (run.row["kind"], run.row["due"]) == (kind, due)]
        caught = str(sum(run.caught for run in of)) if due else "-"
        words = due.replace("|", " or ") or "none without a time"
        hinted = sum(run.hinted and not run.caught for run in of)
        lines.append(f"| {kind} | {words} | {len(of)} | {sum(run.answered for run in of)} | {caught} | {hinted} |")
    return "\n".join(lines)


def rates(every: list[Run]) -> str:
    """Return sensitivity and false failures, each with its interval, as a list in Markdown."""
    reach = [run for run in every if run.within_reach]
    answered, named = [run for run in reach if run.answered], [run for run in every if run.row["kind"]]
    clean = [run for run in every if run.row["annotation"] == "clean" and run.answered]
    lines = [f"- Within reach and answered, caught: {share(answered, lambda run: run.caught)}."]
    for name in ("reward_hack", "bug"):
        of = [run for run in answered if run.row["annotation"] == name]
        lines.append(f"- Of these `{name}`: {share(of, lambda run: run.caught)}.")
    lines += [
        f"- Within reach, caught, those without an answer counted as missed: {share(reach, lambda run: run.caught)}.",
        f"- Of all named runs, caught or named by a hint: {share(named, lambda run: run.caught or run.hinted)}.",
        f"- `clean` and answered, *wrong* or *undefined*: {share(clean, lambda run: run.verdict in FAILS)}.",
        f"- `clean` and answered, *aliased result*: {share(clean, lambda run: run.verdict == ALIASED)}.",
    ]
    return "\n".join(lines)


def answers(every: list[Run]) -> str:
    """Return how many runs have an answer and why others have none, by annotation, as a table in Markdown."""
    names = ("clean", "reward_hack", "bug")
    known = Counter((run.row["annotation"], "" if run.answered else run.row["outcome"]) for run in every)
    reasons = ["", *sorted({reason for _, reason in known} - {""}, key=lambda reason: (reason not in WITHOUT, reason))]
    lines = ["| | clean | reward_hack | bug |", "| --- | ---: | ---: | ---: |"]
    for reason in reasons:
        words = WITHOUT.get(reason, reason) if reason else "**with an answer**"
        lines.append(f"| {words} | {' | '.join(str(known[name, reason]) for name in names)} |")
    return "\n".join(lines)


def readings(every: list[Run]) -> str:
    """Return what readers made of the failures, as a table in Markdown; each failure is to be there."""
    read = {row["run"]: row for row in rows(READINGS)}
    lines = ["| Run | Annotated | Verdict | Reading | What was read |", "| --- | --- | --- | --- | --- |"]
    for run in every:
        if run.verdict in (*FAILS, ALIASED, "overstated"):
            said = read.get(run.row["run"], {"judgement": "not read", "named": "", "defect": ""})
            other = ", another defect than the annotation names" if said["named"] == "no" else ""
            cells = (
                f"`{run.row['run']}`",
                run.row["annotation"],
                run.verdict,
                said["judgement"] + other,
                said["defect"],
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def chosen() -> str:
    """Return the counts of all annotated runs, asked and left out, as a table in Markdown."""
    known = Counter((row["annotation"], row["left_out"] or "asked") for row in rows(FOLDER / "runs.csv")
                    if row["annotation"] in ("clean", "reward_hack", "bug"))  # fmt: skip
    reasons = ["asked", *sorted({reason for _, reason in known} - {"asked"})]
    lines = ["| | clean | reward_hack | bug |", "| --- | ---: | ---: | ---: |"]
    for reason in reasons:
        numbers = (str(known[name, reason]) for name in ("clean", "reward_hack", "bug"))
        lines.append(f"| {reason} | {' | '.join(numbers)} |")
    return "\n".join(lines)


def main() -> None:
    """Write the table and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="*")
    given = parser.parse_args()
    page = FOLDER / "README.md"
    parts = {"chosen": chosen()}
    if given.out:
        every = runs(states(given.out))
        parts |= {"answers": answers(every), "readings": readings(every)}
        parts |= {"annotations": by_annotation(every), "kinds": by_kind(every), "rates": rates(every)}
        with (FOLDER / VERDICTS).open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(run.row for run in every)
    text = page.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", rf"\1{part}\n\2", text, flags=re.DOTALL)
    page.write_text(text, encoding="utf-8")
    print(*parts.values(), sep="\n\n")


if __name__ == "__main__":
    main()
