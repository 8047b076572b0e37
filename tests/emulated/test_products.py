"""cuBLAS on the emulated device: products against float64, status codes, and products of what is not there."""

from __future__ import annotations

import pytest

from audit.build.emulated.build import build
from audit.build.emulated.device import located
from tests.emulated.child import DEVICES, FOLDER, run, run_on_gpu

SOURCE = FOLDER / "products.cu"
LINES = SOURCE.read_text().splitlines()
INVALID, NOT_SUPPORTED, FAILED = 7, 15, 13

_RIGHT = """
f = functions
runtime.configure(allocator="poison_nan", checker=True)
def put(name, status, got, want):
    answer[name] = [status, (got.double() - want).abs().max().item() / want.abs().max().item(), runtime.reports()]
    runtime.reset()
for kind in (torch.float32, torch.float64, torch.float16):
    for ta in (False, True):
        for tb in (False, True):
            A, B = torch.randn((19, 7) if ta else (7, 19)).to(kind), torch.randn((11, 19) if tb else (19, 11)).to(kind)
            a, b = (each.double().T if turned else each.double() for each, turned in ((A, ta), (B, tb)))
            C = torch.empty(7, 11, dtype=kind)
            put(f"{kind} {ta} {tb}", f["product"](A, B, C, ta, tb, 1.0, 0.0), C, a @ b)
            C = torch.randn(7, 11).to(kind)
            want = 2 * (a @ b) - 0.5 * C.double()
            put(f"{kind} {ta} {tb} scaled", f["product"](A, B, C, ta, tb, 2.0, -0.5), C, want)
wide, B = torch.randn(7, 30), torch.randn(19, 11)
C = torch.full((7, 20), 3.0)
put("rows within longer ones", f["product"](wide[:, :19], B, C[:, :11], False, False, 1.0, 0.0), C[:, :11],
    wide[:, :19].double() @ B.double())
put("between them", 0, C[:, 11:], torch.full((7, 9), 3.0).double())
for kind in (torch.float16, torch.bfloat16, torch.float32):
    for out in (kind, torch.float32):
        A, B = torch.randn(3, 5, 8).to(kind), torch.randn(3, 8, 6).to(kind)
        C = torch.empty(3, 5, 6, dtype=out)
        put(f"typed {kind} {out}", f["typed"](A, B, C), C, A.double() @ B.double())
A, x = torch.randn(9, 12), torch.randn(24)
for turned in (False, True):
    for step in (1, 2, -1, -2):
        rows, inner = (12, 9) if turned else (9, 12)
        y = torch.zeros(24)
        status = f["vector_product"](A, x, y, turned, step, -step)
        used = x[: (inner - 1) * abs(step) + 1 : abs(step)]
        got = y[: (rows - 1) * abs(step) + 1 : abs(step)]
        used, got = (used.flip(0), got) if step < 0 else (used, got.flip(0))
        put(f"vector {turned} {step}", status, got, (A.T if turned else A).double() @ used.double())
def tanh_gelu(y):
    return torch.nn.functional.gelu(y, approximate="tanh")
for kind in (torch.float32, torch.bfloat16):
    for epilogue, after in ((1, torch.clone), (6, torch.relu), (36, tanh_gelu)):
        for row_order in (False, True):
            x, W, bias, C = (torch.randn(*size).to(kind) for size in ((2, 8, 16), (24, 16), (24,), (2, 8, 24)))
            out, beta = torch.full((2, 8, 24), 7.0).to(kind), 0.5 if row_order else 0.0
            status = f["linear"](x, W, bias, C, out, epilogue, beta, row_order, 0)
            want = x.double() @ W.double().T + beta * C.double() + (bias.double() if epilogue & 4 else 0)
            put(f"linear {epilogue} {row_order} {kind}", status, out, after(want))
A, B = torch.randn(40, 24), torch.randn(24, 8)
put("after a kernel", 0, f["after_a_kernel"](A, B), A.double() @ B.double() / 2)
"""

