"""Runs in a child of its own: load a `.py` variant for a GPU, so that torch's builder compiles its CUDA texts once.

The only argument is JSON: `source`, `entry`, `init_inputs`, and `folder`, which gets `built.json` with `loaded`, true
if the entry was found; `extensions`, for the key of every `load_inline` either `[library, name]`, the library's path in
the folder, or the builder's refusal as a text; and `left`, true if the source exited this process. An exception of the
source ends this process and is in its log.
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

    from audit.build.python.inline import key_of
    from audit.build.python.load import function_of
    from audit.model import Harness

    request = json.loads(sys.argv[1])
    folder = Path(request["folder"])
    plain: Any = cpp_extension.load_inline
    extensions: dict[str, Any] = {}
    values = {"loaded": False, "extensions": extensions, "left": False}

    def load_inline(name: str, cpp_sources: Any, cuda_sources: Any = None, *more: Any, **named: Any) -> Any:
        key = key_of(cpp_sources, cuda_sources, named.get("functions"))
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
