"""What a timing process tells, for tests: sessions with blocks, and a stand-in for the workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from audit.probes.observing.cases import Case
from audit.run.messages.results import digest_of
from audit.run.messages.timing_requests import Timing
from audit.run.messages.wire import AnyRequest
from audit.run.processes.pool import Reply

BLOCKS = list(range(12))
SHAPE = {"N": 4}
GPU = "NVIDIA H100 80GB HBM3"
EXPECTED = np.arange(16, dtype=np.float64).reshape(4, 4)


def samples(name: str, ms: float, how: str = "cold") -> dict[str, Any]:
    times = [ms * (1 + 0.001 * (block % 3)) for block in BLOCKS]
    return {"variant": name, "how": how, "samples_ms": times, "blocks": BLOCKS, "positions": [b % 2 for b in BLOCKS]}


def state(block: int, *, sm_mhz: int = 1980, reasons: int = 0, processes: int = 1) -> dict[str, Any]:
    values = {"memory_mhz": 2619, "power_w": 300.0, "temperature_c": 40}
    return {"block": block, "sm_mhz": sm_mhz, "reasons": reasons, "processes": processes, **values}


def session(request: Timing, **times_ms: float) -> list[dict[str, Any]]:
    """All events of an interleaved session; writes a right output for every callable."""
    folder = request.folder
    data = EXPECTED.astype(np.float32).tobytes()
    (folder / "right.bin").write_bytes(data)
    names = {name.replace("__", ":"): ms for name, ms in times_ms.items()}
    kept = {"inputs": 0, "block": 3, "whole": [4, 4], "rows": None, "shape": [4, 4], "dtype": "float32"}
    kept |= {"digest": digest_of(data)}
    return [
        {"gpu": GPU, "cost": {"flops": 2e10, "bytes": 1e8}},
        {"part": "inputs", "seconds": 0.1},
        *({"trying": name} for name in names),
        *({"loaded": name, "seconds": 0.1} for name in names),
        *({"warmed": name, "calls": 10, "stable": True, "first_ms": ms, "last_ms": ms} for name, ms in names.items()),
        {"states": [state(block) for block in BLOCKS]},
        *(samples(name, ms) for name, ms in names.items()),
        {"session": {"blocks": 12, "seconds": 1.0, "tight": True}},
        *({"variant": name, "file": "right.bin", **kept} for name in names if not name.startswith("control")),
        *({"profiled": name, "busy_ms": [ms], "span_ms": [ms], "kernels": 1} for name, ms in names.items()),
        {"contrast": {"l2_bytes": 1 << 20}, "cold_ms": [2.0], "hot_ms": [1.0]},
    ]


def case(folder: Path) -> Case:
    return Case(dict(SHAPE), folder / "0.inputs.pt", EXPECTED, "float32")


class StandIn:
    """Answers requests in the place of processes with a GPU, as `answers` has it by kind, and keeps them."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.requests: list[Any] = []

    def call(self, request: AnyRequest, *, limit_s: float) -> Reply:
        assert limit_s > 0
        self.requests.append(request)
        answer = self.answers.get(request.kind)
        result = answer(request) if answer else []
        return result if isinstance(result, Reply) else Reply("finished", tuple(result), "")

    def kinds(self) -> list[str]:
        return [request.kind for request in self.requests]
