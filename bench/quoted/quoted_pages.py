"""Write the tables of verdicts, and the figures of their pages, from what `bench/audits.py` kept.

    python bench/quoted/quoted_pages.py OUT...

OUT are folders of that; of a case in several the last counts, and a case in none keeps its committed row. Records are
judged by the rules of today, the timed one where there is one; a case that was cut is not answered. Writes
`verdicts.csv` and the parts between markers in `README.md` of each set under `reports/datasets/`, and prints these.
`readings.csv` is what readers made of failures and of notes.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from quoted_cases import CASES, ROOT

from audit import judge
from audit.apps.selftest.score import interval
from audit.measure.comparison import EAGER
from audit.model import store

SETS = ("stanford", "trimul", "robust_kbench", "cuda_l2_sample")
VERDICTS, READINGS = "verdicts.csv", "readings.csv"
FOUND = ("outcome", "verdict", "device", "seconds", "hints", "evidence", "ms", "ratio_eager", "low", "high",
         "ratio_strongest", "strongest", "doubt")  # fmt: skip
"""The columns behind those of `cases.csv`: `seconds` of the audit without times, `low` and `high` of `ratio_eager`, at
95 %."""
READ = ("wrong", "undefined", "aliased result", "overstated", "reduced precision", "mistimed")
JUDGED = ("finished", "cut")
"""Outcomes whose record is judged again; the state of another says why there is none."""
NO_ANSWER = ("undecided", "incomplete", "")
NOT_ANSWERED, NOT_ASKED, NOT_IMPORTED = "not answered", "not asked", "cannot be imported"
OPEN = (NOT_ANSWERED, NOT_ASKED, NOT_IMPORTED)
"""In the place of a verdict."""
EVIDENCE, DIGITS = 240, 4
Row = dict[str, str]


def found(of: str, case: str, folders: Iterable[Path]) -> Row:
    """Return the cells of a case by the last folder that has it; none where no folder has."""
    cells: Row = {}
    for folder in folders:
        state = folder / "states" / f"{of}_{case}.json"
        if state.exists():
            cells = _cells(folder, f"{of}_{case}", json.loads(state.read_text(encoding="utf-8")))
    return cells


def _cells(folder: Path, name: str, state: dict[str, Any]) -> Row:
    timed, asked = (folder / where / name / store.RECORD for where in ("timed", "records"))
    path = timed if timed.exists() else asked
    times = folder / "times" / f"{name}.json"
    measured = json.loads(times.read_text(encoding="utf-8"))["ratios"] if times.exists() else []
    if path.exists() and state["outcome"] in JUDGED:
        now = judge.judge(store.read(path))
        state |= {"verdict": now.name, "reasons": [*now.reasons], "missing": [*now.missing]}
    cut, undecided = state["outcome"] == "cut", state["verdict"] in NO_ANSWER
    return {
        "outcome": state["outcome"],
        "verdict": NOT_ANSWERED if cut or undecided else state["verdict"],
        "device": state["device"],
        "seconds": f"{state['seconds']:.0f}",
        "hints": " ".join(state["hints"]),
        "evidence": _evidence(state, cut=cut, undecided=undecided)[:EVIDENCE],
        **_times(measured),
    }


def _evidence(state: dict[str, Any], *, cut: bool, undecided: bool) -> str:
    """Return the first reason on one line; of an undecided case what is missing, of one that was cut with its time."""
    reasons = [*state["missing"], *state["reasons"]] if undecided else [*state["reasons"], *state["missing"]]
    first = " ".join((reasons or [""])[0].split())
    return f"cut after {state['seconds']:.0f} s; until then: {first or 'nothing'}" if cut else first


def _times(measured: list[dict[str, Any]]) -> Row:
    """Return the median time, and the ratios over eager and over the fastest baseline."""
    if not measured:
        return dict.fromkeys(("ms", "ratio_eager", "low", "high", "ratio_strongest", "strongest", "doubt"), "")
    eager = next((one for one in measured if one["against"] == EAGER), {})
    best = min(measured, key=lambda one: one["baseline_ms"] or math.inf)
    return {
        "ms": _number(best["ms"]),
        "ratio_eager": _number(eager.get("ratio")),
        "low": _number(eager.get("low")),
        "high": _number(eager.get("high")),
        "ratio_strongest": _number(best["ratio"]),
        "strongest": best["against"],
        "doubt": eager.get("doubt") or best["doubt"],
    }


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.{DIGITS}g}"


def rows(path: Path) -> list[Row]:
    """Return the rows of a table; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(of: str, folders: list[Path]) -> list[Row]:
    """Return all cases of a set with what is known of each."""
    before = {row["case"]: row for row in rows(ROOT / of / VERDICTS)}
    kept = []
    for row in rows(ROOT / of / CASES):
        cells = found(of, row["case"], folders)
        known = before.get(row["case"], {})
        if not cells:
            cells = {name: known.get(name, "") for name in FOUND}
        kept.append(row | cells | {"verdict": cells["verdict"] or (NOT_IMPORTED if row["refused"] else NOT_ASKED)})
    return kept


