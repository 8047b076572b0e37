"""Masked elements of a load in Triton to which the source gives no value.

Triton leaves open what `tl.load` gives where the mask is false and there is no `other`, and behind the boundary of a
block pointer without `padding_option`. NVIDIA's compiled code gives zeros, and so does a plain run here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from audit.build.settings import Configuration
from audit.run.devices.device import report

MASKED, PADDED = "masked-lane-read", "open-padding-read"
_OPEN = "Triton leaves open what these are, and its code for NVIDIA GPUs makes zeros of them"
MESSAGES = {
    MASKED: f"the result depends on elements that the mask leaves out where no `other` is given; {_OPEN}",
    PADDED: f"the result depends on elements behind a boundary where no padding_option is given; {_OPEN}",
}
FILL = 40
"""The size of open elements in a run with a fill: more than most inputs, and finite after `exp`. An index or the end of
a loop stays small."""


class OpenLanes:
    """The open elements of the loads of this process; `interpreter` is the module `triton.runtime.interpreter`."""

    def __init__(self, interpreter: Any) -> None:
        self._interpreter = interpreter
        self._seen: dict[tuple[str, str, int], int] = {}
        self._kind = MASKED
        builder = interpreter.InterpreterBuilder
        builder.create_tensor_pointer_load = self._padded(builder.create_tensor_pointer_load)

    def reports(self) -> list[dict[str, Any]]:
        """Return and clear one report a line, with the number of loads."""
        seen, self._seen = self._seen, {}
        return [
            {**report(kind, MESSAGES[kind], kernel=kernel, line=line or None), "count": count}
            for (kind, kernel, line), count in seen.items()
        ]

    def value(self, pointers: Any, configuration: Configuration, *, kernel: str, line: int) -> Any:
        """Note a load with open elements, and return what they hold: by the word of inactive lanes, on the line asked
        for if there is one; None for zeros."""
        if configuration.checker:
            key = (self._kind, kernel, line)
            self._seen[key] = self._seen.get(key, 0) + 1
        if not configuration.lane_word or configuration.lane_line not in (0, line):
            return None
        number = -FILL if configuration.lane_word >> 31 else FILL
        return self._full(pointers.data.shape, number, pointers.get_element_ty())

    def _full(self, shape: tuple[int, ...], number: int, kind: Any) -> Any:
        handle, language = self._interpreter.TensorHandle, self._interpreter.tl
        stored = self._interpreter._get_np_dtype(kind)
        if kind.is_floating() and np.dtype(stored).kind != "f":  # the bits of bfloat16 or 8 bits
            builder = self._interpreter.interpreter_builder
            wide = handle(np.full(shape, number, np.float32), language.float32)
            return builder.create_fp_to_fp(wide, kind, None) if kind.is_fp8() else builder.cast_impl(wide, kind)
        return handle(np.full(shape, number).astype(stored), kind)

    def _padded(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """Return the load through a block pointer, whose masked load has another name in reports."""

        @wraps(plain)
        def function(*args: Any, **named: Any) -> Any:
            self._kind = PADDED
            try:
                return plain(*args, **named)
            finally:
                self._kind = MASKED

        return function
