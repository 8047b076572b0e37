"""A judge in a process of its own, which an attack may well hit: audits what it is asked for, always with one pool.

`python -m tests.hostile.judge DEVICE` reads one JSON request a line: the folders `claim` and `out`, the limits of a
session and of a compiler (`limit_s`, `compile_limit_s`), whether the claimed source is for the `published` build
alone, and whether it is `timed`. It answers each with a line: `{"failed": null}` or the one sentence the audit failed
with. The record is in `out`.
"""

from __future__ import annotations

import io
import json
import resource
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit import claims
from audit.audit import Audit
from audit.build.cuda import compile, fast_toolchain
from audit.build.cuda.device import CudaDevice
from audit.build.device import AuditDevice
from audit.build.emulated import toolchain
from audit.build.emulated.device import EmulatedDevice
from audit.model import Claim
from audit.model.errors import AuditError
from audit.report.progress import Progress
from audit.run.processes.pool import Workers
from audit.scheduler import places

KERNEL_LIMIT_S = 1.0
MEMORY = 3 << 30
"""Bytes an emulated audit may use: so little that a machine of any size is at the bound within seconds."""


def main() -> None:
    """Answers until nobody asks any more."""
    if sys.argv[1] == "emulated":
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    else:
        fast_toolchain.prepare()  # made in the background it would look like something left behind
    with Workers(places(1)) as workers:
        for line in sys.stdin:
            request = json.loads(line)
            toolchain.COMPILE_LIMIT_S = compile.BUILD_LIMIT_S = request["compile_limit_s"]
            try:
                _audit(request, workers)
                answer = {"failed": None}
            except AuditError as error:
                answer = {"failed": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer), flush=True)


def _audit(request: dict[str, Any], workers: Workers) -> None:
    folder = claims.load(request["claim"])
    limit_s = request["limit_s"]
    device: AuditDevice = EmulatedDevice(session_limit_s=limit_s, kernel_limit_s=KERNEL_LIMIT_S)
    if sys.argv[1] == "cuda":
        device = Gpu(folder.claim, limit_s=limit_s, published=request["published"])
    silent = Progress(io.StringIO())
    timed, out = request["timed"], Path(request["out"])
    with Audit(folder, device, out, entropy=3, timed=timed, workers=workers, progress=silent) as one:
        for stage in (one.prepare, one.lint, one.review, one.build, one.verify, one.measure, one.confirm, one.judge):
            stage()


class Gpu(CudaDevice):
    """A GPU with as much patience as asked for; a published build takes a minute, and only what ends there has one."""

    def __init__(self, claim: Claim, *, limit_s: float, published: bool) -> None:
        super().__init__(claim)
        self._limit_s = limit_s
        self.levels = self.levels if published else replace(self.levels, published=None)

    def prepare(self) -> None:
        """Nothing: what builds share was made before the first audit, and no access is checked."""

    def build(self, *of: Any, **how: Any) -> Any:
        return replace(super().build(*of, **how), limit_s=self._limit_s)


if __name__ == "__main__":
    main()
