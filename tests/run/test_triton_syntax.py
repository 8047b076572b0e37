"""What a kernel's syntax means: as Triton's compiler reads it, not as Python does."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.run.processes.pool import Workers
from tests.run.test_python_session import asked, value
from tests.run.test_python_triton import LAUNCH, STORE, checked, source

DOUBLED = [0, 2, 4, 6, 8, 10]
GLOBALS = "\nFACTOR = 2\nALLOWED = tl.constexpr(2)\nOLD: tl.constexpr = 2\n"
MASKED = "tl.store(y + index, 2 * tl.load(x + index, mask={0}), mask={0})"


@pytest.mark.parametrize(
    ("mask", "within"),
    [
        ("(index < n) and (index >= 0)", True),
        ("(index < n) or (index >= 0)", False),
        ("(index < n) or (index < 0)", True),
        ("index < n and index >= 0 and block == 4", True),
        ("block == 4 and index < n", True),
        ("block == 3 or index < n", True),
        ("not (index >= n)", True),
        ("not (index < n) and index < 0", True),
        ("not (index < 0)", False),
    ],
)
def test_conditions_of_elements_are_joined_by_element(
    workers: Workers, tmp_path: Path, mask: str, within: bool
) -> None:
    """Python gives the last operand of `and`, whose lanes lie outside."""
    body = MASKED.format(mask)
    found, _ = checked(workers, tmp_path, body)
    kinds = [] if within else ["out-of-bounds-read", "out-of-bounds-write"]
    assert found == [(kind, "twice", body) for kind in kinds]


@pytest.mark.parametrize(
    ("condition", "reads"),
    [
        ("block == 3 and tl.load(x + n) > 0", False),  # a constant decides before the load
        ("block == 4 or tl.load(x + n) > 0", False),
        ("block == 4 and tl.load(x + n) > 0", True),
        ("n < 0 and tl.load(x + n) > 0", True),  # an argument does not: both sides run on a GPU
    ],
)
def test_only_a_constant_keeps_the_other_side_from_running(
    workers: Workers, tmp_path: Path, condition: str, reads: bool
) -> None:
    found, _ = checked(workers, tmp_path, f"if {condition}:\n        pass\n    {STORE}")
    assert [(kind, line) for kind, _, line in found] == [("out-of-bounds-read", f"if {condition}:")] * reads
    assert value(tmp_path) == DOUBLED


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (MASKED.format("0 <= index < n"), "Triton does not compile a chained comparison"),
        (f"for _ in range(2):\n        {STORE}\n        break", "Triton does not compile break and continue"),
        (f"if index < n:\n        {STORE}", "Triton does not compile a condition of more than one element"),
        (f"{STORE} if index < n else None", "Triton does not compile a condition of more than one element"),
        (
            "tl.store(y, FACTOR)",
            "Triton does not compile a kernel that reads the global FACTOR, which is no tl.constexpr",
        ),
        ("tl.store(y, abs(block))", "Triton does not compile a call of Python's abs"),
        (f"FACTOR = 2\n    {STORE}".replace("2 * ", "FACTOR * "), None),
        (f"if block == 3:\n        tl.store(y, FACTOR)\n    {STORE}", None),
        (STORE.replace("2 * ", "(ALLOWED * OLD - 2) * "), None),
        (STORE.replace("2 * ", "ALLOWED.value * "), None),
        (MASKED.format("(ALLOWED + 4 > index) and (n > index)"), None),
        (f"if block == 3:\n        tl.static_assert(0 <= n < 3)\n    {STORE}", None),
        (f"if tl.max(index, 0) < 0:\n        tl.store(y, 1.0)\n    {STORE}", None),
        (f"assert n == 0, 'dropped without debugging'\n    {STORE}", None),
    ],
)
def test_syntax_that_the_compiler_refuses_is_refused_where_it_is_reached(
    workers: Workers, tmp_path: Path, body: str, said: str | None
) -> None:
    reply = asked(workers, tmp_path, source(LAUNCH).replace(STORE, body) + GLOBALS)
    assert reply.finished, reply.detail
    (event,) = reply.events
    assert ("raised" in event) is (said is not None)
    if said is None:
        assert value(tmp_path) == DOUBLED
    else:
        assert event["reports"][0]["kind"] == "interpreter-failed" and said in event["raised"]


NAMES = """
import torch
import triton
{imports}

@triton.jit
def shared(a):
    return {name}(a)

@triton.jit
def kernel(x, y):
    index = arange(0, 8)
    value = load(x + index, mask=index < 6)
    store(y + index, shared(value) + {name}(value), mask=index < 6)

def forward(x):
    y = torch.empty_like(x)
    kernel[(1,)](x / 8, y)
    return y
