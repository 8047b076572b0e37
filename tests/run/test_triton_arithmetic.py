"""Arithmetic of Triton's interpreter: libdevice, conversions and NaN, as the instructions of a GPU give them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from audit.run.devices.triton.libdevice import function_of
from audit.run.processes.pool import Workers
from tests.run.test_python_session import asked, value

KERNEL = """
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def kernel(x, y):
    index = tl.arange(0, 8)
    a = tl.load(x + index, mask=index < 6)
    tl.store(y + index, {computed}, mask=index < 6)

def forward(_):
    y = torch.empty(6)
    kernel[(1,)](torch.tensor({given}, dtype=torch.{dtype}), y)
    return y
"""
NAN, INF = math.nan, math.inf
REALS = [-2.5, -0.0, 0.5, 3.0, INF, NAN]
BEYOND = [-3e38, -1e10, -1.5, 255.9, 1e20, NAN]


def computed(workers: Workers, folder: Path, text: str, given: list[float], dtype: str = "float32") -> list[float]:
    numbers = ", ".join(f"float('{one}')" if "float" in dtype else str(one) for one in given)
    reply = asked(workers, folder, KERNEL.format(computed=text, given=f"[{numbers}]", dtype=dtype))
    assert reply.finished and "raised" not in reply.events[0], reply
    return value(folder)


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        ("libdevice.tanh(a)", REALS, [math.tanh(-2.5), 0, math.tanh(0.5), math.tanh(3), 1, NAN]),
        ("libdevice.rsqrt(a)", REALS, [NAN, -INF, math.sqrt(2), 1 / math.sqrt(3), 0, NAN]),
        ("libdevice.round(a)", REALS, [-3, 0, 1, 3, INF, NAN]),
        ("libdevice.rint(a)", REALS, [-2, 0, 0, 3, INF, NAN]),
        ("libdevice.pow(a, 2.0)", REALS, [6.25, 0, 0.25, 9, INF, NAN]),
        ("libdevice.isnan(a).to(tl.float32)", REALS, [0, 0, 0, 0, 0, 1]),
        ("libdevice.float2int_rz(a).to(tl.float32)", REALS, [-2, 0, 0, 3, 2.0**31, 0]),
        ("libdevice.div_rn(a, 3.0)", REALS, [-2.5 / 3, 0, 0.5 / 3, 1, INF, NAN]),
        ("tl.maximum(a, 0.0)", REALS, [0, 0, 0.5, 3, INF, 0]),
        ("tl.maximum(a, 0.0, propagate_nan=tl.PropagateNan.ALL)", REALS, [0, 0, 0.5, 3, INF, NAN]),
        ("tl.minimum(a, 0.0)", REALS, [-2.5, 0, 0, 0, 0, 0]),
        ("tl.clamp(a, -1.0, 2.0)", REALS, [-1, 0, 0.5, 2, 2, -1]),
        ("tl.clamp(a, -1.0, 2.0, propagate_nan=tl.PropagateNan.ALL)", REALS, [-1, 0, 0.5, 2, 2, NAN]),
        ("a.to(tl.int32).to(tl.float32)", BEYOND, [-(2.0**31), -(2.0**31), -1, 255, 2.0**31, 0]),
        ("a.to(tl.uint32).to(tl.float32)", BEYOND, [0, 0, 0, 255, 2.0**32, 0]),
        ("a.to(tl.int64).to(tl.float32)", BEYOND, [-(2.0**63), -1e10, -1, 255, 2.0**63, 0]),
        ("a.to(tl.int8).to(tl.float32)", BEYOND, [0, 0, -1, -1, -1, 0]),  # the lower half of 16 bits
        ("a.to(tl.bfloat16).to(tl.uint8).to(tl.float32)", BEYOND, [0, 0, 0, 0, 255, 0]),
    ],
)
def test_reals_are_computed_as_on_a_gpu(
    workers: Workers, tmp_path: Path, text: str, given: list[float], wanted: list[float]
) -> None:
    assert computed(workers, tmp_path, text, given) == pytest.approx(wanted, rel=1e-6, nan_ok=True)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("(a // 2).to(tl.float32)", [-3, -1, 0, 0, 1, 3]),
        ("(a % 3).to(tl.float32)", [-1, 0, -1, 1, 0, 1]),
        ("((a * 1000000007) >> 24).to(tl.float32)", [94, 77, -60, 59, -78, -95]),
        ("libdevice.popc(a).to(tl.float32)", [30, 31, 32, 1, 2, 3]),
        ("libdevice.clz(a).to(tl.float32)", [0, 0, 0, 31, 30, 29]),
        ("libdevice.ffs(a).to(tl.float32)", [1, 1, 1, 1, 1, 1]),
        ("libdevice.mulhi(a, 1 << 30).to(tl.float32)", [-2, -1, -1, 0, 0, 1]),
        ("libdevice.abs(a).to(tl.float32)", [7, 3, 1, 1, 3, 7]),
    ],
)  # fmt: skip
def test_integers_are_computed_as_on_a_gpu(workers: Workers, tmp_path: Path, text: str, wanted: list[float]) -> None:
    assert computed(workers, tmp_path, text, [-7, -3, -1, 1, 3, 7], "int32") == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(("name", "kind"), [("float8e4nv", torch.float8_e4m3fn), ("float8e5", torch.float8_e5m2)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("given", [[0.99, 1.9375, -0.0019, 0.001, 17.0, -19.0], [448.0, 465.0, 60000.0, -INF, INF, 0]])
def test_8_bits_are_the_nearest_and_finite(
    workers: Workers, tmp_path: Path, name: str, kind: torch.dtype, dtype: str, given: list[float]
) -> None:
    """The interpreter by itself makes 1 of 1.9375 and 320 of 10,000."""
    most = torch.finfo(kind).max
    wanted = torch.tensor(given, dtype=getattr(torch, dtype)).float().clamp(-most, most).to(kind).float()
    assert computed(workers, tmp_path, f"a.to(tl.{name}).to(tl.float32)", given, dtype) == wanted.tolist()


WIDE = "tl.broadcast_to(tl.load(x + tl.arange(0, 32) % 6).to(tl.float8e4nv)[{}], 32, 32)"
PRODUCT = f"tl.gather(tl.max(tl.dot({WIDE.format('None, :')}, {WIDE.format(':, None')}), 0), index, 0)"


@pytest.mark.parametrize(("one", "wanted"), [(1.0, 32.0), (0.001953125, 27 + 5 * 2.0**-18), (NAN, NAN)])
def test_a_product_of_8_bits_keeps_small_numbers_and_nan(
    workers: Workers, tmp_path: Path, one: float, wanted: float
) -> None:
    assert computed(workers, tmp_path, PRODUCT, [1.0, 1, 1, one, 1, 1])[0] == pytest.approx(
        wanted, rel=1e-9, nan_ok=True
    )


def test_a_function_without_an_entry_is_named(workers: Workers, tmp_path: Path) -> None:
    text = KERNEL.format(computed="libdevice.add_ru(a, a)", given="[1.0] * 6", dtype="float32")
    (event,) = asked(workers, tmp_path, text).events
    assert event["raised"].startswith("InterpreterError: NotImplementedError('the function __nv_fadd_ru of libdevice')")
    assert event["reports"][0]["kind"] == "interpreter-failed"


@pytest.mark.parametrize(
    ("symbol", "given", "wanted"),
    [
        ("__nv_erff", [0.5], 0.5204998778130465),
        ("__nv_erfc", [6.0], 2.1519736712498913e-17),
        ("__nv_erfcinv", [1e-10], 4.572824967389486),
        ("__nv_erfinvf", [0.5], 0.4769362762044699),
        ("__nv_normcdff", [-6.0], 9.865876450376981e-10),
        ("__nv_tgamma", [5.0], 24.0),
        ("__nv_tgammaf", [-1.0], NAN),
        ("__nv_tgamma", [172.0], INF),
        ("__nv_lgammaf", [-0.5], 1.2655121234846454),
        ("__nv_exp10f", [3.0], 1000.0),
        ("__nv_fast_log2f", [8.0], 3.0),
        ("__nv_cbrt", [-27.0], -3.0),
        ("__nv_sinpif", [1.0], 0.0),
        ("__nv_cospi", [0.5], 0.0),
        ("__nv_remainder", [5.0, 3.0], -1.0),
        ("__nv_fmodf", [-5.0, 3.0], -2.0),
        ("__nv_copysignf", [3.0, -0.0], -3.0),
        ("__nv_fdim", [INF, INF], 0.0),
        ("__nv_fma_rn", [2.0, 3.0, 1.0], 7.0),
        ("__nv_saturatef", [NAN], 0.0),
        ("__nv_nextafter", [1.0, 2.0], 1.0000000000000002),
        ("__nv_hypotf", [3.0, 4.0], 5.0),
        ("__nv_rnorm3d", [2.0, 3.0, 6.0], 1 / 7),
    ],
)
def test_a_function_of_libdevice_gives_its_value(symbol: str, given: list[float], wanted: float) -> None:
    kind = np.dtype(np.float64)
    function = function_of(symbol)
    assert function is not None
    with np.errstate(all="ignore"):
        (got,) = function(kind, *(np.array([one], dtype=kind) for one in given))
    assert got == pytest.approx(wanted, rel=1e-13, abs=1e-300, nan_ok=True)
    assert function_of(symbol + "_ru") is None