_WRONG = """
f = functions
runtime.configure(allocator="poison_nan", checker=True)
A, B, C = torch.randn(32, 32), torch.randn(32, 32), torch.zeros(32, 32)
def put(name, call):
    answer[name] = [call(), runtime.reports(), bool((C == 0).all())]
    runtime.reset()
    runtime.recover()
plain = (32, 32, 32, 32, 32, 32, 0)
for place, value in enumerate((33, 33, 33, 31, 31, 31, 7)):
    changed = [*plain[:place], value, *plain[place + 1 :]]
    put(f"changed {place}", lambda: f["sized"](A, B, C, *changed))
put("negative", lambda: f["sized"](A, B, C, 32, 32, -1, 32, 32, 32, 0))
put("nothing", lambda: f["sized"](A, B, C, 0, 32, 32, 32, 32, 32, 0))
put("long rows", lambda: f["sized"](A, B, C, 32, 32, 32, 40, 32, 32, 0))
put("long result", lambda: f["sized"](A, B, C, 32, 32, 32, 32, 32, 33, 0))
put("refused", f["refused"])
put("uninitialised", f["uninitialised"])
x, W, out = torch.randn(1, 8, 16), torch.randn(24, 16), torch.zeros(1, 8, 24)
def fused(bias, short):
    status = f["linear"](x, W, bias, out, out, 4, 0.0, False, short)
    return [status, [each["kind"] for each in runtime.reports()], bool((out == 0).all())]
short, unwritten, bias = torch.ones(23), torch.empty(24), torch.ones(24)
for name, bias, short in (("short bias", short, 0), ("unwritten bias", unwritten, 0), ("short rows", bias, 1)):
    answer[name] = fused(bias, short)
    out.zero_()
    runtime.reset()
    runtime.recover()
launches = f["after_a_kernel"](A, B), runtime.launches()
answer["launches"] = [each["kernel"] for each in launches[1]]
runtime.configure(blocks=0)
C.fill_(5)
f["product"](A, B, C, False, False, 1.0, 0.0)
answer["without blocks"] = bool(torch.allclose(C, A @ B, atol=1e-4))
"""


@pytest.fixture(scope="module")
def built():
    return build(SOURCE)


@pytest.fixture(scope="module")
def wrong(built):
    return run(built, _WRONG)


@pytest.mark.parametrize("device", DEVICES)
def test_products_are_right_whatever_is_transposed_scaled_or_strided(device, request, tmp_path):
    outcomes = (
        run(request.getfixturevalue("built"), _RIGHT) if device == "emulated" else run_on_gpu(SOURCE, _RIGHT, tmp_path)
    )
    assert len(outcomes) == 52
    for name, (status, error, reports) in outcomes.items():
        assert (status, reports) == (0, []), name
        assert error <= (1e-2 if "16" in name and "float32" not in name.split()[-1] else 2e-6), name


def test_arguments_that_cannot_be_are_refused(wrong):
    for name in ("changed 3", "changed 4", "changed 5", "changed 6", "negative"):
        assert wrong[name] == [INVALID, [], True], name
    assert wrong["nothing"] == [0, [], True]
    assert wrong["refused"][:2] == [[1, INVALID, NOT_SUPPORTED, 1, INVALID], []]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("long rows", "out-of-bounds-read"), ("long result", "out-of-bounds-write")],
)
def test_a_matrix_that_ends_outside_its_memory_is_reported(name, kind, wrong, built):
    status, reports, untouched = wrong[name]
    assert (status, untouched) == (FAILED, True)
    (report,) = located(reports, built.library)
    assert (report["kind"], report["kernel"]) == (kind, "cublasSgemm")
    assert "cublasSgemm(" in LINES[report["line"] - 1]


def test_what_follows_a_product_is_looked_over_too(wrong):
    assert wrong["short bias"] == [FAILED, ["out-of-bounds-read"], True]
    assert wrong["unwritten bias"][:2] == [0, ["uninitialised-read"]]
    assert wrong["short rows"] == [INVALID, [], True]


def test_a_result_that_is_added_to_has_to_hold_something(wrong):
    assert {each["kind"] for each in wrong["uninitialised"][1]} == {"uninitialised-read"}


def test_a_product_is_no_launch_of_the_source(wrong, built):
    assert built.header_set == "micro"
    assert wrong["launches"] == ["half_of"]
    assert wrong["without blocks"] is True
