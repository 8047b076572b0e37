"""Which functions a compiled library defines."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from audit.build.cuda.fast_symbols import defined, plain_name

SOURCE = """
namespace ns { template <class T> __attribute__((noinline)) void scale(T* x) { *x *= 2; } }
namespace { __attribute__((noinline)) void hidden(int* x) { ++*x; } }
extern "C" int forward(float* x, int* y) { ns::scale(x); hidden(y); return 0; }
extern void elsewhere(int);
"""


@pytest.mark.parametrize(
    ("demangled", "plain"),
    [
        ("void ns::scale<float, 256>(float*, int)", "ns::scale"),
        ("(anonymous namespace)::scale(float*)", "scale"),
        ("void (anonymous namespace)::scale<float>(std::pair<int, int>)", "scale"),
        ("scale", "scale"),
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"),
    ],
)
def test_a_name_without_types_and_parameters(demangled: str, plain: str) -> None:
    assert plain_name(demangled) == plain


def test_templates_and_hidden_functions_of_a_library_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "one.cpp").write_text(SOURCE)
    command = ["g++", "-shared", "-fPIC", "-O1", "one.cpp", "-o", "one.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    names = defined(tmp_path / "one.so")
    assert {"ns::scale", "hidden", "forward"} <= names
    assert "elsewhere" not in names


def test_a_function_whose_name_nm_leaves_mangled_is_defined(tmp_path: Path) -> None:
    policies = "policy<0>"
    for level in range(300):
        policies = f"pair<{policies}, policy<{level}>>"
    (tmp_path / "one.cpp").write_text(f"""
template <int> struct policy {{}};
template <class, class> struct pair {{}};
namespace lib {{ template <class T> __attribute__((noinline)) static int kernel(T) {{ return 1; }} }}
extern "C" int forward() {{ return lib::kernel({policies}()); }}
""")
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", "one.cpp", "-o", "one.so"], cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", "-C", "one.so"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "_ZN3libL6kernelI" in symbols, "otherwise nothing is shown here"
    assert "lib::kernel" in defined(tmp_path / "one.so")


def test_a_file_that_is_no_library_defines_nothing(tmp_path: Path) -> None:
    (tmp_path / "one.so").write_text("no library")
    assert defined(tmp_path / "one.so") == frozenset()
