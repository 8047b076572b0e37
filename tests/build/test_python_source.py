"""What the syntax tree of a `.py` variant tells, without running it."""

from __future__ import annotations

import pytest

from audit.build.python.inline import InlineCuda, key_of
from audit.build.python.source import PythonSource
from audit.model.errors import CompileError, Unsupported

KERNEL = "__global__ void scale(float* x) { x[0] = 1; }"
BUILDER = "from torch.utils.cpp_extension import load_inline\n"


def inline(text: str) -> InlineCuda:
    (found,) = PythonSource(BUILDER + text).inline
    return found


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'a' 'b'", "ab"),
        ("'a' + NAME", "an"),
        ("f'{SIZE} of {NAME}'", "8 of n"),
        ("f'{{{SIZE + 1}}}'", "{9}"),
        ("'''\n a '''.strip()", "a"),
        ("[SIZE, -SIZE // 3, 2.5]", [8, -3, 2.5]),
        ("(NAME, None, True)", ["n", None, True]),
        ("{'f': 'doc'}", {"f": "doc"}),
    ],
)
def test_constants_are_folded(expression: str, value: object) -> None:
    source = PythonSource(f"SIZE = 8\nNAME: str = 'n'\ndef get_init_inputs():\n    'doc'\n    return {expression}\n")
    assert source.constant_result("get_init_inputs") == value


def test_sizes_take_the_place_of_parameters() -> None:
    source = PythonSource("def get_init_inputs(rows=8, width: int = 64):\n    return [width, (rows, width, 1), 0.5]\n")
    assert source.constant_result("get_init_inputs") == [64, [8, 64, 1], 0.5]
    assert source.constant_result("get_init_inputs", {"width": 16, "batch": 2}) == [16, [8, 16, 1], 0.5]


def test_what_only_a_program_runs_is_no_part_of_the_source() -> None:
    text = 'import torch\ny = torch.relu(x)\nif __name__ == "__main__":\n    torch.cuda.Event()\n'
    assert [name for name, _ in PythonSource(text).calls] == ["torch.relu"]
    elsewhere = text.replace('__name__ == "__main__"', "torch.cuda.is_available()")
    assert "torch.cuda.Event" in [name for name, _ in PythonSource(elsewhere).calls]


@pytest.mark.parametrize(
    "expression",
    [
        "open('x').read()",
        "SIZE()",
        "f'{SIZE:02d}'",
        "TWICE",
        "ROUND",
        "'a' * 3",
        "not 1",
        "1 / 0",
        "NAME.upper()",
        "b'x'",
        "x",
    ],
)
def test_what_constants_do_not_decide_is_not_guessed(expression: str) -> None:
    names = "SIZE = 8\nNAME = 'n'\nTWICE = 1\nTWICE = 2\nROUND = ROUND\n"
    with pytest.raises(Unsupported, match=r"get_init_inputs\(\) not made of constants \(line \d\)"):
        PythonSource(f"{names}def get_init_inputs():\n    return {expression}\n").constant_result("get_init_inputs")


@pytest.mark.parametrize(
    "method",
    [
        "text = {}\n        self.m = load_inline('m', '', text, functions=['f'])",
        "self.text = {}\n        if self.text:\n            load_inline('m', '', [self.text], functions=['f'])",
        "text: str = {}\n        def build():\n            return load_inline('m', '', text, functions=['f'])",
    ],
)
def test_a_text_that_a_method_holds_is_read(method: str) -> None:
    first = "class {}:\n    def __init__(self):\n        {}\n\n"
    found = inline(
        first.format("Other", "text = 'another'")
        + first.format("Model", "").rstrip()
        + "\n        "
        + method.format(f'"""\n{KERNEL}\n"""')
        + "\n"
    )
    assert found.key == key_of("", f"\n{KERNEL}\n", ["f"])
    assert found.cuda_line == 8


def test_a_function_of_several_statements_is_not_read() -> None:
    with pytest.raises(Unsupported, match=r"more than one statement \(line 1\)"):
        PythonSource("def get_init_inputs():\n    n = 1\n    return [n]\n").constant_result("get_init_inputs")


@pytest.mark.parametrize(
    "imported",
    [
        "import triton\n@triton.jit\ndef k(): ...\n",
        "import triton as t\n@t.jit\ndef k(): ...\n",
        "from triton import jit\n@jit\ndef k(): ...\n",
        "from triton import jit as compiled\n@compiled(debug=True)\ndef k(): ...\n",
        "import triton\n@triton.autotune(configs=[], key=[])\n@triton.jit\ndef k(): ...\n",
    ],
)
def test_triton_kernels_are_found_under_any_name(imported: str) -> None:
    source = PythonSource(f"import numba\n{imported}\n@numba.jit\ndef other(): ...\ndef host(): ...\n")
    assert source.triton_kernels == source.own_kernels == ("k",)


def test_kernels_in_texts_are_the_sources_own() -> None:
    text = f"CUDA = '''{KERNEL}'''\nload_inline(name='m', cpp_sources='', cuda_sources=[CUDA], functions=['scale'])\n"
    assert PythonSource(BUILDER + text).own_kernels == ("scale",)


@pytest.mark.parametrize(
    "call",
    [
        "import torch.utils.cpp_extension\ntorch.utils.cpp_extension.load_inline('m', 'c', 'k')",
        "from torch.utils import cpp_extension\ncpp_extension.load_inline('m', ['c'], ['k'])",
        "import torch.utils.cpp_extension as builder\nbuilder.load_inline(name='m', cpp_sources='c', cuda_sources='k')",
    ],
)
def test_the_builder_is_found_under_any_name(call: str) -> None:
    source = PythonSource(call)
    assert [(one.cpp, one.cuda, one.functions) for one in source.inline] == [(("c",), ("k",), None)]
    assert source.builds_extensions


