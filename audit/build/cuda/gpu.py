"""The GPU at hand, by nvidia-smi: the judge's process loads neither torch nor a CUDA library."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from audit.model.errors import BadInput

QUERY_LIMIT_S = 20.0
IDENTITY = "name,compute_cap,driver_version,memory.total"
FORMAT = "--format=csv,noheader,nounits"
STATE = "clocks.sm,clocks.mem,power.draw,temperature.gpu,clocks_throttle_reasons.active"
SLOWED_BY = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x20: "software thermal limit",
    0x40: "hardware thermal limit",
    0x80: "power brake",
}
"""Bits of the driver's throttle reasons that slow a kernel down; idle and application clocks do not."""


SPECIFIC = {90: "a"}
"""The end of a target's name by compute capability: sm_90a has `wgmma`, sm_90 has not. Code for sm_90a runs on 9.0
alone, which is enough: the GPU at hand is the only target. Code without such instructions is the same for both."""


@dataclass(frozen=True)
class Gpu:
    """The identity of a GPU: `compute_capability` is 90 for 9.0; `driver_cuda` is the newest CUDA the driver runs."""

    name: str
    compute_capability: int
    driver: str
    memory_mib: int
    driver_cuda: tuple[int, int] | None

    @property
    def version(self) -> str:
        """The compute capability as people write it: "9.0"."""
        return f"{self.compute_capability // 10}.{self.compute_capability % 10}"

    @property
    def arch(self) -> str:
        """The target in the form of TORCH_CUDA_ARCH_LIST: "9.0a" for 9.0, see `SPECIFIC`, and "7.5" for 7.5."""
        return self.version + SPECIFIC.get(self.compute_capability, "")


@dataclass(frozen=True)
class GpuState:
    """The state of a GPU: clocks in MHz, power in W, temperature in degrees C; None where unknown."""

    sm_mhz: float | None
    memory_mhz: float | None
    power_w: float | None
    temperature_c: float | None
    slowed_by: tuple[str, ...]

    def evidence(self) -> dict[str, float | str | None]:
        """Return the numbers for a finding."""
        numbers = {key: value for key, value in asdict(self).items() if key != "slowed_by"}
        return {**numbers, "slowed_by": ", ".join(self.slowed_by) or "nothing"}


def find() -> Gpu:
    """Return the GPU of an audit: the first visible one. Raises BadInput: there is none, or no driver that answers."""
    if shutil.which("nvidia-smi") is None:
        raise BadInput("--device cuda: no NVIDIA driver here (nvidia-smi is missing); use --device emulated")
    found = re.search(r"CUDA (?:UMD )?Version:\s*(\d+)\.(\d+)", _ask([]))
    newest = (int(found[1]), int(found[2])) if found else None
    return parse_identity(_ask([f"--query-gpu={IDENTITY}", FORMAT, *_chosen()]), driver_cuda=newest)


def state() -> GpuState | None:
    """Return the present state; None where the driver does not answer."""
    try:
        return parse_state(_ask([f"--query-gpu={STATE}", FORMAT, *_chosen()]))
    except BadInput:
        return None


def parse_identity(text: str, *, driver_cuda: tuple[int, int] | None) -> Gpu:
    """Return the first GPU of an answer to `IDENTITY`. Raises BadInput if there is none or its fields are unknown."""
    fields = _first_row(text)
    found = re.fullmatch(r"(\d+)\.(\d)", fields[1]) if len(fields) == 4 else None
    if found is None:
        raise BadInput(f"--device cuda: nvidia-smi names no GPU ({text.strip()[:80]!r}); use --device emulated")
    memory = _number(fields[3])
    return Gpu(fields[0], 10 * int(found[1]) + int(found[2]), fields[2], int(memory or 0), driver_cuda)


def parse_state(text: str) -> GpuState:
    """Return the first GPU's state of an answer to `STATE`. Raises BadInput if the answer has other fields."""
    fields = _first_row(text)
    if len(fields) != 5:
        raise BadInput(f"nvidia-smi answered {text.strip()[:80]!r} where clocks were asked for")
    active = int(fields[4], 16) if re.fullmatch(r"0x[0-9a-fA-F]+", fields[4]) else 0
    slowed = tuple(reason for bit, reason in SLOWED_BY.items() if active & bit)
    sm, memory, power, temperature = (_number(field) for field in fields[:4])
    return GpuState(sm, memory, power, temperature, slowed)


def _ask(arguments: list[str]) -> str:
    try:
        answer = subprocess.run(
            ["nvidia-smi", *arguments], capture_output=True, text=True, check=False, timeout=QUERY_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(f"--device cuda: nvidia-smi does not answer ({error}); restart the driver") from error
    if answer.returncode:
        words = (answer.stdout + answer.stderr).strip().splitlines()[:1] or ["no message"]
        raise BadInput(f"--device cuda: nvidia-smi failed: {words[0]}; use --device emulated")
    return answer.stdout


def _chosen() -> list[str]:
    """Return the option for the first GPU visible to CUDA, by the machine's own number."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    return [f"--id={first}"] if first else []


def _first_row(text: str) -> list[str]:
    rows = text.strip().splitlines()
    return [field.strip() for field in rows[0].split(",")] if rows else []


def _number(field: str) -> float | None:
    return float(field) if re.fullmatch(r"\d+(\.\d+)?", field) else None


LOCK_FILE = "AUDIT_TURN"
"""The variable with the GPU's lock file; not set where an audit has its GPU for itself."""
_locking = threading.Lock()
_locked: list[IO[bytes]] = []


def lock() -> None:
    """Wait for the GPU's lock, which this process then holds until `unlock`, or until it ends. One of several audits
    that share a GPU uses it, while the next one builds on the processor."""
    path = os.environ.get(LOCK_FILE)
    with _locking:
        if path and not _locked:
            file = Path(path).open("ab")  # noqa: SIM115  # open, and so locked, as long as the process lives
            fcntl.flock(file, fcntl.LOCK_EX)
            _locked.append(file)


def unlock() -> None:
    """Leave the GPU to another audit, also where a process that was forked has the lock file open."""
    with _locking:
        while _locked:
            with _locked.pop() as file:
                fcntl.flock(file, fcntl.LOCK_UN)
