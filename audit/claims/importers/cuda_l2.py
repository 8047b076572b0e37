"""CUDA-L2: one `M_N_K.cu` is one claim, a half-precision matrix product of that one shape.

The function `cuda_l2_<gpu>_fp<16|32>(a, b, b_col_major, c)` gets B twice, row-major and column-major, and writes into
`c`. Operands are padded with zeros to the tile sizes `BM`, `BN`, `BK` that the source names. Ratios stand in the
repository's CSV files, a row a shape. Facts: deepreinforce-ai/CUDA-L2, `benchmarking_offline.py` and `tools/utils.py`
(2025).
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import PurePath

from audit.claims.importers import entries, facts, module_task, published
from audit.claims.importers.material import Material
from audit.model import Harness
from audit.model.errors import BadInput

TAKES = (
    "an `M_N_K.cu` with `cuda_l2_<gpu>_fp<16|32>(a, b, b_col_major, c)`, and the CSV of its ratios where there is one"
)
LACKS = ()
_FUNCTION = re.compile(r"\bvoid\s+(cuda_l2_(a100|h100|3090)_fp(16|32))\s*\(")
_SHAPE = re.compile(r"\d{1,6}_\d{1,6}_\d{1,6}\.cu")
_TILE = re.compile(r"\b(BM|BN|BK)\s*=\s*Int\s*<\s*(\d{1,5})\s*>")
_GPUS = {"a100": ("A100", 80), "h100": ("H100", 90), "3090": ("RTX 3090", 86)}
FLAGS = (
    "-O3", "-std=c++17", "-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__",
    "-U__CUDA_NO_HALF2_OPERATORS__", "-U__CUDA_NO_BFLOAT16_CONVERSIONS__", "--expt-relaxed-constexpr",
    "--expt-extended-lambda", "--use_fast_math",
)  # fmt: skip
"""The set's own, without folders of headers and libraries; torch's builder else takes the operators of halves away."""
FILE, COLUMN, BASELINE = "kernel.cu", "mnk", "torch.matmul"
OPERAND_C = 3
"""The place of the tensor that the function writes into."""
_SUMS = (
    "the importer's: the set compares sums of zeros and ones with cuBLAS's and names no number; "
    "results are rounded to half precision"
)
_HALF_SUMS = "the importer's: sums are kept in half precision, as the set says of these kernels; it names no number"
TOLERANCE = {"32": facts.Tolerance(1e-2, _SUMS), "16": facts.Tolerance(1e-1, _HALF_SUMS)}


def matches(material: Material) -> bool:
    """Return whether a `.cu` file is named after a shape and defines the function."""
    return bool(_kernels(material))


def read(material: Material, given: facts.Given) -> facts.Imported:
    """Return the kernel with the product as its task. Raises BadInput for several kernels, or a ratio that is none."""
    kernel = material.only(_kernels(material), what="M_N_K.cu with a function cuda_l2_*")
    text = kernel.data.decode()
    function, of_gpu, bits = _FUNCTION.findall(text)[0]
    stem = PurePath(kernel.published_as).stem
    shape = dict(zip("MNK", map(int, stem.split("_")), strict=True))
    if not all(shape.values()):
        raise BadInput(f"{kernel.published_as}: a size of zero; a shape has positive integers only")
    padded = _padded(text, shape)
    gpu, capability = _GPUS[of_gpu]
    figures = [replace(one, shape=shape) for one in _figures(material, stem, given, gpu)]
    found = facts.Imported(
        format="cuda_l2",
        provenance=kernel.published_as,
        name=module_task.named_after(f"cuda_l2_{of_gpu}_fp{bits}_{stem}"),
        title=f"CUDA-L2, {gpu}, {' x '.join(map(str, shape.values()))}, sums in fp{bits}",
        task="c = a b, half precision, a of M x K, b of K x N",
        dtype="float16",
        originals=(facts.Original(FILE, kernel.data, kernel.published_as),),
        claimed=facts.Claimed(
            "claimed.cu",
            kernel.data + _binding(function, shape if any(padded.values()) else None).encode(),
            entries.ENTRY,
            "the kernel of this one shape as published",
            added="a binding for Python, which returns c" + (" without its padding" if any(padded.values()) else ""),
            compute_capability=capability,
        ),
        reference=facts.Reference("gemm", {"file": FILE, "half_sums": bits == "16", "padded": padded}),
        shapes=facts.Shapes(shape, emulated=(shape,), emulated_by="importer"),
        authors="deepreinforce-ai",
        published="2025",
        url="https://github.com/deepreinforce-ai/CUDA-L2",
        baseline="torch.matmul in half precision",
        flags=FLAGS,
        tolerance=TOLERANCE[bits],
        harness=Harness(destination=OPERAND_C),
        choices=(
            f"tolerance: {TOLERANCE[bits].relative:g}, since the set names none",
            "shapes.emulated: the claimed one, since the kernel is made for it alone",
        ),
    )
    return found.with_figures(figures, [] if figures else [facts.NO_FIGURES])


def _kernels(material: Material) -> list[facts.Original]:
    named = [name for name in material.named(".cu") if _SHAPE.fullmatch(PurePath(name).name)]
    return [material.original(name) for name in named if _FUNCTION.search(material.data(name).decode())]


def _padded(text: str, shape: dict[str, int]) -> dict[str, int]:
    """Return how many zeros are put behind each size: up to the last tile that the source names, if it names all."""
    tiles = {name[1]: int(size) for name, size in _TILE.findall(text)}
    whole = len(tiles) == len(shape) and all(tiles.values())
    return {name: -size % tiles[name] if whole else 0 for name, size in shape.items()}


def _binding(function: str, cut: dict[str, int] | None) -> str:
    """Return the lines that bind the function and return its destination, cut to the shape where it is padded."""
    result = "c" if cut is None else f"c.narrow(0, 0, {cut['M']}).narrow(1, 0, {cut['N']})"
    return "\n".join([
        entries.CUDA_MARK,
        f"static torch::Tensor {entries.ENTRY}(",
        "    torch::Tensor a, torch::Tensor b, torch::Tensor b_col_major, torch::Tensor c) {",
        f"    {function}(a, b, b_col_major, c);",
        f"    return {result};",
        "}",
        f'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("{entries.ENTRY}", &{entries.ENTRY}, "c = a b"); }}',
        "",
    ])  # fmt: skip


def _figures(material: Material, shape: str, given: facts.Given, gpu: str) -> list[facts.Figure]:
    """Return the ratio over torch.matmul of that shape's row in the one CSV file; none where there is no file."""
    names = material.named(".csv")
    if not names:
        return []
    table = material.only([material.original(name) for name in names], what="CSV file of ratios")
    try:
        rows = list(csv.DictReader(io.StringIO(table.data.decode()), strict=True))
    except csv.Error as error:
        raise BadInput(f"{table.published_as}: no CSV ({error})") from error
    for row in rows:
        if row.get(COLUMN) == shape and row.get(BASELINE):
            where = f"{table.published_as} row {shape} column {BASELINE}"
            return [published.ratio(BASELINE, _number(row[BASELINE], where), given=given, gpu=gpu, where=where)]
    return []


def _number(cell: str, where: str) -> float:
    try:
        return published.checked(float(cell), where=where)
    except ValueError as error:
        raise BadInput(f"{where}: {cell[:20]!r} is no number") from error
