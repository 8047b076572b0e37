from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import parse
from audit.review.rule import Spot
from audit.review.rules.cuda.grids import launch_geometry
from audit.review.token_scan import whole_number

_ROW = "int row = blockIdx.y * blockDim.y + threadIdx.y;"
_STORE = "if (row < n && col < n) out[row * n + col] = 1.f;"
_KERNELS = Path(__file__).parents[2] / "kernels/triangular_mm"


def _of(text: str) -> list[Spot]:
    return launch_geometry.find(CudaReading(parse(text)))


def _axes(found: list[Spot]) -> list[str]:
    return re.findall(r"blockIdx\.(\w)", " ".join(spot.message for spot in found))


def _hints(launch: str, *, row: str = _ROW, store: str = _STORE, before: str = "") -> list[Spot]:
    return _of(
        f"{before}\n__global__ void k(float* out, int n) {{\n  {row}\n"
        f"  int col = blockIdx.x * blockDim.x + threadIdx.x;\n  {store}\n}}\n"
        f"void f(float* out, int n, dim3 given) {{\n  {launch}\n}}\n"
    )


@pytest.mark.parametrize(
    "launch",
    [
        "k<<<n, 256>>>(out, n);",
        "k<<<(n + 255) / 256, 256>>>(out, n);",
        "int t = 256; const int b = (n + t - 1) / t; k<<<b, t>>>(out, n);",
        "dim3 g((n + 15) / 16), b(256); k<<<g, b>>>(out, n);",
        "dim3 g = dim3(n, 1, 1); dim3 b{256}; k<<<g, b>>>(out, n);",
        "auto g = dim3(n, 1u); k<<<g, dim3(8, 1)>>>(out, n);",
        "dim3 g; g.x = n; g.y = 1; k<<<g, 16>>>(out, n);",
        "dim3 a(n), g(a); k<<<g, 16>>>(out, n);",
        "k<<<{n, 1}, {32, 1}>>>(out, n);",
        "AT_DISPATCH_ALL(x, [&] { k<<<static_cast<int>(n), 32>>>(out, n); });",
        "if (n > 3) k<<<n, 16>>>(out, n); else k<<<1, n>>>(out, n);",
    ],
)
def test_one_dimensional_launch_of_a_two_dimensional_kernel(launch: str) -> None:
    found = _hints(launch)
    assert found
    for hint in found:
        assert (_axes([hint]), hint.line, launch_geometry.confirm_with) == (["y"], 8, "coverage")
        assert "only index 0 of that axis is ever computed" in hint.message
        assert "line 3" in hint.message and "line 8" in hint.message and "kernel k" in hint.message


@pytest.mark.parametrize(
    "launch",
    [
        "dim3 g(n, n), b(16, 16); k<<<g, b>>>(out, n);",
        "dim3 g(n); g.y = n; k<<<g, 16>>>(out, n);",
        "dim3 g(n); if (n > 4) { g.y = n; } k<<<g, 16>>>(out, n);",
        "dim3 g(n); choose(g); k<<<g, 16>>>(out, n);",
        "dim3 g(n); choose(&g); k<<<g, 16>>>(out, n);",
        "dim3 g(n); g = shape(n); k<<<g, 16>>>(out, n);",
        "auto g = shape(n); k<<<g, 16>>>(out, n);",
        "k<<<given, 16>>>(out, n);",
        "k<<<shape(n), 16>>>(out, n);",
        "k<<<n, given>>>(out, n);",
        "k<<<n, dim3(16, n)>>>(out, n);",
        "dim3 g = n > 4 ? dim3(n) : dim3(n, n); k<<<g, 16>>>(out, n);",
        "if (n > 3) k<<<n, 16>>>(out, n); else k<<<dim3(n, n), 16>>>(out, n);",
        "if (n > 3) { dim3 g(n, n); k<<<g, 16>>>(out, n); } else { dim3 g(n); k<<<g, 16>>>(out, n); }",
        "other<<<n, 16>>>(out, n);",
        "",
    ],
)
def test_silent_on_a_launch_that_fits_or_is_unknown(launch: str) -> None:
    assert _hints(launch) == []


