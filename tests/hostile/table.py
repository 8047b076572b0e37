"""docs/hostile.md: every attack, what holds it, and how it ends on each device.

`python -m tests.hostile.table` takes what the last `make hostile` saw into `seen.json` and writes the page.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.hostile.header import NOT_ASKED, attacks

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "out/hostile"
SEEN = Path(__file__).with_name("seen.json")
PAGE = ROOT / "docs/hostile.md"
INTRODUCTION = """# Attacks on the kit, and how each ends
Every row is a file of `tests/hostile/attacks/`: a variant of one tiny claim that does what its row says. `make hostile`
audits it like any other, beside a known-good kernel, and a known-good claim after every fourth one. It checks that
the attack ends as its header says and fails at nothing else, that the known-good kernels pass, that the record is
whole, and that nothing is left behind or changed: processes, temporary files, shared memory, locks, cache entries,
descriptors, the kit, reports, a home and other people's folders. An attack that gets through returns wrong values or
says so, and its row fails.

An attack that ends as `cleared` came to nothing: the kernel's right values counted, or would but for `reach`, which
keeps Python sources that reach the process that checks them from passing. An error fails no kernel. This page is made
by `python -m tests.hostile.table` from the headers; `tests/hostile/seen.json` holds what each finding said.

"""


def main() -> None:
    """Takes the last run's rows, where there are some, and writes the page."""
    names = {attack.name for attack in attacks()}
    fresh = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RUN.glob("*.json"))]
    rows = {(row["device"], row["attack"]): row for row in [*stored(), *fresh] if row["attack"] in names}
    SEEN.write_text(json.dumps({"rows": [rows[key] for key in sorted(rows)]}, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(markdown(), encoding="utf-8")


def markdown() -> str:
    """The page, from the headers and from which of them were asked on which device."""
    seen = {(row["device"], row["attack"]) for row in stored()}
    lines = []
    for device in ("emulated", "cuda"):
        machines = ", ".join(sorted({row["machine"] for row in stored() if row["device"] == device}))
        lines.append(f"- {sum(kind == device for kind, _ in seen)} attacks on the {device} device: {machines}")
    lines += ["", "| attack | tries | what holds it | ends as |", "|---|---|---|---|"]
    for one in attacks():
        ends = {device: str(one.outcomes.get(device, NOT_ASKED)) for device in ("emulated", "cuda")}
        on_gpu = ends["cuda"] if ("cuda", one.name) in seen else NOT_ASKED
        text = ends["emulated"] + ("" if on_gpu == ends["emulated"] else f"; on a GPU: {on_gpu}")
        cells = (f"`{one.name}`", one.tries, one.wall, text)
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    return INTRODUCTION + "\n".join(lines) + "\n"


def stored() -> list[dict[str, Any]]:
    """The rows of the last run on each device."""
    rows: list[dict[str, Any]] = json.loads(SEEN.read_text(encoding="utf-8"))["rows"] if SEEN.is_file() else []
    return rows


if __name__ == "__main__":
    main()
