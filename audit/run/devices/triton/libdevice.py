"""Functions of NVIDIA's libdevice, which Triton's interpreter by itself refuses.

Those of floats are computed in float64 and rounded once to the type of the result, so that errors of libdevice's own
are not modelled. A float function has the name of the double one and an `f`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from audit.run.devices.triton.arithmetic import saturated

PREFIX, FAST = "__nv_", "fast_"
TO_WHOLE = re.compile(r"(?:float|double)2(?:int|uint|ll|ull)_(rn|rz|ru|rd)")
TO_NEAREST = re.compile(r"(?:double|int|uint|ll|ull)2(?:float|double)_rn")
REINTERPRETED = re.compile(r"\w+_as_\w+")
ROUNDINGS: dict[str, Callable[..., Any]] = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}
Function = Callable[..., Any]


def patch(interpreter: Any) -> None:
    """Answer calls of libdevice in the module `triton.runtime.interpreter`."""

    def answered(_: Any, name: str, path: str, symbol: str, values: Any, kind: Any, pure: bool) -> Any:  # noqa: ARG001
        function, target = function_of(symbol), interpreter._get_np_dtype(kind)
        if function is None:
            raise NotImplementedError(f"the function {symbol} of libdevice")
        with np.errstate(all="ignore"):
            return interpreter.TensorHandle(function(target, *(one.data for one in values)), kind.scalar)

    interpreter.InterpreterBuilder.create_extern_elementwise = answered


def function_of(symbol: str) -> Function | None:
    """Return the function of a result type and arrays for a symbol such as `__nv_tanhf`; None without one."""
    name = symbol.removeprefix(PREFIX)
    if found := TO_WHOLE.fullmatch(name):
        rounded = ROUNDINGS[found[1]]
        return lambda target, x: saturated(rounded(x.astype(np.float64)), target)
    if TO_NEAREST.fullmatch(name):
        return lambda target, x: x.astype(target)
    if REINTERPRETED.fullmatch(name):
        return lambda target, x: np.ascontiguousarray(x).view(target)
    if name in WHOLE:
        return _whole(WHOLE[name])
    name = name.removeprefix(FAST)
    name = name if name in REAL else name.removesuffix("f")
    name = SAME.get(name, name)
    if name == "nextafter":
        return lambda target, x, y: np.nextafter(x, y).astype(target)
    return _real(REAL[name]) if name in REAL else None


def _real(function: Function) -> Function:
    return lambda target, *values: np.asarray(function(*(x.astype(np.float64) for x in values))).astype(target)


def _whole(function: Function) -> Function:
    """Return a function of numbers of any size for arrays of integers; the width of the first is its own argument."""

    def of_arrays(target: Any, *values: Any) -> Any:
        bits = values[0].dtype.itemsize * 8
        one_by_one = np.frompyfunc(lambda *numbers: _wrapped(function(bits, *numbers), target), len(values), 1)
        return np.asarray(one_by_one(*(x.astype(object) for x in values))).astype(target)

    return of_arrays


def _wrapped(number: int, target: Any) -> int:
    bits = target.itemsize * 8
    number &= (1 << bits) - 1
    return number - (1 << bits) if target.kind == "i" and number >> (bits - 1) else number


def _by_torch(function: Callable[..., torch.Tensor]) -> Function:
    return lambda *values: function(*(torch.from_numpy(np.ascontiguousarray(x)) for x in values)).numpy()


def _each(function: Callable[..., float]) -> Function:
    """Return a function of arrays, NaN where that of numbers has no value."""

    def of_numbers(*numbers: float) -> float:
        try:
            return function(*numbers)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return np.vectorize(of_numbers, otypes=[np.float64])


def _away(x: Any) -> Any:
    """Round halves away from zero."""
    whole = np.trunc(x)
    return np.copysign(np.where(np.abs(x - whole) >= 0.5, np.abs(whole) + 1, np.abs(whole)), x)


def _sinpi(x: Any) -> Any:
    turn = x - 2 * np.rint(x / 2)
    return np.where(turn == np.trunc(turn), np.copysign(0.0, x), np.sin(np.pi * turn))


def _cospi(x: Any) -> Any:
    turn = x - 2 * np.rint(x / 2)
    return np.where(np.abs(turn) == 0.5, 0.0, np.cos(np.pi * turn))


def _gamma(x: float) -> float:
    return math.copysign(math.inf, x) if x == 0 else math.gamma(x)


def _root(*values: Any) -> Any:
    return np.sqrt(sum(x * x for x in values))


def _reversed(bits: int, x: int) -> int:
    return int(f"{x % (1 << bits):0{bits}b}"[::-1], 2)


SAME = {
    "dadd_rn": "add", "dsub_rn": "sub", "dmul_rn": "mul", "ddiv_rn": "div", "drcp_rn": "rcp", "dsqrt_rn": "sqrt",
    "fadd_rn": "add", "fsub_rn": "sub", "fmul_rn": "mul", "fdiv_rn": "div", "frcp_rn": "rcp", "fsqrt_rn": "sqrt",
    "frsqrt_rn": "rsqrt", "fma_rn": "fma", "fmaf_rn": "fma", "fdivide": "div", "isfinited": "finite",
    "isinfd": "isinf", "isnand": "isnan", "signbitd": "signbit", "scalbn": "ldexp", "powi": "pow", "llrint": "rint",
    "llround": "round", "nearbyint": "rint",
}  # fmt: skip
"""Other names of the functions below."""
REAL: dict[str, Function] = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "exp10": lambda x: np.power(10.0, x),
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "pow": np.power,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt, "rcbrt": lambda x: 1 / np.cbrt(x),
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "atan2": np.arctan2, "sinpi": _sinpi, "cospi": _cospi,
    "erf": _by_torch(torch.special.erf), "erfc": _by_torch(torch.special.erfc),
    "erfinv": _by_torch(torch.special.erfinv), "erfcx": _by_torch(torch.special.erfcx),
    "erfcinv": _by_torch(lambda x: -torch.special.ndtri(x / 2) / math.sqrt(2)),
    "normcdf": _by_torch(lambda x: torch.special.erfc(-x / math.sqrt(2)) / 2),
    "normcdfinv": _by_torch(torch.special.ndtri),
    "lgamma": _by_torch(torch.lgamma), "tgamma": _each(_gamma),
    "j0": _by_torch(torch.special.bessel_j0), "j1": _by_torch(torch.special.bessel_j1),
    "y0": _by_torch(torch.special.bessel_y0), "y1": _by_torch(torch.special.bessel_y1),
    "cyl_bessel_i0": _by_torch(torch.special.i0), "cyl_bessel_i1": _by_torch(torch.special.i1),
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "round": _away,
    "fabs": np.abs, "copysign": np.copysign, "signbit": np.signbit,
    "saturate": lambda x: np.fmin(np.fmax(x, 0.0), 1.0), "fdim": lambda x, y: np.where(x <= y, 0, x - y),
    "isnan": np.isnan, "isinf": np.isinf, "finite": np.isfinite,
    "fmod": np.fmod, "remainder": _each(math.remainder), "ldexp": lambda x, n: np.ldexp(x, n.astype(np.int32)),
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "rcp": lambda x: 1 / x,
    "fma": lambda x, y, z: x * y + z, "hypot": np.hypot, "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "norm3d": _root, "norm4d": _root, "rnorm3d": lambda *x: 1 / _root(*x), "rnorm4d": lambda *x: 1 / _root(*x),
}  # fmt: skip
"""Functions of float64 arrays, by the name of the double function without its prefix."""
WHOLE: dict[str, Callable[..., int]] = {
    "abs": lambda _, x: abs(x), "llabs": lambda _, x: abs(x),
    **dict.fromkeys(("clz", "clzll"), lambda bits, x: bits - (x % (1 << bits)).bit_length()),
    **dict.fromkeys(("popc", "popcll"), lambda bits, x: (x % (1 << bits)).bit_count()),
    **dict.fromkeys(("ffs", "ffsll"), lambda _, x: (x & -x).bit_length()),
    **dict.fromkeys(("brev", "brevll"), _reversed),
    **dict.fromkeys(("mulhi", "umulhi", "mul64hi", "umul64hi"), lambda bits, x, y: x * y >> bits),
    "mul24": lambda _, x, y: _low(x, signed=True) * _low(y, signed=True),
    "umul24": lambda _, x, y: _low(x, signed=False) * _low(y, signed=False),
    **dict.fromkeys(("sad", "usad"), lambda _, x, y, z: abs(x - y) + z),
    **dict.fromkeys(("hadd", "uhadd"), lambda _, x, y: (x + y) >> 1),
    **dict.fromkeys(("rhadd", "urhadd"), lambda _, x, y: (x + y + 1) >> 1),
}  # fmt: skip
"""Functions of the width in bits and Python's integers; the result wraps."""


def _low(x: int, *, signed: bool) -> int:
    """Return the number in the lower 24 bits."""
    x &= 0xFFFFFF
    return x - (1 << 24) if signed and x >> 23 else x
