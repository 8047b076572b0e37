"""What a bundle holds that follows from its record: samples as a table, and every statistic the judge rests on."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from statistics import median
from typing import Any

from audit import judge
from audit.apps.bundle.manifest import encoded, sha256
from audit.measure import compared, strongest, wrong_baselines
from audit.measure.samples import series
from audit.measure.statistics import interval, order_effect, outliers
from audit.model import Measurement, Record, Rung
from audit.report import safe_csv

SAMPLES = "samples.csv"
STATISTICS = "statistics.json"
COLUMNS = ("timing", "variant", "shape", "protocol", "session", "sample", "block", "position", "ms")
CLOSE = 1e-9
"""Relative difference two machines' arithmetic may have; a published figure has four digits."""


def samples(record: Record) -> bytes:
    """Every raw sample of the record, one a line, as CSV; times in milliseconds with all their digits."""
    return safe_csv.text(COLUMNS, _rows(record)).encode()


def _rows(record: Record) -> Iterator[tuple[object, ...]]:
    for timing, one in enumerate(record.measurements):
        shape = " ".join(f"{name}={size}" for name, size in one.shape.items())
        for place, ms in enumerate(one.samples_ms):
            block = one.blocks[place] if one.blocks else ""
            position = one.positions[place] if one.positions else ""
            yield timing, one.variant, shape, one.protocol, one.session, place, block, position, ms


def statistics(record: Record) -> bytes:
    """Verdict, ladder, medians and ratios as the judge derives them from findings and raw samples, as JSON."""
    rungs = judge.ladder(record.claim.statement, record.findings, record.measurements)
    told = {
        "samples_sha256": sha256(samples(record)),
        "verdict": judge.judge(record).model_dump(mode="json"),
        "ladder": [rung.model_dump(mode="json") for rung in rungs],
        "timings": [_timing(one) for one in record.measurements],
        "ratios": _ratios(record, rungs),
    }
    return encoded(told)


def difference(ours: Any, theirs: Any, place: str = "") -> str | None:
    """The first place where two JSON values differ by more than arithmetic does, and both values; None if nowhere."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        pairs = [(f"{place}.{key}".lstrip("."), ours[key], theirs[key]) for key in ours]
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = [(f"{place}[{index}]", *pair) for index, pair in enumerate(zip(ours, theirs, strict=True))]
    elif isinstance(ours, float) and isinstance(theirs, float):
        return (
            None if math.isclose(ours, theirs, rel_tol=CLOSE) else f"{place}: {theirs!r} in the bundle, here {ours!r}"
        )
    else:
        same = type(ours) is type(theirs) and ours == theirs
        return None if same else f"{place}: {_short(theirs)} in the bundle, here {_short(ours)}"
    return next((found for at, a, b in pairs if (found := difference(a, b, at))), None)


def _timing(one: Measurement) -> dict[str, Any]:
    told = series(one)
    return {
        "variant": one.variant,
        "protocol": one.protocol,
        "session": one.session,
        "samples": len(one.samples_ms),
        "median_ms": median(one.samples_ms),
        "interval_ms": interval(told),
        "order_effect": order_effect(told),
        "outliers": int(outliers(one.samples_ms)),
    }


def _ratios(record: Record, rungs: tuple[Rung, ...]) -> list[dict[str, Any]]:
    """Each cleared variant against eager and against the strongest baseline of its precision class."""
    wrong = wrong_baselines(record.findings)
    told = []
    for rung in (one for one in rungs if one.state == "cleared"):
        best = strongest(record.measurements, rung.precision, wrong=wrong)
        for baseline in dict.fromkeys(filter(None, (judge.BASELINE, best))):
            found = compared(record.measurements, rung.variant, baseline)
            if found is not None:
                ratio = {"value": found.ratio.value, "low": found.ratio.low, "high": found.ratio.high}
                told.append(
                    {"variant": rung.variant, "baseline": baseline, **ratio, "blocks": found.ratio.blocks,
                     "doubt": found.doubt}
                )  # fmt: skip
    return told


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:59] + "…"
