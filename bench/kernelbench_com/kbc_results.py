"""Write what an audit on a GPU made of annotated runs of kernelbench.com: the table of runs, and the figures of pages.

    python bench/kernelbench_com/kbc_results.py [OUT...]

OUT are folders of `bench/audits.py`; of a case in several the last counts, and of a run in none the row that is
committed. Where OUT has the record of a case, it is judged by the rules of today. Writes `verdicts.csv` under
`reports/datasets/kernelbench_com/` and, from it, the parts between two comments of the pages in PARTS.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import kbc_tables
from annotated import COLUMNS, FOLDER, VERDICTS, Run, runs, states

from audit.apps.pages import filled

ROOT = FOLDER.parents[2]
HERE, SCRIPT = FOLDER.relative_to(ROOT).as_posix(), "bench/kernelbench_com/kbc_results.py"
SUMMARY = {"kernelbench_com": lambda every: kbc_tables.summary(every, f"../{HERE}/README.md")}
PARTS: Mapping[str, Mapping[str, Callable[[list[Run]], str]]] = {
    f"{HERE}/README.md": {
        "summary": kbc_tables.summary,
        "annotations": kbc_tables.by_annotation,
        "kinds": kbc_tables.by_kind,
        "rates": kbc_tables.rates,
    },
    f"{HERE}/method.md": {
        "chosen": lambda _: kbc_tables.chosen(),
        "answers": kbc_tables.answers,
        "readings": kbc_tables.readings,
    },
    f"{HERE}/note.md": {"summary": kbc_tables.summary},
    "docs/gallery.md": SUMMARY,
    "docs/findings.md": SUMMARY,
}
"""Files with parts between two comments that name them."""


def pages(every: list[Run]) -> dict[Path, str]:
    """Return every page with its parts made anew, by its path."""
    return {
        ROOT / name: filled(ROOT / name, {part: make(every) for part, make in parts.items()}, by=SCRIPT)
        for name, parts in PARTS.items()
    }


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
    print(kbc_tables.summary(every), kbc_tables.rates(every), sep="\n\n")


if __name__ == "__main__":
    main()
