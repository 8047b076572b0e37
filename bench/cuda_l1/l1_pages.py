"""Write the parts of pages that follow from the committed table of rows of CUDA-L1: `python bench/cuda_l1/l1_pages.py`.

The table is `verdicts.csv` under `reports/datasets/cuda_l1/`, the pages are those in PARTS, each part between two
comments.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from audit.apps.pages import Parts, remade
from audit.judge import answers
from audit.judge.evidence import missing, objects
from audit.model import Finding
from audit.probes.kernels_ran import NAME as KERNELS_RAN

RIGHT, SO_FAR, OPEN = "right at its inputs", "right so far", "undecided"
"""Of values, beside the verdicts of the judge: `right so far` is a row that was cut before it was asked every probe."""
OWN, FALLS_BACK, OPERATORS = "own kernel", "falls back", "torch operators alone"
NO_CODE, MISSING, NOT_BUILT = "no code", "cannot be imported", "cannot be built"
CACHE, NO_ANSWER = "uses a cache", "no answer"
UNASKED = "memory_access"
"""The probe whose answer is missing in each row on the GPU; the judge takes a skip of it."""
CACHES = ("review.result_cache", "review.last_call")
"""The hints of the source review that a kept result is returned."""


def kind_of(findings: Iterable[Finding]) -> str:
    """Return whose kernels made the result, by the probe that lists them; `no answer` where it has none."""
    for one in findings:
        if one.probe != KERNELS_RAN or one.outcome not in ("pass", "fail"):
            continue
        launches = one.evidence.get("launches")
        own = isinstance(launches, list) and any(isinstance(each, dict) and each.get("own") for each in launches)
        if one.evidence.get("right_without_kernels") or one.evidence.get("refused_by_torch"):
            return FALLS_BACK
        if own or one.outcome == "pass":
            return OWN
        return FALLS_BACK if one.evidence.get("kernels_in_source") else OPERATORS
    return NO_ANSWER


def cached(findings: Iterable[Finding]) -> bool:
    """Return whether a probe proved that a later call has the result of other inputs, which a fresh process has not."""
    proved = (one for one in findings if one.probe == "fresh_values" and one.fails_kernel)
    return any(each.get("right_alone") for one in proved for each in objects(one.evidence.get("shapes")))


def hints_of(findings: Iterable[Finding]) -> list[str]:
    """Return the names of review rules that point at a line, without those about a library's operators."""
    named = [one.probe.removeprefix("review.") for one in findings if one.outcome == "fail" and "review." in one.probe]
    return sorted({one for one in named if one not in ("library_operator", "library_part")})


def values_of(findings: Sequence[Finding]) -> tuple[str, str]:
    """Return the verdict that the judge gives for a row's values by what a GPU found, and the first piece of evidence.

    Whose kernels ran is no part of it; see `kind_of`. Accesses to memory are not asked on the GPU.
    """
    lacking = [one for one in missing(findings) if not one.startswith(UNASKED)]
    state, found = answers.result_state(findings, lacking)
    if found:
        return state, f"{found[0].probe}: {found[0].summary}"
    if state == "right":
        others = [one for one in findings if one.probe != KERNELS_RAN]
        name, found = answers.false_time(others) or (RIGHT, [])
        return name, f"{found[0].probe}: {found[0].summary}" if found else ""
    errors = [one for one in findings if one.outcome == "error"]
    if errors:
        return OPEN, f"{errors[0].probe}: {errors[0].summary}"
    return NO_ANSWER, ""


ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "reports" / "datasets" / "cuda_l1"
HERE, SCRIPT = FOLDER.relative_to(ROOT).as_posix(), "bench/cuda_l1/l1_pages.py"
NOT_ASKED = "not asked"
FAILURES = ("wrong", "undefined", "aliased result", "reduced precision", "mistimed", "vacuous", "overstated")
OF_VALUES = ("wrong", "undefined", "aliased result", "reduced precision")
"""Failures that are told in the summary: those of the result, not of the task or of whose kernels ran."""
Known = dict[str, Any]


def verdict(row: Known) -> str:
    """Return the failure of a row, one of the GPU first; else what the emulated device says."""
    return str(row["gpu"] if row["gpu"] in FAILURES else row["emulated"])


