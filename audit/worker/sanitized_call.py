"""Runs under compute-sanitizer, alone in its process: one call of one compiled function; its result is not read.

The only argument is JSON: what `cuda.entry_of` takes, `entry`, `inputs` (file of arguments). The exit code is 0 only if
the call and its kernels ended without an error.
"""

from __future__ import annotations

import json
import sys

import torch

from audit.worker.cuda import entry_of, require_cuda


def main() -> None:
    """Uploads the arguments, calls, waits."""
    request = json.loads(sys.argv[1])
    require_cuda()
    function = entry_of(request, request["entry"])
    arguments = torch.load(request["inputs"], weights_only=True)
    function(*[x.to("cuda") if isinstance(x, torch.Tensor) else x for x in arguments])
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
