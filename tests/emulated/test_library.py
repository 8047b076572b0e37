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