@pytest.mark.parametrize(
    ("row", "store"),
    [
        ("int row = 0; if (blockIdx.y == 0 && threadIdx.y == 0) row = 1;", _STORE),
        (_ROW, "if (row < n) out[col] = 1.f;"),
        (_ROW, 'printf("%d", row); out[col] = 1.f;'),
        (_ROW, "float sum = 0; for (int i = row; i < n; ++i) sum += out[i]; out[col] = sum;"),
        ("int row = blockIdx.y;", _STORE),
        (
            "int row = threadIdx.y * blockDim.x + threadIdx.x + (blockIdx.y * gridDim.x + blockIdx.x) * 64;",
            "out[row] = 1.f;",
        ),
        (
            "int row = blockIdx.y * blockDim.y + threadIdx.y;",
            "for (; row < n; row += gridDim.y * blockDim.y) out[row] = 1.f;",
        ),
        ("int row = 0;", "for (int i = blockIdx.y * 8 + threadIdx.y; i < n; i += 8) out[i * n + col] = 1.f;"),
    ],
)
def test_silent_where_the_axis_addresses_no_store(row: str, store: str) -> None:
    assert _hints("k<<<n, 256>>>(out, n);", row=row, store=store) == []


@pytest.mark.parametrize(
    ("before", "row", "store"),
    [
        ("", "int by = blockIdx.y, ty = threadIdx.y; const int row = by * 16 + ty;", _STORE),
        ("", _ROW, "float* line = out + row * n; line[col] = 1.f;"),
        ("", _ROW, "*(out + row * n + col) = 1.f;"),
        ("", _ROW, "atomicAdd(&out[row * n + col], 1.f);"),
        ("", _ROW, "atomicAdd(out + row * n, 1.f);"),
        ("", _ROW, "reinterpret_cast<float4*>(out + row * n)[col] = v;"),
        ("", _ROW, "for (int i = row; i < n; ++i) out[row * n + col] += 1.f;"),
        ("__device__ int get() { return blockIdx.y * blockDim.y + threadIdx.y; }", "int row = get();", _STORE),
        ("__device__ void put(float* p, int i) { p[i] = 1.f; }", _ROW, "put(out, row);"),
        ("", "int row = threadIdx.y + blockDim.y * blockIdx.y;", _STORE),
    ],
)
def test_the_index_is_followed_to_its_store(before: str, row: str, store: str) -> None:
    assert _axes(_hints("k<<<n, 256>>>(out, n);", before=before, row=row, store=store)) == ["y"]


def test_the_z_axis() -> None:
    row = _ROW.replace(".y", ".z")
    assert _axes(_hints("k<<<dim3(n, n), dim3(16, 16)>>>(out, n);", row=row)) == ["z"]


def test_a_block_with_threads_along_an_axis_without_blocks() -> None:
    (hint,) = _hints("constexpr int T = 16; k<<<dim3(n), dim3(T, T)>>>(out, n);")
    assert "only indices 0 to 15 of that axis are ever computed" in hint.message


@pytest.mark.parametrize("constant", ["#define ROWS 1", "constexpr int ROWS = 1;", "static const int ROWS = 1;"])
def test_constants_outside_the_function(constant: str) -> None:
    assert len(_hints("k<<<dim3(n, ROWS), dim3(16, ROWS)>>>(out, n);", before=constant)) == 1


def test_two_kernels_of_one_name_are_left_alone() -> None:
    text = (
        f"void f(int n) {{ k<<<n, 16>>>(out, n); }}\n__global__ void k(float* out, int n) {{ {_ROW} out[row] = 1; }}\n"
    )
    assert len(_of(text)) == 1
    assert _of(text + "__global__ void k(double* out) {}") == []


@pytest.mark.parametrize(
    ("path", "hinted"),
    [
        ("ablation_zero_init.cu", True),
        ("ablation_sync.cu", True),
        ("ablation_grid2d.cu", False),
    ],
)
def test_ablations_of_the_triangular_claim(path: str, hinted: bool) -> None:
    assert bool(_of((_KERNELS / path).read_text(encoding="utf-8"))) is hinted


@pytest.mark.parametrize(
    ("literal", "value"), [("256", 256), ("0", 0), ("000", 0), ("0x1F", 31), ("010", 8), ("0256", 174), ("089", None)]
)
def test_a_leading_zero_is_octal(literal: str, value: int | None) -> None:
    assert whole_number(literal) == value
