"""Runs in a child of its own: NVRTC on one device part, through ctypes; its messages go to standard output.

The only argument is JSON: `library` (libnvrtc), `source`, `options`, `expressions`, `image`. On success it writes the
image (a cubin, or PTX for a virtual architecture) and, in the same folder, `names.json` with the name of each
expression in the image. NVRTC compiles hostile text: in a process of its own it can crash or hang without harm, and
several can run in parallel.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

NAMES = "names.json"


class Nvrtc:
    """libnvrtc, loaded by path. Raises OSError if it or its built-in functions cannot be loaded."""

    def __init__(self, library: Path) -> None:
        for builtins in library.parent.glob("libnvrtc-builtins.so.*"):  # NVRTC looks it up by name
            ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
        self._library = ctypes.CDLL(str(library))
        self._program = ctypes.c_void_p()

    def compile(self, text: str, options: list[str], expressions: list[str]) -> tuple[bool, str]:
        """Return whether the text compiles with all those expressions, and NVRTC's log."""
        create = self._library.nvrtcCreateProgram(
            ctypes.byref(self._program), text.encode(), b"kernels.cu", 0, None, None
        )
        if create:
            return False, f"error: nvrtcCreateProgram returned {create}"
        for expression in expressions:
            self._library.nvrtcAddNameExpression(self._program, expression.encode())
        listed = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        code = self._library.nvrtcCompileProgram(self._program, len(options), listed)
        return code == 0, self._bytes("ProgramLog").rstrip(b"\0").decode(errors="replace")

    def image(self) -> bytes:
        """Return the cubin, or the PTX for a virtual architecture."""
        return self._bytes("CUBIN") or self._bytes("PTX")

    def lowered(self, expression: str) -> str | None:
        """Return the name of an expression in the image; None where it has none."""
        name = ctypes.c_char_p()
        code = self._library.nvrtcGetLoweredName(self._program, expression.encode(), ctypes.byref(name))
        return None if code or name.value is None else name.value.decode()

    def _bytes(self, what: str) -> bytes:
        size = ctypes.c_size_t()
        getattr(self._library, f"nvrtcGet{what}Size")(self._program, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        getattr(self._library, f"nvrtcGet{what}")(self._program, data)
        return data.raw


def main() -> int:
    """Compile; the exit code is 0 only if the image has every expression."""
    request: dict[str, Any] = json.loads(sys.argv[1])
    nvrtc = Nvrtc(Path(request["library"]))
    text = Path(request["source"]).read_text(encoding="utf-8")
    good, log = nvrtc.compile(text, request["options"], request["expressions"])
    print(log)
    if not good:
        return 1
    names = {expression: nvrtc.lowered(expression) for expression in request["expressions"]}
    lost = sorted(expression for expression, name in names.items() if name is None)
    if lost:
        print(f"error: the device part holds no {', '.join(lost)}")
        return 1
    image = Path(request["image"])
    image.write_bytes(nvrtc.image())
    image.with_name(NAMES).write_text(json.dumps(names), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
