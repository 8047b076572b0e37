"""Write what an audit on a GPU made of annotated runs of kernelbench.com: the table of runs, and the figures of pages.

    python bench/kernelbench_com/kbc_results.py [OUT...]

OUT are folders of `bench/audits.py`; of a case in several the last counts, and of a run in none the row that is
committed. Where OUT has the record of a case, it is judged by the rules of today. Writes `verdicts.csv` under
`reports/datasets/kernelbench_com/` and, from it, the parts between two comments of the pages in PARTS.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from annotated import ALIASED, COLUMNS, FAILS, FOLDER, GRAVEST, READINGS, VERDICTS, WITHOUT, Run, rows, runs, states

from audit.apps.pages import Parts, remade
from audit.apps.selftest.score import interval


def summary(every: list[Run], page: str = "") -> str:
    """Return what came out in one paragraph; with the address of the set's page, as a link to it."""
    clean = [run for run in every if run.row["annotation"] == "clean" and run.answered]
    reach = [run for run in every if run.within_reach and run.answered]
    hinted = sum(run.hinted and not run.caught and run.row["kind"] == "library" for run in reach)
    read = {row["run"]: row["judgement"] for row in rows(READINGS)}
    wrong = Counter(read.get(run.row["run"], "not read") for run in clean if run.verdict in FAILS)
    counts, judged = Counter(run.verdict for run in clean), Counter(read.values())
    asked = f"{len(every)} annotated runs"
    return (
        f"{f'[{asked}]({page})' if page else asked} were asked on H200s, without times; "
        f"{sum(run.answered for run in every)} have an answer. Of {len(clean)} `clean` ones with an answer "
        f"{counts['no defect found']} have no defect found, {counts[ALIASED]} return a buffer that a later call "
        f"overwrites, which the annotators do not count against a run, and {wrong.total()} are wrong (readers of the "
        f"source: {', '.join(f'{number} {name}' for name, number in wrong.most_common())}). Of {len(reach)} runs "
        "whose named defect an audit without times can see and that have an answer, "
        f"{sum(run.caught for run in reach)} were failed as due; {hinted} others leave the work to a library, which "
        f"a hint names, and a hint fails no kernel. Of {judged.total()} failures, all read in the source, "
        f"{judged['false']} {'is' if judged['false'] == 1 else 'are'} false."
    )


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


ROOT = FOLDER.parents[2]
HERE, SCRIPT = FOLDER.relative_to(ROOT).as_posix(), "bench/kernelbench_com/kbc_results.py"
SUMMARY = {"kernelbench_com": lambda every: summary(every, f"../{HERE}/README.md")}
PARTS: Parts = {
    f"{HERE}/README.md": {
        "summary": summary,
        "annotations": by_annotation,
        "kinds": by_kind,
        "rates": rates,
    },
    f"{HERE}/method.md": {
        "chosen": lambda _: chosen(),
        "answers": answers,
        "readings": readings,
    },
    f"{HERE}/note.md": {"summary": summary},
    "docs/gallery.md": SUMMARY,
    "docs/findings.md": SUMMARY,
}


def pages(every: list[Run]) -> dict[Path, str]:
    """Return every page with its parts made anew, by its path."""
    return remade(PARTS, every, by=SCRIPT)


def main() -> None:
    """Write the table and the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="*")
    every = runs(states(parser.parse_args().out))
    with (FOLDER / VERDICTS).open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(run.row for run in every)
    for path, text in pages(every).items():
        path.write_text(text, encoding="utf-8")
    print(summary(every), rates(every), sep="\n\n")


if __name__ == "__main__":
    main()
