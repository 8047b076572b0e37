"""How many kernels an hour `audit batch --screen` takes through its stages without a GPU.

    python bench/funnel.py [ITEMS]

The collection is made up: a claim folder for every `.cu` file under `kernels/`, controls and repairs,
each as the claimed kernel of its task; then the same again with other names for their kernels, so that no build is
shared. Nothing is compiled before: the cache is empty, and the time of its headers counts. Prints the counts, writes
`bench/results/funnel.json` with the machine it came from and what else kept its cores busy.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measured import keep

from audit import claims

ITEMS = 160
LEAST_AN_HOUR = 900
KERNEL = re.compile(r"__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)")


def sources() -> Iterator[tuple[Path, str, str]]:
    """Every claim folder's path, the head of its claim.toml, and one of its variants, CUDA sources only."""
    for statement in sorted(claims.KERNELS.rglob("claim.toml")):
        head, *variants = statement.read_text(encoding="utf-8").split("[[variant]]")
        for variant in variants:
            if '.cu"' in variant:
                yield statement.parent, head, variant


def make(root: Path, items: int) -> None:
    """Writes that many claim folders."""
    known = list(sources())
    for number, (folder, head, variant) in zip(range(items), itertools.cycle(known), strict=False):
        file = re.search(r'file = "(\w+)\.cu"', variant)
        assert file is not None
        made = root / f"{number:04}_{folder.name}_{file[1]}"
        made.mkdir()
        shutil.copy(folder / "reference.py", made)
        claimed = re.sub(r'role = "\w+"', 'role = "claimed"', variant)
        (made / "claim.toml").write_text(f"{head}[[variant]]{claimed}", encoding="utf-8")
        text = (folder / f"{file[1]}.cu").read_text(encoding="utf-8")
        for header in re.findall(r'#include "(\w+\.\w+)"', text):
            shutil.copy(folder / header, made)
        (made / f"{file[1]}.cu").write_text(renamed(text, number), encoding="utf-8")


def renamed(text: str, number: int) -> str:
    """The source with other names for its kernels, which is another source to the cache of builds."""
    for name in dict.fromkeys(KERNEL.findall(text)):
        text = re.sub(rf"\b{name}\b", f"{name}_{number}", text)
    return f"// item {number}\n{text}"


def measured(root: Path, out: Path) -> dict[str, Any]:
    """The counts and seconds of one screening of the folder."""
    from audit.apps.batch import items, screening, summary
    from audit.apps.batch.command import NOTEBOOK
    from audit.apps.batch.run import Run
    from audit.report.progress import Progress

    collection = items.Reader(NOTEBOOK, {}, root).read([str(root)])
    run = Run(collection, out, resume=False, seed=20250220, progress=Progress(io.StringIO()))
    run.run(screening.STAGES)
    states = list(run.items.values())
    counted = summary.by_stage(run.state, states)
    return {
        "stages": {
            one.stage: {
                "came": one.came,
                "settled": one.left["settled"],
                "no_answer": one.left["no answer"],
                "seconds": round(one.seconds, 1),
                "an_hour": round(one.an_hour or 0),
            }
            for one in counted
            if one.came
        },
        "verdicts": {
            f"{stage}: {verdict}": number
            for stage, state, verdict, number in summary.counts(states)
            if state == "settled"
        },
        "no_answer": {one.item: one.last.reasons[0] for one in states if one.last and one.last.outcome == "no answer"},
    }


def main() -> None:
    """Measures, prints and stores."""
    load = round(os.getloadavg()[0], 1)
    items = int(sys.argv[1]) if len(sys.argv) > 1 else ITEMS
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["AUDIT_CACHE"] = str(Path(scratch) / "cache")
        root = Path(scratch) / "collection"
        root.mkdir()
        make(root, items)
        began = time.monotonic()
        found = measured(root, Path(scratch) / "out")
        seconds = time.monotonic() - began
    result = {
        "items": items,
        "seconds": round(seconds, 1),
        "load_before": load,
        **found,
        "least_an_hour": LEAST_AN_HOUR,
    }
    keep("funnel", result)
    print(json.dumps(result, indent=1))
    print(f"emulated stage: {found['stages']['emulated']['an_hour']} an hour (aim: {LEAST_AN_HOUR})")


if __name__ == "__main__":
    main()
