"""A GPU whose accesses and barriers compute-sanitizer checks, in processes of its own.

`python -m audit.run.devices.sanitizer CALL` is such a process, run under the tool: it makes one call of one compiled
function and ignores the result. CALL is the JSON of a `SanitizedCall`. The exit code is 0 only if the call and its
kernels ended without an error.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import audit
from audit.build.settings import CheckedSettings, CudaLibrary
from audit.model import Harness
from audit.run.calls.harness import placed
from audit.run.devices.device import SessionDevice, report
from audit.run.devices.sanitizer_log import finished, reports_in

OPTIONS = ("--print-limit", "100")
NO_BACKTRACE = ("--show-backtrace", "no")
"""With backtraces a kernel with a million bad accesses takes minutes."""
TOOLS = {
    "memcheck": (*NO_BACKTRACE, "--report-api-errors", "no"),
    "initcheck": NO_BACKTRACE,
    "racecheck": NO_BACKTRACE,
    "synccheck": ("--show-backtrace", "device"),  # the barrier may be in a toolkit header: its caller's line counts
}
SHARED_TOO = "--initcheck-address-space"
"""An option of newer versions: initcheck covers shared memory too."""
TOOL_LIMIT_S = 75.0
HELP_LIMIT_S = 20.0
NO_ANSWER = "no-answer"
PACKAGE_ROOT = Path(audit.__file__).resolve().parents[1]
RANGES = "inputs"


class SanitizedCall(CudaLibrary):
    """One call: `inputs` is a file of arguments, `ranges` gets the address and bytes of every input."""

    entry: str
    inputs: Path
    harness: Harness
    ranges: Path | None = None


class Sanitized(SessionDevice):
    """A device that runs each call once under every tool, in parallel, for its reports; a call returns None.

    torch's allocator is off, so that an access past a tensor's end leaves its allocation; the driver's own rounding
    still hides the first few dozen bytes (seen: 32), which the emulated device would check.
    """

    def __init__(self, settings: CheckedSettings) -> None:
        self._settings = settings
        self._reports: list[dict[str, Any]] = []

    def load(self, entry: str, harness: Harness) -> Callable[..., None]:
        """See `SessionDevice`."""

        def call(*arguments: Any) -> None:
            with tempfile.TemporaryDirectory(prefix="audit-") as folder:
                inputs = Path(folder) / "inputs.pt"
                torch.save(list(arguments), inputs)
                library = {name: getattr(self._settings, name) for name in CudaLibrary.model_fields}
                asked = SanitizedCall(**library, entry=entry, inputs=inputs, harness=harness)
                self._reports += checked(str(self._settings.sanitizer), asked, Path(folder))

        return call

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        """See `SessionDevice`. Return the tensor itself; the checked process uploads it."""
        return tensor

    def trace(self) -> dict[str, Any]:
        """See `SessionDevice`. A tool without an answer is a report too, unlike a tool that found nothing."""
        reports, self._reports = self._reports, []
        return {"launches": [], "reports": reports}


@dataclass(frozen=True)
class _Running:
    """One running tool, with the files for its log and for the addresses of the inputs."""

    tool: str
    process: subprocess.Popen[bytes]
    log: Path
    ranges: Path
    deadline: float


def checked(program: str, request: SanitizedCall, folder: Path) -> list[dict[str, Any]]:
    """Return the reports of all tools about one call, each run in a process of its own, in parallel. `program` is the
    path of compute-sanitizer; the folder, for this call alone, gets the logs."""
    options = {**TOOLS}
    if SHARED_TOO in _help(program):
        options["initcheck"] = (*options["initcheck"], SHARED_TOO, "all")
    running = [_started(tool, [program, *given], request, folder) for tool, given in options.items()]
    return [each for one in running for each in _reports(one)]


def _help(program: str) -> str:
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run([program, "--help"], capture_output=True, timeout=HELP_LIMIT_S, check=False)
        return done.stdout.decode(errors="replace")
    return ""


def _started(tool: str, words: Sequence[str], request: SanitizedCall, folder: Path) -> _Running:
    log, ranges = folder / f"{tool}.log", folder / f"{tool}.ranges"
    options = ["--tool", tool, "--log-file", str(log), *OPTIONS]
    asked = request.model_copy(update={"ranges": ranges}).model_dump_json()
    python = [sys.executable, "-m", "audit.run.devices.sanitizer", asked]
    process = subprocess.Popen(
        [*words, *options, *python],
        stdin=subprocess.DEVNULL,
        cwd=PACKAGE_ROOT,
        env={**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
    )
    return _Running(tool, process, log, ranges, time.monotonic() + TOOL_LIMIT_S)


def _reports(one: _Running) -> list[dict[str, Any]]:
    with suppress(subprocess.TimeoutExpired):
        one.process.wait(max(0.0, one.deadline - time.monotonic()))
    code = one.process.poll()
    one.process.kill()
    one.process.wait()
    log = one.log.read_text(encoding="utf-8", errors="replace") if one.log.exists() else ""
    found = reports_in(log, tool=one.tool)
    if not found and (code != 0 or not finished(log)):
        how = f"stopped after {TOOL_LIMIT_S:g} s" if code is None else f"exit code {code}"
        return [{**report(NO_ANSWER, f"compute-sanitizer {one.tool} gave no answer ({how})"), "tool": one.tool}]
    return [_of_input(each, one.ranges) for each in found]


def _of_input(found: dict[str, Any], ranges: Path) -> dict[str, Any]:
    """Return the report without its address; an uninitialised read of an input, uploaded whole, has its own kind."""
    plain = {key: value for key, value in found.items() if key != "address"}
    address, shared = found["address"], "shared" in found["message"]
    if found["kind"] != "uninitialised-read" or address is None or shared or not ranges.exists():
        return plain
    inputs = json.loads(ranges.read_text(encoding="utf-8")).get(RANGES, [])
    if not any(start <= address < start + size for start, size in inputs):
        return plain
    message = f"{plain['message']}; an input was uploaded whole"
    return {**plain, "kind": "uninitialised-read-of-input", "message": message}


def main() -> None:
    """Upload the arguments, call the function and wait."""
    from audit.run.devices.cuda import entry_of, require_cuda  # imported by this process alone

    request = SanitizedCall.model_validate_json(sys.argv[1])
    require_cuda()
    function = entry_of(request, request.entry, request.harness)
    arguments = torch.load(request.inputs, weights_only=True)
    uploaded = placed(arguments, torch.Tensor.cuda, request.harness.host)
    tensors = [x for x in uploaded if isinstance(x, torch.Tensor)]
    torch.cuda.synchronize()
    ranges = [[x.untyped_storage().data_ptr(), x.untyped_storage().nbytes()] for x in tensors]
    if request.ranges is not None:
        request.ranges.write_text(json.dumps({RANGES: ranges}), encoding="utf-8")
    function(*uploaded)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
