"""Runs under compute-sanitizer, alone in its process: one call of one compiled function; its result is not read.

The only argument is the JSON of a `SanitizedCall`. The exit code is 0 only if the call and its kernels ended without an
error.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

from audit.build.settings import CudaLibrary
from audit.model import Harness
from audit.run.harness import placed

RANGES = "inputs"


class SanitizedCall(CudaLibrary):
    """One call: `inputs` is a file of arguments, `ranges` the file for the address and bytes of every input there."""

    entry: str
    inputs: Path
    harness: Harness
    ranges: Path | None = None


def main() -> None:
    """Uploads the arguments, calls, waits."""
    from audit.run.cuda import entry_of, require_cuda  # `sanitizer` imports this module where no GPU is asked

    request = SanitizedCall.model_validate_json(sys.argv[1])
    require_cuda()
    function = entry_of(request, request.entry, request.harness)
    arguments = torch.load(request.inputs, weights_only=True)
    uploaded = placed(arguments, torch.Tensor.cuda, request.harness.host)
    tensors = [x for x in uploaded if isinstance(x, torch.Tensor)]
    torch.cuda.synchronize()
    places = [[x.untyped_storage().data_ptr(), x.untyped_storage().nbytes()] for x in tensors]
    if request.ranges is not None:
        request.ranges.write_text(json.dumps({RANGES: places}), encoding="utf-8")
    function(*uploaded)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
