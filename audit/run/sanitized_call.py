"""Runs under compute-sanitizer, alone in its process: one call of one compiled function; its result is not read.

The only argument is JSON: what `cuda.entry_of` takes, `entry`, `inputs` (file of arguments), `harness`, `ranges` (file
for the address and bytes of every input on the GPU). The exit code is 0 only if the call and its kernels ended without
an error.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

from audit.run.harness import asked, placed

RANGES = "inputs"


def main() -> None:
    """Uploads the arguments, calls, waits."""
    from audit.run.cuda import entry_of, require_cuda  # `sanitizer` imports this module where no GPU is asked

    request = json.loads(sys.argv[1])
    require_cuda()
    harness = asked(request)
    function = entry_of(request, request["entry"], harness)
    arguments = torch.load(request["inputs"], weights_only=True)
    uploaded = placed(arguments, torch.Tensor.cuda, harness.host)
    tensors = [x for x in uploaded if isinstance(x, torch.Tensor)]
    torch.cuda.synchronize()
    places = [[x.untyped_storage().data_ptr(), x.untyped_storage().nbytes()] for x in tensors]
    Path(request["ranges"]).write_text(json.dumps({RANGES: places}), encoding="utf-8")
    function(*uploaded)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
