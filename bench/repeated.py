"""Do intervals hold the ratios of other days and hosts? `python bench/repeated.py FILE FILE ... [--out FILE]`.

`python bench/repeated.py --measure FILE` measures one repetition on a machine with a GPU: variants and baselines of
triangular_mm over eager, in as many fresh processes as an audit takes. The other call compares repetitions on GPUs of
one name; a record.json of an audit counts as one. Each interval is held against the ratio of every other repetition, as
it is and with `ELSEWHERE` more on either side.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from audit.measure.comparison import AGAIN, ELSEWHERE, PREFIX, PROCESSES, compared  # noqa: E402
from audit.model import Record, store  # noqa: E402
from audit.run.timing.ratios import pooled  # noqa: E402

EAGER = f"{PREFIX}eager"
VARIANTS = ("register_blocked", "wmma_split", "wmma_f16")
BASELINES = ("eager_tf32", "diagonals", "diagonals_tf32", "diagonals_fp16")


def main() -> None:
    """Measures a repetition, or prints a line a callable and the shares, and writes the numbers with `--out`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*", help="repetitions and records")
    parser.add_argument("--measure", type=Path, metavar="FILE", help="measure a repetition into that file")
    parser.add_argument("--deadline", type=float, default=90.0, help="seconds after which no further process begins")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    if asked.measure:
        asked.measure.write_text(json.dumps(measured(asked.deadline), indent=1) + "\n", encoding="utf-8")
        return
    found = repeated([read(path) for path in asked.files])
    for name, one in found["ratios"].items():
        print(name, json.dumps(one))
    print({key: value for key, value in found.items() if key != "ratios"})
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def measured(deadline_s: float) -> dict[str, Any]:
    """A repetition on this machine's GPU: its name, the date, and each ratio to eager with its interval."""
    import timing  # bench/timing.py, which needs torch with CUDA

    from audit.build.cuda import gpu

    until, card = time.monotonic() + deadline_s, gpu.find()
    hand = timing.at_hand(card)
    names = [*VARIANTS, *(f"{PREFIX}{one}" for one in BASELINES)]
    sessions = timing.sessions_in_processes(hand, names, PROCESSES, until=until)
    ratios = {name: pooled([one[name] for one in sessions]) for name in names}
    shown = {name: (one.value, one.low, one.high) for name, one in ratios.items()}
    return {"gpu": card.name, "day": time.strftime("%Y-%m-%d", time.gmtime()), "processes": len(sessions),
            "ratios": shown}  # fmt: skip


def read(path: Path) -> dict[str, Any]:
    """A repetition from its file or from the record of an audit of `triangular_mm`."""
    if path.name == store.RECORD:
        return of_record(store.read(path))
    known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return known


def of_record(record: Record) -> dict[str, Any]:
    """An audit as a repetition: the ratios to eager that have an interval."""
    names = sorted({one.variant for one in record.measurements} - {EAGER})
    pairs = [(name, compared(record.measurements, name, EAGER)) for name in names]
    ratios = {name: one.ratio for name, one in pairs if one is not None and one.ratio.low is not None}
    shown = {name: (one.value, one.low, one.high) for name, one in ratios.items()}
    return {"gpu": record.device.name, "day": record.environment.started_utc[:10], "ratios": shown}


def repeated(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The ratios that two repetitions or more have, how far they moved, and how often an interval holds another's.

    Raises ValueError: the repetitions are on GPUs of two names.
    """
    gpus = sorted({one["gpu"] for one in runs})
    if len(gpus) != 1:
        raise ValueError(f"{' and '.join(gpus)}: repetitions on one kind of GPU are compared")
    names = sorted({name for one in runs for name in one["ratios"]})
    rows = {name: [one["ratios"][name] for one in runs if name in one["ratios"]] for name in names}
    rows = {name: ratios for name, ratios in rows.items() if len(ratios) > 1}
    kernels = {name: ratios for name, ratios in rows.items() if not name.startswith((PREFIX, AGAIN))}
    torchs = {name: ratios for name, ratios in rows.items() if name not in kernels}
    return {
        "gpu": gpus[0],
        "days": [one["day"] for one in runs],
        "elsewhere_percent": 100 * ELSEWHERE,
        "intervals_that_hold_another": {
            f"{whose}{', with that on either side' if allowed else ''}": _share(group, allowed)
            for whose, group in (("kernels", kernels), ("baselines", torchs))
            for allowed in (0.0, ELSEWHERE)
        },
        "ratios": {name: {"spread_percent": _spread(ratios),
                          "found": [[round(float(value), 4) for value in one] for one in ratios]}
                   for name, ratios in rows.items()},
    }  # fmt: skip


def _share(rows: Mapping[str, Sequence[Sequence[float]]], allowed: float) -> str:
    held = [
        low * (1 - allowed) <= other <= high * (1 + allowed)
        for ratios in rows.values()
        for (_, low, high), (other, *_) in itertools.permutations(ratios, 2)
    ]
    return f"{sum(held)} of {len(held)}"


def _spread(ratios: Sequence[Sequence[float]]) -> float:
    values = [one[0] for one in ratios]
    return round(100 * (max(values) / min(values) - 1), 2)


if __name__ == "__main__":
    main()
