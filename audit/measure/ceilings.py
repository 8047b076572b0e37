"""What the GPU at hand reached in this session, as a time for the stated work: PyTorch's own copy and products."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from audit.measure.protocols import ALONE
from audit.measure.samples import found, median_ms
from audit.model import Measurement

CEILING = "ceiling:"
COPY = f"{CEILING}copy"
PRODUCTS = {"fp32": "matmul_fp32", "tf32": "matmul_tf32", "fp16": "matmul_fp16", "bf16": "matmul_fp16"}
SPLIT_PRODUCTS = 3
"""Products of fp16 parts that one product of split numbers takes."""


def rate(measurements: Iterable[Measurement], name: str) -> float | None:
    """Bytes moved or operations done in a millisecond; None where it was not measured."""
    known = tuple(measurements)
    timings, ms = found(known, name, ALONE), median_ms(known, name, ALONE)
    if not timings or not ms:
        return None
    sizes = timings[-1].shape
    return (sizes["bytes"] if name == COPY else 2.0 * prod(sizes.values())) / ms


def least_ms(measurements: Iterable[Measurement], cost: Mapping[str, float], precision: str) -> float | None:
    """The time of that work at the rates reached by products of that precision and by a copy; None where unknown.

    Args:
        measurements: all timings.
        cost: `flops` and `bytes` of the work.
        precision: of the products; `split_fp16` takes three of fp16.
    """
    known = tuple(measurements)
    each, times = ("fp16", SPLIT_PRODUCTS) if precision == "split_fp16" else (precision, 1)
    copied, computed = rate(known, COPY), rate(known, f"{CEILING}{PRODUCTS[each]}")
    if copied is None or computed is None:
        return None
    return max(times * cost["flops"] / computed, cost["bytes"] / copied)
