"""docs/hostile.md: every attack, the mechanism that holds it, how it must end and how it last did.

`python -m tests.hostile.table` takes what the last `make hostile` saw into `seen.json` and writes the page.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.hostile.header import Attack, attacks

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "out/hostile"
SEEN = Path(__file__).with_name("seen.json")
PAGE = ROOT / "docs/hostile.md"
MOST_CHARACTERS = 160
INTRODUCTION = """# Attacks on the kit, and how each ended
Every row is a file of `tests/hostile/attacks/`: a variant of one tiny claim that does what its row says, audited like
any other by `make hostile`, beside an honest kernel, and every fourth one before an honest claim. For each is checked
that it ends as its header says and is accused of nothing else, that honest kernels are cleared, the record is whole and
nothing stays behind or was changed: processes, temporary files, shared memory, locks, cache entries, descriptors, the
kit, reports, a home and other people's folders. An attack that gets through returns wrong values or says so, and its
row fails.

`cleared` is an attack that came to nothing: the kernel's right values counted, or would but for `reach`,
which keeps Python sources that reach the process that checks them from passing. What is an error fails no kernel.
This page is made by `python -m tests.hostile.table` from the headers and from what the last run saw.
"""


def main() -> None:
    """Takes the last run's rows, where there are some, and writes the page."""
    names = {attack.name for attack in attacks()}
    rows = {_key(row): row for row in stored()["rows"] if row["attack"] in names}
    fresh = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RUN.glob("*.json"))]
    rows |= {_key(row): row for row in fresh if row["attack"] in names}
    values = {"rows": [rows[key] for key in sorted(rows)]}
    SEEN.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(markdown(), encoding="utf-8")


def markdown() -> str:
    """The page, from the headers and the rows that are stored."""
    seen = {_key(row): row["seen"] for row in stored()["rows"]}
    known = attacks()
    parts = [INTRODUCTION]
    for device in ("emulated", "cuda"):
        asked = [attack for attack in known if (device, attack.name) in seen]
        if asked:
            parts.append(
                f"\n## On the {device} device: {len(asked)} attacks\nSeen on {', '.join(_machines(device))}.\n\n"
            )
            parts.append("| attack | tries | mechanism | must end as | was seen as |\n|---|---|---|---|---|\n")
            parts += [_line(attack, device, seen[device, attack.name]) for attack in asked]
    return "".join(parts)


def _line(attack: Attack, device: str, seen: str) -> str:
    cells = (attack.tries, attack.wall, str(attack.outcomes[device]), seen[:MOST_CHARACTERS])
    return f"| `{attack.name}` | {' | '.join(cell.replace('|', '/') for cell in cells)} |\n"


def _machines(device: str) -> list[str]:
    return sorted({row["machine"] for row in stored()["rows"] if row["device"] == device})


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return row["device"], row["attack"]


def stored() -> dict[str, Any]:
    """The rows of the last run on each device."""
    if not SEEN.is_file():
        return {"rows": []}
    values: dict[str, Any] = json.loads(SEEN.read_text(encoding="utf-8"))
    return values


if __name__ == "__main__":
    main()