"""
ONLY_NAMES = "from triton.language import arange, exp, load, store"
MODULE = "import triton.language as tl\narange, load, store = tl.arange, tl.load, tl.store\n"


@pytest.mark.parametrize(
    ("imports", "name"),
    [
        (ONLY_NAMES, "exp"),
        (MODULE + "exp = tl.exp", "exp"),
        (MODULE + "grows = tl.math.exp", "grows"),
        (MODULE + "from triton.language.extra.cuda.libdevice import exp", "exp"),
        (MODULE + "from triton.language.extra.libdevice import fast_expf", "fast_expf"),
        (MODULE + "from triton.language.extra import libdevice", "libdevice.exp"),
        (MODULE, "tl.extra.cuda.libdevice.exp"),
        (MODULE, "tl.extra.libdevice.exp"),
    ],
)
def test_a_function_of_the_language_is_known_by_any_name(
    workers: Workers, tmp_path: Path, imports: str, name: str
) -> None:
    reply = asked(workers, tmp_path, NAMES.format(imports=imports, name=name))
    assert reply.finished and "raised" not in reply.events[0], reply
    wanted = [1.0, 1.1331484530668263, 1.2840254166877414, 1.4549914146182013, 1.6487212707001282, 1.8682459574322223]
    assert value(tmp_path) == pytest.approx([2 * one for one in wanted], rel=1e-6)


COMBINED = """
import torch
import triton
import triton.language as tl

@triton.jit
def either(a, b):
    return a or b

@triton.jit
def kernel(y):
    index = tl.arange(0, 8)
    found = tl.reduce(index == {sought}, 0, either)
    seen = tl.associative_scan(index == {sought}, 0, either)
    tl.store(y + index, found.to(tl.float32) + seen.to(tl.float32), mask=index < 6)

def forward(x):
    y = torch.empty_like(x)
    kernel[(1,)](y)
    return y
"""


@pytest.mark.parametrize(("sought", "wanted"), [(2, [1.0, 1, 2, 2, 2, 2]), (9, [0.0] * 6)])
def test_a_function_that_combines_elements_is_read_likewise(
    workers: Workers, tmp_path: Path, sought: int, wanted: list[float]
) -> None:
    reply = asked(workers, tmp_path, COMBINED.format(sought=sought))
    assert reply.finished and "raised" not in reply.events[0], reply
    assert value(tmp_path) == wanted


MADE = """
import torch
import triton
import triton.language as tl

def made(factor):
    @triton.jit
    def kernel(x, y):
        index = tl.arange(0, 8)
        tl.store(y + index, factor * tl.load(x + index, mask=index < 6), mask=index < 6)
    return kernel

double, triple = made(tl.constexpr(2)), made({other})

def forward(x):
    y = torch.empty_like(x)
    triple[(1,)](x, y)
    double[(1,)](x, y)
    return y
"""


@pytest.mark.parametrize(("other", "refused"), [("tl.constexpr(3)", False), ("3", True)])
def test_a_kernel_made_by_a_function_reads_its_constants(
    workers: Workers, tmp_path: Path, other: str, refused: bool
) -> None:
    (event,) = asked(workers, tmp_path, MADE.format(other=other)).events
    assert ("the global factor, which is no tl.constexpr" in event.get("raised", "")) is refused
    assert refused or value(tmp_path) == DOUBLED


LOCAL = """
import torch

def forward(x):
    import triton
    import triton.language as tl

    @triton.jit
    def added(a, more):
        return a + more.to(tl.float32)

    @triton.jit
    def kernel(x, y, n, doubled, block: tl.constexpr = 8):
        index = tl.arange(0, block)
        value = tl.load(x + index, mask=index < n)
        if doubled:
            value *= 2
        for step in range(n - 4):
            value = added(value, step) + step.to(tl.float32) - 2 * step
        tl.store(y + index, value, mask=index < n)

    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), x.numel() == 6)
    return y
"""


def test_a_kernel_inside_a_function_takes_constants_booleans_and_numbers_as_the_compiler_does(
    workers: Workers, tmp_path: Path
) -> None:
    reply = asked(workers, tmp_path, LOCAL)
    assert reply.finished and "raised" not in reply.events[0], reply
    assert value(tmp_path) == DOUBLED


OF_CONSTANTS = [("step in tl.static_range(2)", "step"), ("step in range(2)", "block")]


@pytest.mark.parametrize(("loop", "constant"), OF_CONSTANTS)
def test_a_constant_has_no_method_of_tensors(workers: Workers, tmp_path: Path, loop: str, constant: str) -> None:
    body = f"for {loop}:\n        {STORE.replace('2 * ', f'{constant}.to(tl.float32) * ')}"
    (event,) = asked(workers, tmp_path, source(LAUNCH).replace(STORE, body)).events
    assert "has no attribute 'to'" in event["raised"]


WITH_A_POINTER = """
import torch
import triton
import triton.language as tl

class Pointer:
    def __init__(self, tensor):
        self.dtype, self._tensor = tensor.dtype, tensor

    def data_ptr(self):
        return self._tensor.data_ptr()

@triton.jit
def kernel(x, y, n):
    index = tl.arange(0, 8)
    tl.store(y + index, 2 * tl.load(x + index, mask=index < n), mask=index < n)

def forward(x):
    y = torch.empty_like(x)
    kernel[(1,)](Pointer(x), Pointer(y), x.numel())
    return y
"""


def test_an_object_with_a_pointer_and_a_type_is_an_argument(workers: Workers, tmp_path: Path) -> None:
    reply = asked(workers, tmp_path, WITH_A_POINTER)
    assert reply.finished and "raised" not in reply.events[0], reply
    assert value(tmp_path) == DOUBLED
