"""The symbol table says which kernels and variables the host part needs of the device part."""

from __future__ import annotations

import pytest

from audit.build.cuda.fast_symbols import device_variables, offset_of, symbols
from audit.review.cuda_source import parse

LISTING = """\
0000000000001200 t plain(float const*, int)
0000000000004020 b plain(float const*, int)::cufast_key
0000000000004021 b ns::tiled<float, 4>(float const*, float (*)(float))::cufast_key
0000000000001300 t void ns::tiled<float, 4>(float const*, float (*)(float))
0000000000004022 b (anonymous namespace)::hidden<c10::Half>(c10::Half*)::cufast_key
0000000000004040 B weights
0000000000004060 b ns::scale
0000000000004070 b other
0000000000001100 T cufast_open
0000000000001180 t f(int)::{lambda(int)#1}::operator()(int) const
"""


def found() -> dict[str, tuple[int, ...]]:
    listed = symbols(LISTING, key="cufast_key", variables=frozenset({"weights", "scale"}))
    return {symbol.expression: symbol.offsets for symbol in listed}


def test_kernels_are_found_with_their_key_and_their_function() -> None:
    assert found()["plain"] == (0x4020, 0x1200)
    assert found()["ns::tiled<float, 4>"] == (0x4021, 0x1300)


def test_only_declared_variables_count() -> None:
    assert found()["&weights"] == (0x4040,)
    assert found()["&ns::scale"] == (0x4060,)
    assert len(found()) == 5


def test_torchs_types_are_told_apart() -> None:
    listed = symbols(LISTING, key="cufast_key", variables=frozenset())
    assert [symbol.expression for symbol in listed if symbol.needs_torch] == ["hidden<c10::Half>"]


def test_variables_of_the_device_are_read_off_the_source() -> None:
    text = "__constant__ float w[4];\nstatic __device__ int count = 0;\n__device__ float f(float x) { return x; }\n"
    assert device_variables(parse(text)) == {"w", "count"}


def test_an_exported_function_has_an_offset_and_a_missing_one_is_named() -> None:
    assert offset_of("cufast_open", LISTING) == 0x1100
    with pytest.raises(LookupError, match="no cufast_bind"):
        offset_of("cufast_bind", LISTING)
