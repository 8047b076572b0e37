"""Runs in a child of `audit doctor`: inputs and right results of each feature of the device. Prints a line of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from audit.build.emulated.library import load
from audit.build.emulated.runtime import ORDERS, Runtime
from audit.build.settings import Configuration

_EXPECTED_REPORTS = {"warp_synchronous": {"warp-mask"}}


@dataclass(frozen=True)
class Case:
    """A feature: its inputs, its right result, and the absolute tolerance."""

    name: str
    inputs: Callable[[], tuple[Any, ...]]
    expected: Callable[..., torch.Tensor]
    tolerance: float = 0.0


def _votes(values: torch.Tensor) -> torch.Tensor:
    same = (values[:, None] == values[None, :]).sum(1)
    return (int((values & 1).sum()) + 100 * same + 10000 * values.max() + 1).int()


def _tf32_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (_tf32(a).double() @ _tf32(b).double()).float()


def _tf32(x: torch.Tensor) -> torch.Tensor:
    return ((x.view(torch.int32) + 0x1000) & -0x2000).view(torch.float32)


CASES = (
    Case("tiled_matmul", lambda: (torch.randn(40, 40), torch.randn(40, 40)), torch.matmul, 1e-4),
    Case("dynamic_shared", lambda: (torch.randn(3, 96),), lambda x: x.flip(1)),
    Case("dispatch", lambda: (torch.randn(100, dtype=torch.float16),), lambda x: x * 3),
    Case("vector_types", lambda: (torch.randn(40, 4),), lambda x: x.flip(1)),
    Case(
        "half_pairs",
        lambda: (torch.randn(64).half(), torch.randn(64).half()),
        lambda a, b: (a.double() * b.double() + 1).half(),
        0.004,
    ),
    Case("bfloat", lambda: (torch.randn(50).bfloat16(),), lambda x: x.float() * 2),
    Case("cooperative_groups_reduce", lambda: (torch.randn(1000),), lambda x: x.sum()[None], 1e-3),
    Case(
        "wmma_f16",
        lambda: (torch.randn(32, 32).half(), torch.randn(32, 32).half()),
        lambda a, b: 2 * (a.float() @ b.float().T),
        1e-4,
    ),
    Case("wmma_tf32", lambda: (torch.randn(32, 32), torch.randn(32, 32)), _tf32_product, 1e-4),
    Case(
        "histogram",
        lambda: (torch.randint(0, 64, (500,), dtype=torch.int32),),
        lambda x: torch.bincount(x // 4, minlength=16).int(),
    ),
    Case("accessors", lambda: (torch.randn(5, 70),), lambda x: x.T.contiguous()),
    Case("shuffle_scan", lambda: (torch.randn(4, 32),), lambda x: x.cumsum(1), 1e-4),
    Case("warp_votes", lambda: (torch.randint(0, 9, (32,), dtype=torch.int32),), _votes),
    Case("pipeline_copies", lambda: (torch.randn(2, 32, 4),), lambda x: x.flip(1)),
    Case("runtime_api", lambda: (torch.randn(130),), lambda x: x * 5),
    Case(
        "doubles", lambda: (torch.rand(200, dtype=torch.float64) + 0.5,), lambda x: x.rsqrt() + x.clamp(min=2.0), 1e-12
    ),
    Case("compare_and_swap", lambda: (torch.randn(700),), lambda x: x.max()[None]),
    Case("last_block", lambda: (torch.randn(256),), lambda x: x.sum()[None], 1e-3),
    Case("warp_synchronous", lambda: (torch.randn(64),), lambda x: x.sum()[None], 1e-4),
)


def run_case(case: Case, function: Callable[..., torch.Tensor], runtime: Runtime) -> str:
    """Return the error of a feature in words; empty if there is none."""
    for order in ORDERS:
        asked = Configuration(allocator="poison_nan", thread_order=order, block_order=order, seed=7, checker=True)
        runtime.configure(asked)
        inputs = case.inputs()
        want, got = case.expected(*inputs), function(*inputs)
        good = (got.double() - want.double()).abs() <= case.tolerance
        kinds = {each["kind"] for each in runtime.reports()} - _EXPECTED_REPORTS.get(case.name, set())
        runtime.reset()
        runtime.recover()
        if not bool(good.all()):
            at = int((~good).flatten().nonzero()[0])
            shown = f"expected {want.flatten()[at].item():.6g}, got {got.flatten()[at].item():.6g}"
            return f"order {order}: {int((~good).sum())} of {good.numel()} values wrong; at {at} {shown}"
        if kinds:
            return f"order {order}: reported {', '.join(sorted(kinds))} though nothing is wrong"
    return ""


def main(library: str, runtime_library: str) -> None:
    """Run every case and print the list of results."""
    torch.set_num_threads(1)
    torch.manual_seed(20261121)
    runtime = Runtime(Path(runtime_library))
    functions = load(Path(library), "micro", prefix=runtime.prefix)
    results = []
    for case in CASES:
        try:
            detail = run_case(case, functions[case.name], runtime)
        except RuntimeError as error:  # what TORCH_CHECK raises
            detail = str(error)
        results.append({"name": case.name, "passed": not detail, "detail": detail})
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
