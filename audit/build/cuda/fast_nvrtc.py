"""Runs in a child of its own: NVRTC on one device part, through ctypes; what it says goes to standard output.

The only argument is JSON: `library` (libnvrtc), `source`, `options`, `expressions`, `image`. Written on success: the
image (a cubin, or PTX where the options name a virtual architecture) and beside it `names.json`, what each expression
is called in it. NVRTC compiles hostile text: in a process of its own it can crash or hang without harm, and several
run side by side.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

NAMES = "names.json"


class Nvrtc:
    """libnvrtc by path. Raises OSError if it or its built-in functions cannot be loaded."""

    def __init__(self, library: Path) -> None:
        for builtins in library.parent.glob("libnvrtc-builtins.so.*"):  # NVRTC seeks it by name only
            ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
        self._library = ctypes.CDLL(str(library))
        self._program = ctypes.c_void_p()

    def compile(self, text: str, options: list[str], expressions: list[str]) -> tuple[bool, str]:
        """Whether the text compiles with all the named things in it, and NVRTC's words."""
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
        """The cubin; the PTX where there is none, since the architecture is a virtual one."""
        return self._bytes("CUBIN") or self._bytes("PTX")

    def lowered(self, expression: str) -> str | None:
        """What an expression is called in the image; None where it stands for nothing."""
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
    """Compiles; the exit code is 0 only if everything asked for is in the image."""
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
