"""Runs in a child: arithmetic on bfloat16 in Triton's interpreter, which stores it as integers and computes with those.

Operands become float32, and the result is rounded once, to the nearest bfloat16, as on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

OPERATIONS = ("binary_op", "unary_op", "ternary_op", "create_fma", "create_dot", "create_erf", "create_rsqrt")
"""The arithmetic methods of the interpreter's builder. Atomic operations on bfloat16 are refused."""


def patch(interpreter: Any) -> None:
    """Wrap the interpreter's functions so that they take bfloat16."""
    known = _Bfloat16(interpreter)
    builder = interpreter.InterpreterBuilder
    for name in OPERATIONS:
        setattr(builder, name, known.widened(getattr(builder, name)))
    builder.get_bf16 = known.constant
    builder.cast_impl = known.cast(builder.cast_impl)
    builder.create_atomic_rmw = known.refused(builder.create_atomic_rmw)
    for kind in (interpreter.ReduceOps, interpreter.ScanOps):
        kind.apply_impl = known.reduced(kind.apply_impl)


class _Bfloat16:
    def __init__(self, interpreter: Any) -> None:
        self._handle, self._types = interpreter.TensorHandle, interpreter.tl

    def widened(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """Return the operation with bfloat16 operands in float32."""

        @wraps(plain)
        def function(builder: Any, *operands: Any) -> Any:
            wide = [self._wide(one) if self._is_narrow(one) else one for one in operands]
            result = plain(builder, *wide)
            if all(one is other for one, other in zip(wide, operands, strict=True)) or result.data.dtype != np.float32:
                return result
            operand = operands[2] if plain.__name__ == "create_dot" else operands[-1]  # has the result's type
            return self._narrow(result) if self._is_narrow(operand) or not hasattr(operand, "dtype") else result

        return function

    def constant(self, value: float) -> Any:
        """Return a literal of the source."""
        return self._narrow(self._handle(np.array([value], dtype=np.float32), self._types.float32))

    def cast(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """Return the conversion by way of float32 where one side is bfloat16."""

        @wraps(plain)
        def function(builder: Any, source: Any, target: Any) -> Any:
            source = self._wide(source) if self._is_narrow(source) else source
            if target.scalar != self._types.bfloat16:
                return plain(builder, source, target)
            return self._narrow(plain(builder, source, self._types.float32))

        return function

    def refused(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """Return the atomic operation for all other types."""

        @wraps(plain)
        def function(builder: Any, kind: Any, pointers: Any, *more: Any) -> Any:
            if pointers.get_element_ty() == self._types.bfloat16:
                raise NotImplementedError("an atomic operation on bfloat16")
            return plain(builder, kind, pointers, *more)

        return function

    def reduced(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """Return the reduction or scan with bfloat16 tensors in float32."""

        @wraps(plain)
        def function(operation: Any, given: Any) -> Any:
            if not any(self._is_narrow(one.handle) for one in given):
                return plain(operation, given)
            wide = [
                self._as_tensor(self._wide(one.handle), one) if self._is_narrow(one.handle) else one for one in given
            ]
            result = plain(operation, tuple(wide))
            several = isinstance(result, list | tuple)
            made = [
                self._as_tensor(self._narrow(one.handle), one) if one.dtype == self._types.float32 else one
                for one in (result if several else [result])
            ]
            return made if several else made[0]

        return function

    def _is_narrow(self, one: Any) -> bool:
        return isinstance(one, self._handle) and one.dtype.scalar == self._types.bfloat16

    def _wide(self, one: Any) -> Any:
        return self._handle((one.data.astype(np.uint32) << 16).view(np.float32), self._types.float32)

    def _narrow(self, one: Any) -> Any:
        bits = np.ascontiguousarray(one.data, dtype=np.float32).view(np.uint32)
        nearest = (bits + (0x7FFF + (bits >> 16 & 1))) >> 16
        quiet = bits >> 16 | 0x40
        return self._handle(np.where(np.isnan(one.data), quiet, nearest).astype(np.uint16), self._types.bfloat16)

    def _as_tensor(self, handle: Any, like: Any) -> Any:
        kind = handle.dtype
        shape = list(like.shape)
        return self._types.core.tensor(handle, self._types.block_type(kind, shape) if shape else kind)
