"""Symbols and words by which host code would reach or recognise the emulated device, beside ordinary ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from audit.build.emulated import imports, preprocess, toolchain

PREFIX = "d0123456789ab"
HELD = 'extern "C" __attribute__((visibility("default"))) void* held[] = {{{}}};'


def library(folder: Path, text: str, *flags: str) -> Path:
    (folder / "k.cpp").write_text(f"#include <cstddef>\n{text}")
    words = [toolchain.find().compiler, "-shared", "-fPIC", *flags, "k.cpp", "-o", "k.so"]
    subprocess.run(words, cwd=folder, check=True)
    return folder / "k.so"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('extern "C" void* dlsym(void*, const char*); void* f() { return dlsym(0, "x"); }', "dlsym"),
        ('extern "C" int mprotect(void*, size_t, int); int f() { return mprotect(0, 0, 0); }', "mprotect"),
        ('extern "C" long syscall(long); long f() { return syscall(1); }', "syscall"),
        ('extern "C" void unheard_of(); void f() { unheard_of(); }', "unheard_of"),
        ('extern "C" __attribute__((weak)) void unheard_of(); bool f() { return unheard_of; }', "unheard_of"),
        ('extern "C" __attribute__((weak)) void __tsan_read4(); bool f() { return __tsan_read4; }', "__tsan_read4"),
        (f'extern "C" void {PREFIX}_controls(void*); void f() {{ {PREFIX}_controls(0); }}', f"{PREFIX}_controls"),
        ('extern "C" void __tsan_write8(void*) {}', "__tsan_write8"),
        ('extern "C" { static __attribute__((used)) void __tsan_read1(void*) {} }', "__tsan_read1"),
        ('extern "C" void* memcpy(void* to, const void*, size_t) { return to; }', "memcpy"),
        ('extern "C" void* PyDict_New(); void* f() { return PyDict_New(); }', "PyDict_New"),
        ("struct _object; void called(_object*); void f(_object* o) { called(o); }", "7_object"),
        ('#include <fstream>\nbool f() { return std::ifstream("/proc/self/maps").good(); }', "fstream"),
    ],
)
def test_a_library_is_refused_for(text: str, name: str, tmp_path: Path) -> None:
    found = imports.refused(library(tmp_path, text), prefix=PREFIX)
    assert found is not None
    assert name in found[0]


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("PyDict_New", True),
        ("PyEval_GetBuiltins", True),
        ("PyInterpreterState_Get", True),
        ("PyEval_GetFrame", False),
        ("PySys_GetObject", False),
    ]
    + [(name, False) for name in ("PyRun_String", "PyImport_ImportModule", "PyCell_Set", "Py_AddPendingCall")],
)
def test_a_library_with_the_headers_of_pybind_may_need_what_they_call(name: str, taken: bool, tmp_path: Path) -> None:
    found = imports.refused(
        library(tmp_path, f'extern "C" void* {name}(); void* f() {{ return {name}(); }}'), prefix=PREFIX, python=True
    )
    assert (found is None) is taken


def test_a_compiler_that_links_the_cxx_library_statically_is_named_as_the_reason(tmp_path: Path) -> None:
    text = '#include <stdexcept>\nint f(int n) { if (n) throw std::runtime_error("n"); return n; }'
    found = imports.refused(library(tmp_path, text, "-static-libstdc++"), prefix=PREFIX)
    assert found is not None
    assert found[1].startswith("a compiler that links the C++ library statically")


@pytest.mark.parametrize(("option", "taken"), [("-static-libstdc++", False), ("-O1", True)])
def test_such_a_compiler_is_passed_over_for_the_gxx_of_the_path(
    option: str, taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "cxx"
    named.write_text(f'#!/bin/sh\nexec g++ {option} "$@"\n')
    named.chmod(0o755)
    monkeypatch.setenv("CXX", str(named))
    assert toolchain.compiler_name() == (str(named) if taken else "g++")


def test_ordinary_programs_are_not_refused(tmp_path: Path) -> None:
    text = f"""
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
extern "C" void {PREFIX}_run_grid(void*);
extern "C" void __tsan_read4(void*);
thread_local int seen = 0;
int f(int n, char** words) {{
  std::map<std::string, int> counts;
  std::mt19937 random(std::random_device{{}}());
  std::vector<double> values(n);
  static std::once_flag once;
  static std::mutex mutex;
  std::call_once(once, [] {{ std::puts("once"); }});
  std::lock_guard<std::mutex> lock(mutex);
  for (auto& value : values) value = std::pow(std::normal_distribution<double>()(random), 1.5) + std::lgamma(n);
  std::sort(values.begin(), values.end());
  std::thread([&] {{ seen++; }}).join();
  auto start = std::chrono::steady_clock::now();
  std::ostringstream text;
  text << values[0] << std::strstr(words[0], "x") << (std::chrono::steady_clock::now() - start).count();
  std::fprintf(stderr, "%s %ld", text.str().c_str(), std::strtol(words[1], nullptr, 10));
  if (std::getenv("VERBOSE")) throw std::runtime_error(text.str());
  {PREFIX}_run_grid(std::malloc(n));
  __tsan_read4(words);
  return counts[words[2]] + __builtin_popcountll(n) + static_cast<int>((__int128)n * n / 3) + std::abs(n);
}}
"""
    assert imports.refused(library(tmp_path, text), prefix=PREFIX) is None


def test_what_is_no_library_is_told(tmp_path: Path) -> None:
    (tmp_path / "k.so").write_bytes(b"\x7fELF" + b"\0" * 100)
    with pytest.raises(ValueError, match=r"k\.so: not read"):
        imports.refused(tmp_path / "k.so", prefix=PREFIX)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            '# 1 "k.cu"\nint a;\n__attribute__((no_sanitize("thread"))) void f();\n',
            ("code without checks of its accesses", 2),
        ),
        ('# 7 "k.cu"\nvoid f() { asm("nop"); }\n', ("inline assembly", 7)),
        ('# 1 "x86.h" 1 3 4\nvoid g() { __asm__("nop"); }\n# 3 "k.cu" 2\nint a;\n', None),
        ('# 1 "k.cu"\nconst char* text = "asm no_sanitize";\nint asmx, no_sanity;\n', None),
    ],
)
def test_words_behind_the_preprocessor(text: str, found: tuple[str, int] | None) -> None:
    assert preprocess.refused(text) == found


@pytest.mark.parametrize(
    "words",
    [
        "PyEval_GetBuiltins();",
        'void* f() __attribute__((weakref("PyEval_GetBuiltins")));',
        'auto g = m.attr("forward");',
        'auto g = getattr(x, "__class__");',
        "using namespace pybind11;",
        "namespace p = ::pybind11;",
        "py::handle h;",
        "t.unsafeGetTensorImpl()->pyobj_slot();",
    ],
)
def test_words_of_python_behind_the_preprocessor(words: str) -> None:
    text = f'# 3 "k.cu"\n{words}\n'
    assert preprocess.refused(text, python=True) == (preprocess.OF_PYTHON, 3)
    assert preprocess.refused(text) is None
    assert preprocess.refused(f'# 3 "python.h" 3\n{words}\n', python=True) is None


def test_bindings_use_no_words_of_python() -> None:
    text = """# 1 "k.cu"
using namespace pybind11::literals;
namespace py = pybind11;
py::list f(at::Tensor x, py::dict d, py::int_ n) {
  py::gil_scoped_release free;
  cudaFuncAttributes attr;
  attr = {};
  throw py::value_error("");
}
void bound(py::module_& m) {
  m.def("f", &f, py::arg("x"), "d"_a = py::dict(), py::call_guard<py::gil_scoped_release>());
}
"""
    assert preprocess.refused(text, python=True) is None


@pytest.mark.parametrize(
    ("text", "has"), [('# 5 "x.h" 3\n', True), ("a\n %: 5\n", True), ("#\\\n 5\n", True), ("#line 5\n#if 1\n", False)]
)
def test_markers_of_a_preprocessor(text: str, has: bool) -> None:
    assert preprocess.has_markers(text) is has
