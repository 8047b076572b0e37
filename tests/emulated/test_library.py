"""Values across the C interface, without pybind11."""

from __future__ import annotations

import pytest

from audit.build.emulated.build import build
from tests.emulated.child import FOLDER, run


@pytest.fixture(scope="module")
def binding():
    return build(FOLDER / "binding.cu")


def test_numbers_text_defaults_and_keywords(binding):
    code = """
f = functions
answer = [f["add"](2), f["add"](b=1, a=2), f["scale"](1.5), f["scale"](2, twice=True), f["greet"]("Ana"),
          f["square"](7), f["add"].__doc__, f["which"](1), f["which"](torch.ones(1))]
"""
    assert run(binding, code) == [42, 3, 1.5, 4.0, "hello Ana", 49, "sum of two", 1, 2]


def test_tensors_and_other_objects_in_the_place_of_numbers(binding):
    """As pybind11 does: a float takes what has `__float__` or `__index__`, an int what has `__index__`."""
    code = """
import numpy
f, refused = functions, []
class Three:
    __index__ = lambda self: 3
class Half:
    __float__ = lambda self: 0.5
for call in (lambda: f["add"](torch.tensor(2.0)), lambda: f["add"](Half()), lambda: f["scale"](torch.ones(2)),
             lambda: f["scale"](torch.tensor(1j)), lambda: f["add"](numpy.zeros(2)), lambda: f["add"](b"1")):
    try:
        call()
    except TypeError as error:
        refused.append(str(error).partition(": ")[2])
answer = [f["scale"](torch.tensor(2.5)), f["scale"](torch.tensor([3])), f["scale"](torch.tensor(1.5, dtype=torch.half)),
          f["scale"](True), f["scale"](numpy.float32(0.5)), f["scale"](Half()), f["scale"](Three()),
          f["add"](torch.tensor(2)), f["add"](numpy.int64(2), Three()), f["square"](torch.tensor(True)),
          f["which"](torch.tensor(2)), f["which"](torch.tensor(2.0)), f["which"](numpy.int32(2)), refused]
"""
    number, whole = (
        "incompatible function arguments: expected a float",
        "incompatible function arguments: expected an int",
    )
    refused = [whole, whole, number, number, "", ""]
    assert run(binding, code) == [2.5, 3.0, 1.5, 1.0, 0.5, 0.5, 3.0, 42, 5, 1, 1, 2, 1, refused]


def test_tensors_lists_tuples_and_none(binding):
    code = """
f, x = functions, torch.arange(4.0)
f["fill"](x, 6.0)
same = f["same"](x)
whole, count = f["sized"](x, [2, 2])
half = f["halves"]([x, x + 2])
answer = [x.tolist(), same is x, list(whole.shape), count, half[1].tolist(), f["is_none"](), f["is_none"](x),
          f["undefined"](), str(f["typed"](x, torch.bfloat16).dtype), str(f["typed"](x, torch.int64).dtype)]
"""
    expected = [[6.0] * 4, True, [2, 2], 4, [4.0] * 4, True, False, None, "torch.bfloat16", "torch.int64"]
    assert run(binding, code) == expected


def test_values_of_several_kinds(binding):
    code = """
f, x = functions, torch.ones(4)
answer = [f["total"](), f["total"](x), f["total"](x, (1, 2)), f["total"](more=[5]), f["back"](x) is x,
          f["first"]([7, 8]), f["back"]([1, [None, 2.5], "words"])]
"""
    assert run(binding, code) == [3.0, 7.0, 7.0, 5.0, True, 7, [1, [None, 2.5], "words"]]


def test_tensors_are_freed(binding):
    code = """
import sys
x = torch.ones(3)
before = sys.getrefcount(x), x._use_count()
for _ in range(50): functions["same"](x); functions["halves"]([x])
answer = [before == (sys.getrefcount(x), x._use_count())]
"""
    assert run(binding, code) == [True]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ('"check"](torch.ones(3))', "RuntimeError: x must have 2 dimensions, has 1"),
        ('"out_of_range"]()', "IndexError: too far"),
        ('"invalid"]()', "ValueError: not that"),
        ('"other"]()', "RuntimeError: broken"),
        ('"total"](3)', "RuntimeError: Unable to cast Python instance to C++ type: expected a Tensor"),
        ('"first"](3)', "TypeError: first(): incompatible function arguments: expected another kind of object"),
        ('"first"]([1])', "IndexError: list index out of range"),
        ('"add"]("2")', "TypeError: add(): incompatible function arguments: expected an int"),
        ('"add"](1, 2, 3)', "TypeError: add(): incompatible function arguments: too many arguments"),
        ('"add"](1, c=3)', "TypeError: add(): incompatible function arguments: no parameter c"),
        ('"add"]()', "TypeError: add(): incompatible function arguments: argument 1 is missing"),
        ('"add"](2 ** 70)', f"TypeError: {2**70} does not fit into 64 bits"),
        ('"greet"](object())', "TypeError: a kernel built here takes no argument of type object"),
    ],
)
def test_exceptions(binding, call, error):
    code = f"""
try:
    functions[{call}
except Exception as error:
    answer = f"{{type(error).__name__}}: {{error}}"
"""
    assert run(binding, code) == error