def counts(every: list[Row]) -> str:
    """Return the verdicts with their shares of all cases that have an answer, and 95 % bounds, in Markdown."""
    known = Counter(row["verdict"] for row in every)
    answered = sum(number for verdict, number in known.items() if verdict not in OPEN)
    lines = ["| Verdict | Cases | Share of those answered |", "| --- | ---: | ---: |"]
    for verdict, number in known.most_common():
        share = "-"
        if verdict not in OPEN:
            low, high = interval(number, answered)
            share = f"{number / answered:.0%} ({low:.0%} to {high:.0%})"
        lines.append(f"| {verdict} | {number} | {share} |")
    return "\n".join(lines)


def cases(every: list[Row]) -> str:
    """Return every case that was asked with its verdict and its ratios in Markdown, and the number of the others."""
    lines = ["| Case | Published | Verdict | Over eager here | Over the strongest here | Time |",
             "| --- | ---: | --- | ---: | ---: | ---: |"]  # fmt: skip
    asked = [row for row in every if row["verdict"] != NOT_ASKED]
    for row in asked:
        over = f"{row['ratio_eager']} ({row['low']} to {row['high']})" if row["ratio_eager"] else "NOT MEASURED"
        best = f"{row['ratio_strongest']} ({row['strongest']})" if row["ratio_strongest"] else ""
        over += " in doubt" if row["doubt"] else ""
        cells = (
            f"`{row['case']}`",
            row.get("published", ""),
            row["verdict"],
            over,
            best,
            f"{row['ms']} ms" if row["ms"] else "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    if rest := len(every) - len(asked):
        lines += ["", f"{rest} more {'was' if rest == 1 else 'were'} not asked."]
    return "\n".join(lines)


def strata(every: list[Row]) -> str:
    """Return a stratum a line: kernels of the set in it, asked, failed, and median ratios published and measured."""
    heads = ("Stratum", "Kernels of the set", "Answered", "Wrong or undefined", "Timed", "Published, median",
             "Here, median")  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    for name in dict.fromkeys(row["stratum"] for row in every):
        of = [row for row in every if row["stratum"] == name]
        answered = [row for row in of if row["verdict"] not in OPEN]
        failed = sum(row["verdict"] in ("wrong", "undefined") for row in answered)
        timed = [row for row in of if row["ratio_strongest"] and not row["doubt"]]
        medians = [_median(row[key] for row in timed) for key in ("published", "ratio_strongest")]
        lines.append(f"| {name} | {of[0]['of_stratum']} | {len(answered)} of {len(of)} | {failed} | {len(timed)} | "
                     f"{' | '.join(medians)} |")  # fmt: skip
    return "\n".join(lines)


def _median(texts: Iterable[str]) -> str:
    values = sorted(map(float, texts))
    return f"{(values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2:.3f}" if values else "-"


def readings(of: str, every: list[Row]) -> str:
    """Return what readers made of each failure, and of what else they read, in Markdown."""
    read = {row["case"]: row for row in rows(ROOT / of / READINGS)}
    lines = ["| Case | Verdict | Reading | What was read |", "| --- | --- | --- | --- |"]
    for row in every:
        if row["verdict"] in READ or row["case"] in read:
            said = read.get(row["case"], {"judgement": "not read", "defect": ""})
            lines.append(f"| `{row['case']}` | {row['verdict']} | {said['judgement']} | {said['defect']} |")
    return "\n".join(lines) if len(lines) > 2 else "None."


def write(of: str, every: list[Row]) -> None:
    """Write the table of a set and the parts of its page, and print these."""
    with (ROOT / of / VERDICTS).open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, [*every[0]], lineterminator="\n")
        out.writeheader()
        out.writerows(every)
    parts = {"counts": counts(every), "cases": cases(every), "readings": readings(of, every)}
    if "stratum" in every[0]:
        parts["strata"] = strata(every)
    page = ROOT / of / "README.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    for name, part in parts.items():
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", rf"\1{part}\n\2", text, flags=re.DOTALL)
    if text:
        page.write_text(text, encoding="utf-8")
    print(f"## {of}", *parts.values(), sep="\n\n")


def main() -> None:
    """Write all sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="*")
    given = parser.parse_args()
    for of in SETS:
        write(of, table(of, given.out))


if __name__ == "__main__":
    main()
