"""Runs in a child of its own: torch's extension builder on one source; compiler messages go to standard output.

The only argument is JSON: `name`, `source`, `flags`, `includes`, `folder`. The exit code is 0 only if the module builds
and loads.
"""

from __future__ import annotations

import json
import sys


def main() -> int:
    """Build `<folder>/<name>.so` and load it, which reveals a missing symbol."""
    from torch.utils.cpp_extension import load

    request = json.loads(sys.argv[1])
    try:
        load(
            request["name"],
            [request["source"]],
            extra_cuda_cflags=request["flags"],
            extra_include_paths=request["includes"],
            build_directory=request["folder"],
            verbose=False,
        )
    except (RuntimeError, ImportError) as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
