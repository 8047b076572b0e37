"""Do intervals hold the ratios of another day and host? `python bench/repeated.py RECORD RECORD [--out FILE]`.

The two records are of one claim on GPUs of one name. Every ratio to eager that both have is held against the interval
of the other record, both ways.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from audit.measure.comparison import PREFIX, compared  # noqa: E402
from audit.model import Record, store  # noqa: E402

EAGER = f"{PREFIX}eager"


def main() -> None:
    """Prints a line a ratio and the shares, and writes the numbers with `--out`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs=2)
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    found = repeated(*(store.read(path) for path in asked.records))
    for one in found["ratios"]:
        print(json.dumps(one))
    print({key: value for key, value in found.items() if key != "ratios"})
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def repeated(first: Record, second: Record) -> dict[str, Any]:
    """The ratios of both records with their intervals, how far they moved, and how often an interval holds the other.

    Raises ValueError: the records are of two claims or of two kinds of GPU.
    """
    about = [(one.claim.statement.name, one.device.name) for one in (first, second)]
    if about[0] != about[1]:
        raise ValueError(f"{about[0]} and {about[1]}: records of one claim on one kind of GPU are compared")
    names = sorted({one.variant for one in first.measurements} & {one.variant for one in second.measurements})
    rows = [row for name in names if name != EAGER and (row := _row(name, first, second)) is not None]
    held = [holds for row in rows for holds in row["held"]]
    return {
        "claim": about[0][0],
        "gpu": about[0][1],
        "days": [one.environment.started_utc[:10] for one in (first, second)],
        "intervals_that_hold_the_other": f"{sum(held)} of {len(held)}",
        "farthest_percent": max((abs(row["moved_percent"]) for row in rows), default=None),
        "ratios": rows,
    }


def _row(name: str, first: Record, second: Record) -> dict[str, Any] | None:
    both = [compared(one.measurements, name, EAGER) for one in (first, second)]
    ratios = [one.ratio for one in both if one is not None and one.ratio.low is not None and one.ratio.high is not None]
    if len(ratios) < 2:
        return None
    mine, other = ratios
    held = [low <= there <= high for low, high, there in _edges(mine, other)]
    shown = [[round(value, 4) for value in (one.value, one.low, one.high)] for one in ratios]  # type: ignore[arg-type]
    return {"callable": name, "ratios": shown, "moved_percent": round(100 * (other.value / mine.value - 1), 2),
            "held": held}  # fmt: skip


def _edges(mine: Any, other: Any) -> list[tuple[float, float, float]]:
    return [(mine.low, mine.high, other.value), (other.low, other.high, mine.value)]


if __name__ == "__main__":
    main()
