"""Runs in a child of its own: load a `.py` variant for a GPU, so that torch's builder compiles its CUDA texts once.

The only argument is JSON: `source`, `entry`, `init_inputs`, `oldest` (nvcc's oldest architecture), `leave_out` (whether
flags for older ones are left out, see `dropped_targets`), and `folder`, which gets `built.json` with `loaded`, true if
the entry was found; `extensions`, for each `load_inline` by key either `[library, name]`, the library's path in the
folder, or the builder's refusal as a text; `dropped`, the flags for older architectures; and `left`, true if the source
exited this process. An exception of the source ends this process and is in its log.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

MANIFEST = "built.json"


def main() -> None:
    """Load the source with a `load_inline` that records its results."""
    from torch.utils import cpp_extension

    from audit.build.python.dropped_targets import parted
    from audit.build.python.load import function_of
    from audit.build.sealed import key_of
    from audit.model import Harness

    request = json.loads(sys.argv[1])
    folder = Path(request["folder"])
    plain: Any = cpp_extension.load_inline
    extensions: dict[str, Any] = {}
    dropped: list[str] = []
    values = {"loaded": False, "extensions": extensions, "dropped": dropped, "left": False}

    def load_inline(name: str, cpp_sources: Any, cuda_sources: Any = None, *more: Any, **named: Any) -> Any:
        key = key_of(cpp_sources, cuda_sources, named.get("functions"))
        kept, older = parted(named.get("extra_cuda_cflags") or (), request["oldest"])
        dropped.extend(older)
        if older and request["leave_out"]:
            named["extra_cuda_cflags"] = kept
        try:
            module = plain(name, cpp_sources, cuda_sources, *more, **named)
        except (RuntimeError, ImportError) as error:
            extensions[key] = str(error)
            raise
        if getattr(module, "__file__", None):
            extensions[key] = [str(Path(module.__file__).relative_to(folder)), module.__name__]
        return module

    cpp_extension.load_inline = load_inline
    try:
        made = {"init_inputs": request["init_inputs"], "device": "cuda", "harness": Harness()}
        function_of(Path(request["source"]), request["entry"], **made)
        values["loaded"] = True
    except SystemExit:
        values["left"] = True
        raise
    finally:
        (folder / MANIFEST).write_text(json.dumps(values), encoding="utf-8")


if __name__ == "__main__":
    main()
