"""nvcuda::wmma: shapes, types, layouts, strides and the size of fragments."""

from __future__ import annotations

from itertools import product

from tests.emulated.conformance.entry import EXACT, NUMBERS, Bound, Entry

_SHAPES = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
# operands, accumulator: shapes, and the bound for operands that are no whole numbers
_KINDS = {
    ("f16", "f32"): (_SHAPES, Bound(absolute=1e-5)),
    ("f16", "f16"): (_SHAPES, Bound(absolute=0.02)),
    ("bf16", "f32"): (_SHAPES, Bound(absolute=1e-5)),
    ("tf32", "f32"): (((16, 16, 8),), Bound(absolute=1e-5)),
    ("f64", "f64"): (((8, 8, 4),), Bound(absolute=1e-14)),
    ("i8", "i32"): (_SHAPES, EXACT),
    ("u8", "i32"): (_SHAPES, EXACT),
}
_ELEMENT = {"tf32": "wmma::precision::tf32"}


def _fragments(operand: str, result: str, shape: tuple[int, int, int], layouts: tuple[str, str]) -> str:
    element = _ELEMENT.get(operand) or NUMBERS[operand].cuda
    m, n, k = shape
    return (
        f"wmma::fragment<wmma::matrix_a, {m}, {n}, {k}, {element}, wmma::{layouts[0]}_major> fa;"
        f" wmma::fragment<wmma::matrix_b, {m}, {n}, {k}, {element}, wmma::{layouts[1]}_major> fb;"
        f" wmma::fragment<wmma::accumulator, {m}, {n}, {k}, {NUMBERS[result].cuda}> fc; "
    )


def _product(kind: tuple[str, str], shape: tuple[int, int, int], layouts: tuple[str, str, str], content: str) -> Entry:
    operand, result = kind
    m, n, k = shape
    row_a, row_b, row_c = (each == "row" for each in layouts)
    lead_a, lead_b, lead_c = (k if row_a else m) + 16, (k if not row_b else n) + 16, (n if row_c else m) + 16
    rounded = "for (auto& e : fa.x) e = wmma::__float_to_tf32(e); for (auto& e : fb.x) e = wmma::__float_to_tf32(e); "
    code = (
        _fragments(operand, result, shape, layouts[:2])
        + f"wmma::load_matrix_sync(fa, a, {lead_a}); wmma::load_matrix_sync(fb, a + 2048, {lead_b}); "
        + (rounded if operand == "tf32" else "")
        + f"wmma::fill_fragment(fc, ({NUMBERS[result].cuda})1); wmma::mma_sync(fc, fa, fb, fc);"
        f" wmma::store_matrix_sync(out, fc, {lead_c}, wmma::mem_{layouts[2]}_major);"
    )
    memory = "f32" if operand == "tf32" else operand
    whole = content == "whole_matrix" or operand in ("i8", "u8")
    bound = EXACT if whole else _KINDS[kind][1]
    name = f"{operand} {m}x{n}x{k} {' '.join(layouts)} to {result}{' whole' if content == 'whole_matrix' else ''}"
    return Entry(
        name, "block", code, (f"{memory}/{content}",), result, bound, threads=32, results=(max(m, n) + 16) * 32
    )


def _products() -> list[Entry]:
    found = []
    for kind, (shapes, _) in _KINDS.items():
        for shape in shapes:
            for layouts in product(("row", "col"), repeat=3):
                if shape == shapes[0] or len(set(layouts)) == 1:
                    found.append(_product(kind, shape, layouts, "matrix"))
            if kind[0] not in ("i8", "u8"):
                found.append(_product(kind, shape, ("row", "col", "row"), "whole_matrix"))
    return found


def _sizes() -> list[Entry]:
    found = []
    for (operand, result), (shapes, _) in _KINDS.items():
        for shape in shapes:
            code = (
                _fragments(operand, result, shape, ("row", "row")) + "out[0] = fa.num_elements + 1000 * fb.num_elements"
            )
            code += " + 1000000 * fc.num_elements;"
            name = f"elements of {operand} {shape} to {result}"
            found.append(Entry(name, "block", code, ("i32",), "i32", threads=32, results=1))
    return found


def _loaded(result: str, layout: str) -> Entry:
    """An accumulator from memory, doubled element by element, and back."""
    code = (
        f"wmma::fragment<wmma::accumulator, 16, 16, 16, {NUMBERS[result].cuda}> fc;"
        f" wmma::load_matrix_sync(fc, a, 24, wmma::mem_{layout}_major);"
        f" for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i];"
        f" wmma::store_matrix_sync(out, fc, 24, wmma::mem_{layout}_major);"
    )
    return Entry(
        f"accumulator {result} {layout}",
        "block",
        code,
        (f"{result}/whole_matrix" if result[0] != "i" else f"{result}/matrix",),
        result,
        threads=32,
        results=24 * 16,
    )


ENTRIES: list[Entry] = [
    *_products(),
    *_sizes(),
    *(_loaded(result, layout) for result in ("f16", "f32", "i32") for layout in ("row", "col")),
    Entry("__float_to_tf32", "each", "wmma::__float_to_tf32(a)", ("f32/narrow",), "f32"),
]
