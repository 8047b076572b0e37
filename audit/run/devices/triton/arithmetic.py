"""Arithmetic of Triton's interpreter as the instructions do it that Triton's compiler makes for sm_90.

By itself the interpreter computes with the bits of bfloat16 numbers; loses the carry where it rounds to 8 bits, and
overflows there to other numbers; converts a float beyond the range of an integer as the host's processor does; and
returns NaN for the larger of NaN and a number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import torch

FP8 = {"fp8e5": torch.float8_e5m2, "fp8e4nv": torch.float8_e4m3fn}
"""Triton's names of the types that an NVIDIA GPU converts."""
NARROW = "bf16"
OPERATIONS = ("binary_op", "unary_op", "ternary_op", "create_fma", "create_dot", "create_erf", "create_rsqrt")
"""The arithmetic methods of the interpreter's builder. Atomic operations on bfloat16 are refused."""


def patch(interpreter: Any) -> None:
    """Replace the functions of the interpreter's builder."""
    builder = interpreter.InterpreterBuilder
    _patch_bfloat16(interpreter, builder)
    conversion = _Conversions(interpreter)
    builder.create_minnumf = lambda self, x, y: self.binary_op(x, y, np.fmin)
    builder.create_maxnumf = lambda self, x, y: self.binary_op(x, y, np.fmax)
    builder.create_clampf = _clamp(builder.create_clampf, kept=interpreter.tl.PropagateNan.ALL)
    builder.create_fp_to_si = builder.create_fp_to_ui = conversion.whole()
    builder.create_fp_to_fp = conversion.fp8(builder.create_fp_to_fp)
    builder.create_dot = conversion.dot(builder.create_dot)
    interpreter.interpreter_builder.codegen_fns["min_dot_size"] = _least_sizes


def _patch_bfloat16(interpreter: Any, builder: Any) -> None:
    known = _Bfloat16(interpreter)
    for name in OPERATIONS:
        setattr(builder, name, known.widened(getattr(builder, name)))
    builder.get_bf16 = known.constant
    builder.cast_impl = known.cast(builder.cast_impl)
    builder.create_atomic_rmw = known.refused(builder.create_atomic_rmw)
    for kind in (interpreter.ReduceOps, interpreter.ScanOps):
        kind.apply_impl = known.reduced(kind.apply_impl)


def _least_sizes(a: Any, b: Any) -> tuple[int, int, int]:
    """Return the least M, N and K of a product that the compiler takes for an NVIDIA GPU."""
    widths = {one.scalar.primitive_bitwidth for one in (a, b)}
    if len(widths) > 1:
        raise TypeError("Triton does not compile a product of factors of two widths")
    return (1, 1, 32 if widths == {8} else 16)


def _clamp(plain: Callable[..., Any], *, kept: Any) -> Callable[..., Any]:
    """Return the clamp that makes a number of NaN, as a minimum of a maximum does, unless NaN is kept."""

    def function(builder: Any, x: Any, low: Any, high: Any, nan: Any) -> Any:
        if nan == kept:
            return plain(builder, x, low, high, nan)
        return builder.ternary_op(x, low, high, lambda one, least, most: np.fmin(np.fmax(one, least), most))

    return function


class _Conversions:
    def __init__(self, interpreter: Any) -> None:
        self._interpreter, self._types = interpreter, interpreter.tl

    def whole(self) -> Callable[..., Any]:
        """Return the conversion of PTX's `cvt.rzi`: at the type's limit beyond it, 0 for NaN; 8 bits by way of 16."""

        def function(builder: Any, source: Any, target: Any) -> Any:
            kind = self._interpreter._get_np_dtype(target)
            wide = np.dtype(f"{kind.kind}2") if kind.itemsize == 1 else kind
            made = saturated(np.trunc(self._real(builder, source)), wide)
            return self._interpreter.TensorHandle(made.astype(kind), target.scalar)

        return function

    def fp8(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """Return the conversion to or from 8 bits: to the nearest, ties to even, and finite beyond the range."""

        def function(builder: Any, source: Any, target: Any, rounding: Any) -> Any:
            to, of = target.scalar, source.dtype.scalar
            nearest = rounding in (None, self._interpreter._ir.ROUNDING_MODE.RTNE)
            if to.name in FP8 and nearest:
                return self._interpreter.TensorHandle(_narrow(self._real(builder, source), FP8[to.name]), to)
            if of.name in FP8 and not to.is_fp8():
                made = self._interpreter.TensorHandle(_wide(source.data, FP8[of.name]), self._types.float32)
                return builder.cast_impl(made, target)
            return plain(builder, source, target, rounding)

        return function

    def dot(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """Return the product with factors of 8 bits in float16, which holds them all."""

        def function(builder: Any, a: Any, b: Any, *more: Any) -> Any:
            return plain(builder, self._half(a), self._half(b), *more)

        return function

    def _half(self, factor: Any) -> Any:
        if factor.dtype.scalar.name not in FP8:
            return factor
        data = _wide(factor.data, FP8[factor.dtype.scalar.name]).astype(np.float16)
        return self._interpreter.TensorHandle(data, self._types.float16)

    def _real(self, builder: Any, source: Any) -> Any:
        """Return the numbers of a handle of floats in float32, or in float64 if they are."""
        if source.dtype.scalar.name in FP8:
            return _wide(source.data, FP8[source.dtype.scalar.name])
        if source.data.dtype.kind == "f":
            return source.data if source.data.dtype == np.float64 else source.data.astype(np.float32)
        return builder.cast_impl(source, self._types.float32).data


def saturated(whole: Any, kind: np.dtype[Any]) -> Any:
    """Return whole numbers in floats as integers: at the type's limit beyond it, 0 for NaN."""
    limits = np.iinfo(kind)
    above, below = whole >= limits.max, whole <= limits.min
    inside = np.where(above | below | np.isnan(whole), 0, whole).astype(kind)
    return np.select([above, below], [kind.type(limits.max), kind.type(limits.min)], inside)


def _narrow(real: Any, kind: torch.dtype) -> Any:
    most = torch.finfo(kind).max
    near = torch.from_numpy(np.ascontiguousarray(real)).clamp(-most, most)
    return near.to(kind).view(torch.uint8).numpy()


def _wide(bits: Any, kind: torch.dtype) -> Any:
    return torch.from_numpy(np.ascontiguousarray(bits)).view(kind).to(torch.float32).numpy()


class _Bfloat16:
    """Arithmetic on bfloat16, which the interpreter stores as integers: in float32, and rounded once to the nearest."""

    def __init__(self, interpreter: Any) -> None:
        self._handle, self._types = interpreter.TensorHandle, interpreter.tl

    def widened(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """Return the operation with bfloat16 operands in float32."""

        @wraps(plain)
        def function(builder: Any, *operands: Any) -> Any:
            if not any(map(self._is_narrow, operands)):
                return plain(builder, *operands)
            wide = [self._wide(one) if self._is_narrow(one) else one for one in operands]
            result = plain(builder, *wide)
            if result.data.dtype != np.float32:
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
        return type(one) is self._handle and one.dtype.scalar.name == NARROW

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
