"""The lint stage: numbers only, runs nothing. Can the hardware named do what the claim says?"""

from __future__ import annotations

from audit.model import Claim, Finding, Observation, Outcome, Speedup
from audit.model.gpus import Gpu, table

PROBE = "floor"


def floors(claim: Claim, cost: dict[str, float]) -> list[Finding]:
    """Return one finding for each GPU for which the claim states a ratio at its shape.

    Proved is only a time under what the GPU's fastest unit allows, whatever its precision. Split products on matrix
    units reach fp32 accuracy under the fp32 floor (`wmma_split.cu` does), so a time between the two is a hint. What a
    time shows that others than the claim's authors state is not held against the claim.
    `cost` is `flops` and `bytes` that the claimed shape needs at least, from the claim's `reference.py`.
    """
    seen = {observation.gpu: observation for observation in claim.observation}
    found = [_floor(speedup, seen.get(speedup.gpu), cost) for speedup in claim.ratios]
    others = {gpu for gpu, one in seen.items() if not claim.stated_by_authors(one)}
    return [one.model_copy(update={"claimed": one.target not in others}) for one in found]


def _floor(speedup: Speedup, seen: Observation | None, cost: dict[str, float]) -> Finding:
    gpu = table().get(speedup.gpu)
    if gpu is None:
        text = f"{speedup.gpu}: no data-sheet rates for this GPU, so no floor (known: {', '.join(table())})"
        return _finding("skip", text, speedup)
    if not any(cost.values()):
        return _finding("skip", f"{speedup.gpu}: reference.py states no least work, so there is no floor", speedup)
    numbers = _numbers(gpu, speedup, seen, cost)
    floor_ms = numbers["floor_ms"]
    if seen is None:
        return _finding("skip", _without_time(speedup, numbers), speedup, numbers)
    if seen.kernel_ms < numbers["matrix_unit_floor_ms"]:
        return _finding("fail", _under(speedup, seen, numbers), speedup, numbers)
    if seen.kernel_ms < floor_ms:
        text = f"{speedup.gpu}: {seen.kernel_ms:.3g} ms is under the fp32 floor of {floor_ms:.2f} ms: matrix units only"
        return _finding("fail", text, speedup, numbers).model_copy(update={"grade": "hint"})
    text = f"{speedup.gpu}: {seen.kernel_ms:.3g} ms is over the floor of {floor_ms:.2f} ms"
    return _finding("pass", text, speedup, numbers)


def _numbers(gpu: Gpu, speedup: Speedup, seen: Observation | None, cost: dict[str, float]) -> dict[str, float]:
    compute_ms, memory_ms = gpu.compute_ms(cost["flops"]), gpu.memory_ms(cost["bytes"])
    floor_ms = max(compute_ms, memory_ms)
    numbers = {
        "claimed_ratio": speedup.ratio,
        "compute_floor_ms": compute_ms,
        "memory_floor_ms": memory_ms,
        "matrix_unit_floor_ms": max(gpu.fastest_compute_ms(cost["flops"]), memory_ms),
        "floor_ms": floor_ms,
        "baseline_needed_ms": speedup.ratio * floor_ms,
    }
    if seen is not None:
        numbers |= {"reported_kernel_ms": seen.kernel_ms, "reported_baseline_ms": seen.baseline_ms}
    return numbers


def _under(speedup: Speedup, seen: Observation, numbers: dict[str, float]) -> str:
    under = [
        f"{name} floor ({numbers[f'{name}_floor_ms']:.2f} ms)"
        for name in ("compute", "memory")
        if seen.kernel_ms < numbers[f"{name}_floor_ms"]
    ]
    return (
        f"{speedup.gpu}: the reported {seen.kernel_ms:.3g} ms is under the fp32 {' and the '.join(under)}: "
        "no kernel that does this work can be that fast"
    )


def _without_time(speedup: Speedup, numbers: dict[str, float]) -> str:
    floor, needed = _digits(numbers["floor_ms"]), _digits(numbers["baseline_needed_ms"])
    if not numbers["compute_floor_ms"]:
        text = f"{speedup.gpu}: a ratio of {speedup.ratio:g} without a time; the stated bytes alone take {floor} ms"
        return f"{text}, and no arithmetic is stated"
    return (
        f"{speedup.gpu}: a ratio of {speedup.ratio:g} without a time; with the kernel at the fp32 floor of {floor} ms "
        f"the baseline would have to take {needed} ms or more"
    )


def _digits(milliseconds: float) -> str:
    """Return three significant digits, without an exponent for usual times."""
    return f"{float(f'{milliseconds:.3g}'):g}"


def _finding(outcome: Outcome, summary: str, speedup: Speedup, numbers: dict[str, float] | None = None) -> Finding:
    return Finding(
        probe=PROBE,
        target=speedup.gpu,
        outcome=outcome,
        grade="proved" if outcome == "fail" else None,
        summary=summary,
        evidence={**(numbers or {})},
        reproduce_with="audit/model/gpus.toml holds the rates, reference.py the cost",
    )
