"""The hardware floor of the GPU at hand for the stated work, and times below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from audit.measure.samples import median_ms
from audit.model import Finding, Measurement
from audit.model.gpus import at_hand, table

FLOOR_HERE, UNDER_FLOOR = "floor_here", "under_floor"
UNDER = 0.95
"""A time is under a floor below this share of it: clocks above the data sheet's save a few percent."""


def floor_here(gpu: str, cost: dict[str, float]) -> Finding:
    """Return the floors of the GPU at hand for the claimed shape; a skip where the table lacks it."""
    chip = at_hand(gpu)
    if chip is None or not any(cost.values()):
        text = f"{gpu}: reference.py states no least work, so there is no floor"
        if chip is None:
            text = f"{gpu}: no data-sheet rates for this GPU, so no floor (known: {', '.join(table())})"
        return Finding(probe=FLOOR_HERE, target=gpu, outcome="skip", summary=text, evidence={**cost})
    memory_ms = chip.memory_ms(cost["bytes"])
    numbers: dict[str, JsonValue] = {
        "compute_floor_ms": chip.compute_ms(cost["flops"]),
        "memory_floor_ms": memory_ms,
        "floor_ms": max(chip.compute_ms(cost["flops"]), memory_ms),
        "matrix_unit_floor_ms": max(chip.fastest_compute_ms(cost["flops"]), memory_ms),
    }
    text = f"{gpu}: the stated work takes at least {numbers['floor_ms']:.3g} ms in fp32 ({chip.source})"
    return Finding(probe=FLOOR_HERE, target=gpu, outcome="pass", summary=text, evidence={**cost, **numbers})


def under_floor(measurements: Sequence[Measurement], floor: Finding, *, precisions: Mapping[str, str]) -> list[Finding]:
    """Return one failure for each time of a session below the floor of `floor_here`: the time, the floor or the stated
    work is wrong. The floor is that of fp32 arithmetic for callables whose precision is fp32, of the fastest unit for
    others."""
    numbers, found = floor.evidence, []
    for name, precision in precisions.items():
        ms, fp32, fastest = median_ms(measurements, name), numbers.get("floor_ms"), numbers.get("matrix_unit_floor_ms")
        if ms is None or not isinstance(fp32, float) or not isinstance(fastest, float):
            continue
        least = fastest if precision != "fp32" or ms < UNDER * fastest else fp32
        if ms >= UNDER * least:
            continue
        text = f"{ms:.4g} ms; in fp32 arithmetic the stated work takes {least:.4g} ms at least on {floor.target}"
        if least == fastest:
            text = f"{ms:.4g} ms; on any unit of {floor.target} the stated work takes {least:.4g} ms at least"
        text += ": the clock, the stated work or the declared precision is wrong"
        evidence: dict[str, JsonValue] = {"ms": ms, "floor_ms": least, "precision": precision}
        found.append(Finding(probe=UNDER_FLOOR, target=name, outcome="fail", grade="hint", summary=text,
                             evidence=evidence))  # fmt: skip
    return found
