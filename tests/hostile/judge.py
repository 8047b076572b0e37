"""A judge in a process of its own, which an attack may well hit: audits what it is asked for, always with one pool.

`python -m tests.hostile.judge DEVICE` reads one JSON request a line: the folders `claim` and `out` and `limit_s` of a
session. It answers each with a line: `{"failed": null}` or the one sentence the audit failed with. The record is in
`out`.
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
from audit.emulator import toolchain
from audit.errors import AuditError
from audit.inquiry import places
from audit.model import Claim
from audit.pipeline import Audit
from audit.progress import Progress
from audit.worker.pool import Workers

KERNEL_LIMIT_S = 1.0
COMPILE_LIMIT_S = 30


def main() -> None:
    """Answers until nobody asks any more."""
    toolchain.COMPILE_LIMIT_S = COMPILE_LIMIT_S
    with Workers(places(1)) as workers:
        for line in sys.stdin:
            request = json.loads(line)
            try:
                _audit(request, workers)
                answer = {"failed": None}
            except AuditError as error:
                answer = {"failed": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer), flush=True)


def _audit(request: dict[str, Any], workers: Workers) -> None:
    folder = claims.load(request["claim"])
    device = _device(sys.argv[1], folder.claim, request["limit_s"])
    with Audit(
        folder, device, Path(request["out"]), entropy=3, workers=workers, progress=Progress(io.StringIO())
    ) as one:
        confirmed = () if sys.argv[1] == "cuda" else (one.confirm,)  # a build as published takes a minute
        for stage in (one.prepare, one.lint, one.review, one.build, one.verify, *confirmed, one.judge):
            stage()


def _device(kind: str, claim: Claim, limit_s: float) -> AuditDevice:
    """The device of that kind, with as much patience as asked for."""
    if kind == "emulated":
        return EmulatedDevice(session_limit_s=limit_s, kernel_limit_s=KERNEL_LIMIT_S)
    from audit.build.cuda import CudaDevice  # it needs a GPU

    class Impatient(CudaDevice):
        def build(self, *of: Any, **how: Any) -> Any:
            return replace(super().build(*of, **how), limit_s=limit_s)

    return Impatient(claim)


if __name__ == "__main__":
    main()