def test_a_builder_of_the_same_name_is_not_torchs() -> None:
    source = PythonSource("def load_inline(x): return x\nload_inline(1)\n")
    assert source.inline == ()
    assert not source.builds_extensions


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("load_inline('m', 'c', open('k.cu').read())", r"an extension's source not made of constants \(line 2\)"),
        ("load_inline('m', 'c', 3)", r"an extension's source that is no text \(line 2\)"),
        ("load_inline('m', 'c', 'k', None, ['f'])", "more than three positional arguments"),
    ],
)
def test_extensions_that_cannot_be_read_are_named(call: str, words: str) -> None:
    with pytest.raises(Unsupported, match=words):
        _ = PythonSource(BUILDER + call).inline


def test_the_key_is_that_of_the_call_at_run_time() -> None:
    found = inline("load_inline('m', ['c', 'd'], 'k', functions=('f', 'g'))\n")
    assert found.key == key_of(["c", "d"], "k", ["f", "g"]) == key_of(("c", "d"), ["k"], {"f": "doc", "g": "doc"})
    assert found.key != key_of(["c", "d"], "K", ["f", "g"])
    assert inline("load_inline('m', 'c', 'k', functions='f')\n").key == key_of("c", "k", ["f"])


def test_the_unit_keeps_the_lines_of_the_python_file() -> None:
    text = f'\n\n\nCUDA = r"""\n{KERNEL}\n"""\nload_inline("m", "void f();", CUDA, functions=["f"])\n'
    unit, exact = inline(text).unit
    assert exact
    assert unit.splitlines()[(BUILDER + text).splitlines().index(KERNEL)] == KERNEL
    assert unit.index("void f();") < unit.index(KERNEL) < unit.index('m.def("f", &f, "f")')


def test_declarations_without_room_above_come_below() -> None:
    text = f'\nCUDA = r"""\n{KERNEL}\n"""\nload_inline("m", "void a();\\nvoid b();", CUDA)\n'
    unit, exact = inline(text).unit
    assert exact
    assert unit.splitlines()[3] == KERNEL
    assert unit.index("void b();") > unit.index(KERNEL)
    assert "PYBIND11_MODULE" not in unit


def test_code_of_the_cpp_text_comes_below_the_last_include() -> None:
    cuda = f"#include <vector>\n{KERNEL}"
    text = f'\n\n\n\n\nCUDA = r"""\n{cuda}\n"""\nload_inline("m", "void a();\\nvoid f() {{ a(); }}", CUDA)\n'
    unit, exact = inline(text).unit
    assert exact
    assert unit.index("void f() {") > unit.index(KERNEL) > unit.index("#include <vector>")


@pytest.mark.parametrize(
    ("includes", "kept", "exact"),
    [
        (r"#include <torch/extension.h>\n", [], True),
        (
            r"#include <torch/extension.h>\n# include  <cuda_runtime.h>\n#include <vector>\n",
            ["#include <vector>"],
            True,
        ),
        (r"#include <vector>\n#include <map>\n", ["#include <vector>", "#include <map>"], False),
    ],
)
def test_what_declarations_below_include_is_included_above(includes: str, kept: list[str], exact: bool) -> None:
    text = f'\n\nCUDA = r"""\n{KERNEL}\n"""\nload_inline("m", "{includes}void a();\\nvoid b();", CUDA)\n'
    unit, lines = inline(text).unit
    above, _, below = unit.partition(KERNEL)
    assert (above.splitlines()[2 : 2 + len(kept)], lines) == (kept, exact)
    assert below.count("include") == below.count("#include <torch/extension.h>") == 1
    assert below.index("void a();") < below.index("void b();")


def test_a_text_put_together_has_no_lines_of_its_own() -> None:
    assert inline("load_inline('m', '', 'a' + 'b')\n").unit[1] is False
    assert inline("load_inline('m', '', ['a', 'b'])\n").unit[1] is False


@pytest.mark.parametrize(
    ("text", "words"),
    [("def f(:\n", "line 1: error: "), ("x = 1\n  y = 2\n", "line 2: error: unexpected indent"), ("x\0", "error: ")],
)
def test_what_is_no_python_does_not_compile(text: str, words: str) -> None:
    with pytest.raises(CompileError, match=words):
        PythonSource(text)


def test_names_that_stand_for_each_other_end() -> None:
    source = PythonSource(f"{BUILDER}A = B\nB = A\nload_inline('m', '', A)\n")
    with pytest.raises(Unsupported, match="not made of constants"):
        _ = source.inline
    assert source.own_kernels == ()


def test_long_chains_are_read() -> None:
    assert PythonSource(f"import a\na{'.b' * 500}()\n").calls[0][0].count(".b") == 500


def test_a_text_of_too_many_pieces_is_not_supported() -> None:
    few, many = (" + ".join(["'a'"] * pieces) for pieces in (9, 900))
    assert inline(f"load_inline('m', '', {few})").cuda == ("a" * 9,)
    with pytest.raises(Unsupported, match="put together from this many pieces"):
        _ = PythonSource(f"{BUILDER}load_inline('m', '', {many})\n").inline


def test_a_source_nested_too_deeply_fails_no_kernel() -> None:
    with pytest.raises(Unsupported, match="nested this deeply"):
        PythonSource("-" * 200_000 + "1")


def test_torch_takes_no_second_definition_of_a_module() -> None:
    module = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}"
    text = f"load_inline(name='m', cpp_sources='int run(); {module}', functions=['run'])\n"
    assert "adds a second one" in PythonSource(BUILDER + text).inline[0].refusal
    assert not PythonSource(BUILDER + text.replace("functions", "verbose")).inline[0].refusal
