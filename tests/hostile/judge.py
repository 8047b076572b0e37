"""A judge in a process of its own, which an attack may well hit: audits what it is asked for, always with one pool.

`python -m tests.hostile.judge DEVICE` reads one JSON request a line, `claim` and `out`, both folders, and answers each
with a line: `{"failed": null}` or the one sentence the audit failed with. The record is in `out`.
"""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit import claims
from audit.build.device import AuditDevice
from audit.build.emulated import EmulatedDevice
from audit.errors import AuditError
from audit.model import Claim
from audit.pipeline import Audit, places
from audit.progress import Progress
from audit.worker.pool import Workers

SESSION_LIMIT_S, KERNEL_LIMIT_S = 2.0, 1.0
CUDA_LIMIT_S = 20.0


def main() -> None:
    """Answers until nobody asks any more."""
    with Workers(places(1)) as workers:
        for line in sys.stdin:
            request = json.loads(line)
            try:
                _audit(request, workers)
                answer = {"failed": None}
            except AuditError as error:
                answer = {"failed": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer), flush=True)


def _audit(request: dict[str, str], workers: Workers) -> None:
    folder = claims.load(request["claim"])
    device = _device(sys.argv[1], folder.claim)
    with Audit(
        folder, device, Path(request["out"]), entropy=3, workers=workers, progress=Progress(io.StringIO())
    ) as one:
        for stage in (one.prepare, one.lint, one.review, one.build, one.verify, one.confirm, one.judge):
            stage()


def _device(kind: str, claim: Claim) -> AuditDevice:
    """The device of that kind, with less patience than usual."""
    if kind == "emulated":
        return EmulatedDevice(session_limit_s=SESSION_LIMIT_S, kernel_limit_s=KERNEL_LIMIT_S)
    from audit.build.cuda import CudaDevice  # it needs a GPU

    class Impatient(CudaDevice):
        def build(self, *of: Any, **how: Any) -> Any:
            return replace(super().build(*of, **how), limit_s=CUDA_LIMIT_S)

    return Impatient(claim)


if __name__ == "__main__":
    main()