def summary(every: Sequence[Known], page: str = "") -> str:
    """Return what came out in one paragraph; with the address of the set's page, as a link to it."""
    states, coded = Counter(row["state"] for row in every), with_code(every)
    failed = Counter(verdict(row) for row in every)
    wrong = Counter(row["read"] or "not read" for row in every if verdict(row) == "wrong")
    rows = f"the {len(every)} rows of its H100 file"
    told = ", ".join(f"{failed[name]} *{name}*" for name in OF_VALUES if failed[name] and name != "wrong")
    return (
        f"Of {f'[{rows}]({page})' if page else rows}, {len(coded)} have code. Operators of torch alone make the "
        f"result in {states[OPERATORS]}; {states[FALLS_BACK]} have kernels and fall back on such operators; kernels "
        f"of a row's own were seen to make the result in {states[OWN]}, and {states[CACHE]} returns a kept result. "
        f"{refused(every)} hold an extension that torch's builder refuses. Failures of the result, each read in the "
        f"source: {told}, {wrong.total()} *wrong* (readers: "
        f"{', '.join(f'{number} {name}' for name, number in wrong.most_common())}). No time was taken."
    )


def with_code(every: Sequence[Known]) -> list[Known]:
    """Return the rows that hold code."""
    return [row for row in every if row["state"] != NO_CODE]


def refused(every: Sequence[Known]) -> str:
    """Return how many extensions torch's builder refuses."""
    return f"{sum(bool(row['torch_refuses']) for row in every)} of {len(with_code(every))} rows with code"


def counted(every: Sequence[Known], column: str, head: str) -> str:
    """Return the counts of a column as a table in Markdown."""
    number = Counter(row[column] or NOT_ASKED for row in every)
    lines = [f"| {head} | Rows | Share |", "| --- | ---: | ---: |"]
    lines += [f"| {name} | {count} | {count / len(every):.1%} |" for name, count in number.most_common()]
    return "\n".join(lines)


def crossed(every: Sequence[Known]) -> str:
    """Return states beside the answers of both devices, as a table in Markdown."""
    number = Counter((row["state"], row["emulated"] or NOT_ASKED, row["gpu"] or NOT_ASKED) for row in every)
    lines = ["| State | Emulated device | On the GPU | Rows |", "| --- | --- | --- | ---: |"]
    return "\n".join([*lines, *(f"| {' | '.join(names)} | {count} |" for names, count in sorted(number.items()))])


def readings(every: Sequence[Known]) -> str:
    """Return what readers of the sources made of each verdict, as a table in Markdown; one of the GPU comes first."""
    number = Counter((verdict(row), row["read"]) for row in every)
    lines = ["| Verdict | Reading of the source | Rows |", "| --- | --- | ---: |"]
    failed = sorted((*key, count) for key, count in number.items() if key[0] in FAILURES)
    return "\n".join([*lines, *(f"| {name} | {read or 'not read'} | {count} |" for name, read, count in failed)])


def ratios(every: Sequence[Known]) -> str:
    """Return the ratios that were measured beside the published ones, as a table in Markdown."""
    timed = [row for row in every if row["eager"]]
    if not timed:
        return "NOT MEASURED"
    head = "| State | Rows timed | Published, median | Measured against eager, median | Against torch.compile, median |"
    lines = [head, "| --- | ---: | ---: | ---: | ---: |"]
    for name in sorted({row["state"] for row in timed}):
        own = [row for row in timed if row["state"] == name]
        medians = [_median([row[column] for row in own]) for column in ("published", "eager", "compile")]
        lines.append(f"| {name} | {len(own)} | {' | '.join(medians)} |")
    return "\n".join(lines)


def _median(cells: Sequence[Any]) -> str:
    known = [float(one) for one in cells if one]
    return f"{median(known):.2f}x" if known else "NOT MEASURED"


SUMMARY = {"cuda_l1 rows": lambda every: summary(every, f"../{HERE}/README.md")}
PARTS: Parts = {
    f"{HERE}/README.md": {
        "summary": summary,
        "states": lambda every: counted(every, "state", "State"),
        "readings": lambda every: readings(with_code(every)),
    },
    f"{HERE}/method.md": {
        "devices": lambda every: crossed(with_code(every)),
        "ratios": lambda every: ratios(with_code(every)),
    },
    f"{HERE}/note.md": {"summary": summary},
    "docs/gallery.md": SUMMARY,
    "docs/findings.md": SUMMARY,
}


def pages(every: Sequence[Known]) -> dict[Path, str]:
    """Return every page with its parts made anew, by its path."""
    return remade(PARTS, every, by=SCRIPT)


def committed() -> list[Known]:
    """Return the rows of the committed table."""
    with (FOLDER / "verdicts.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write() -> None:
    """Write the pages, and print what came out."""
    every = committed()
    for path, text in pages(every).items():
        path.write_text(text, encoding="utf-8")
    print(summary(every), counted(every, "state", "State"), sep="\n\n")


if __name__ == "__main__":
    write()
