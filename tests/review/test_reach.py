"""The allowlist of Python sources: what reaches the process that checks them, and ordinary modules, which do not."""

import pytest

from audit.judge import evidence
from audit.review.cuda_source import parse
from audit.review.reach import MOST_NAMED, finding, finding_cuda, reaches

REACHES = {
    "import ctypes": "import ctypes",
    "import audit.run.sessions.session": "import audit.run.sessions.session",
    "from audit.run import process_state": "from audit.run import process_state",
    "from . import beside": "from . import beside",
    "from torch import *": "from torch import *",
    "import sys\nsys._getframe()": "sys._getframe",
    "import sys\nsys.modules": "sys.modules",
    "from threading import Timer": "from threading import Timer",
    "import weakref": "import weakref",
    "import os\nos.path.os.fork()": "os.path.os.fork",
    "import torch\ntorch.ctypes": "torch.ctypes",
    "import torch.nn.functional as F\nF.torch": "torch.nn.functional.torch",
    "import torch\ntorch.equal = f": "torch.equal =",
    "import torch as t\nt.Tensor.cpu = f": "torch.Tensor.cpu =",
    "from torch import Tensor\nTensor.__add__ = f": "torch.Tensor.__add__ =",
    "import torch\nx = torch\nx.equal = f": "torch.equal =",
    "import torch\ndel torch.equal": "torch.equal =",
    "import time\nfor time.sleep in (f,): pass": "time.sleep =",
    "import torch\n[torch][0].library": "(torch)",
    "import torch\nf(torch.Tensor)": "(torch.Tensor)",
    'import torch\nsetattr(torch, "equal", f)': "setattr(torch, 'equal')",
    'import torch\ngetattr(torch, "s" + "ys")': "getattr(torch, name)",
    'import torch\ngetattr(torch, "_C")': "getattr(torch, '_C')",
    "import functools, torch\nfunctools.reduce(getattr, names, 1)": "getattr",
    "from torch.library import Library": "from torch.library import Library",
    "from torch import library as l\nl.impl": "torch.library.impl",
    "import torch\ntorch._C.x": "torch._C.x",
    "import torch\ntorch.ops.aten.detach.default.py_impl(k)": "torch.ops.aten.detach.default.py_impl",
    "from torch.overrides import TorchFunctionMode": "from torch.overrides import TorchFunctionMode",
    'import torch\ntorch.load("x")': "torch.load",
    'exec("1")': "exec",
    'def f(exec): pass\nexec("1")': "exec",
    'open("/proc/self/mem")': "open",
    "__builtins__": "__builtins__",
    'type("X", (), {})': "type(..., ..., ...)",
    "t = type": "type",
    "x.__class__ = Y": ".__class__ =",
    "f.__globals__": ".__globals__",
    "g.gi_frame": ".gi_frame",
    "match x:\n    case object(f_back=b): pass": "f_back",
    "x.cpu = f": ".cpu =",
    "class A:\n    def __del__(self): pass": "__del__",
    "class A(metaclass=M): pass": "metaclass=",
    "class A:\n    __array_interface__ = {}": "__array_interface__",
    "def g(y):\n    try: yield\n    finally: y.mul_(2)": "yield ... finally",
    'import operator\noperator.attrgetter("f_back")': "operator.attrgetter",
    "import string\nstring.Formatter()": "string.Formatter",
    "import typing\ntyping.get_type_hints(f)": "typing.get_type_hints",
    "import numpy as np\nnp.lib.stride_tricks": "numpy.lib.stride_tricks",
    "x.ctypes.data": ".ctypes",
    '__name__ = "__main__"': "__name__",
    "# coding: utf-7\nx = 1": "coding: utf-7",
    'S = "#include <dlfcn.h>\\nvoid f() { dlsym(h, 0); }"': "dlsym(",
    'S = "#include <torch/extension.h>\\npy::module_::import(0)"': "module_::import",
    'S = "#include <torch/extension.h>\\nPyEval_GetFrame()"': "PyEval_GetFrame",
    "import inspect\ninspect.stack()": "inspect.stack",
    "import inspect as i\ni.currentframe()": "inspect.currentframe",
    "from inspect import getouterframes": "from inspect import getouterframes",
    "import inspect\ninspect.signature(f, eval_str=True)": "inspect.signature",
    "import pybind11\npybind11.commands": "pybind11.commands",
    **{
        f'S = "#include <Python.h>\\nvoid f(PyObject* o) {{ {call}; }}"': name
        for call, name in {
            "PyImport_ImportModule(0)": "PyImport_ImportModule",
            "PyImport_AddModule(0)": "PyImport_AddModule",
            "PyObject_SetAttrString(o, 0, o)": "PyObject_SetAttrString",
            "PyObject_CallNoArgs(o)": "PyObject_CallNoArgs",
            "PyRun_SimpleString(0)": "PyRun_SimpleString",
            "PyEval_GetGlobals()": "PyEval_GetGlobals",
            "PySys_GetObject(0)": "PySys_GetObject",
            "PyGC_Collect()": "PyGC_Collect",
            "PyErr_GetRaisedException()": "PyErr_GetRaisedException",
            "PyDict_SetItemString(o, 0, o)": "PyDict_SetItemString",
            "PyFrame_GetBack(0)": "PyFrame_GetBack",
            "PyCapsule_Import(0, 0)": "PyCapsule_Import",
            "Py_AddPendingCall(0, 0)": "Py_AddPendingCall",
            "_PyObject_GC_New(0)": "_PyObject_GC_New",
            "PyInit_gc()": "PyInit_gc",
            "(PyTypeObject*)o": "PyTypeObject",
            "(PyFunctionObject*)o": "PyFunctionObject",
            "o->ob_type": "ob_type",
            "Py_TYPE(o)": "Py_TYPE",
            "THPVariableClass": "THPVariableClass",
        }.items()
    },
    'S = "#include <torch/extension.h>\\nTORCH_LIBRARY_IMPL(aten, CPU, m) {}"': "TORCH_LIBRARY_IMPL(aten",
}
BINDING = """
#include <Python.h>
#include <torch/csrc/autograd/python_variable.h>
static PyObject* top(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (!THPVariable_Check(args[0])) { PyErr_SetString(PyExc_TypeError, "a tensor"); return nullptr; }
  const int64_t k = PyLong_AsLongLong(args[1]);
  if (PyErr_Occurred()) return nullptr;
  PyObject* out = PyTuple_New(2);
  PyTuple_SET_ITEM(out, 0, THPVariable_Wrap(first(THPVariable_Unpack(args[0]), k)));
  PyTuple_SET_ITEM(out, 1, PyFloat_FromDouble(1.0));
  return out;
}
static PyObject* run(PyObject* self, PyObject* args) {
  PyObject* x; double y;
  if (!PyArg_ParseTuple(args, "Od", &x, &y)) return NULL;
  Py_INCREF(x); Py_DECREF(x);
  if (y > 0) return Py_BuildValue("(id)", 1, y);
  Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"top", (PyCFunction)(void*)top, METH_FASTCALL, 0}, {"run", run, METH_VARARGS, 0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "own", nullptr, -1, methods};
PyMODINIT_FUNC PyInit_own(void) { return PyModule_Create(&module); }
"""
STAYS = (
    f"S = {BINDING!r}",
    "import pybind11\npybind11.get_include()",
    "import inspect\ninspect.getsource(kernel)",
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nF.relu(torch.randn(3))",
    "from torch.utils.cpp_extension import load_inline\nload_inline(name='a', cpp_sources='', cuda_sources='')",
    "import triton\nimport triton.language as tl\n@triton.jit\ndef k(x): tl.math.exp(x)",
    'import os\nos.environ["TORCH_CUDA_ARCH_LIST"] = "7.5"',
    'import os\nos.makedirs(os.path.join(os.getcwd(), f"build_{os.getpid()}"), exist_ok=True)',
    "import torch\ntorch.backends.cuda.matmul.allow_tf32 = True",
    "import torch\nf = torch.jit.trace(g, x)",
    "import torch\ntorch.select(x, 0, 1).chunk(2)\ntorch.random.manual_seed(1)",
    'class M:\n    def f(self, i):\n        setattr(self, f"conv{i}", 1)\n        return getattr(self, f"conv{i}")',
    "class M:\n    def f(self):\n        self._y = self.__class__.__name__\n        return self._y",
    "import torch\nclass A(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): ctx.n = 1",
    "def f(input, compile): return input + compile",
    "import torch\ndef f(x: torch.Tensor) -> torch.Tensor: return isinstance(x, (torch.Tensor, int))",
    'if __name__ == "__main__":\n    import subprocess\n    exec("1")',
    "try:\n    import triton\nexcept ImportError:\n    triton = None",
    'import torch\ngetattr(torch, "float16")',
    "from contextlib import contextmanager\n@contextmanager\ndef g():\n    try: yield\n    finally: pass",
    "x.requires_grad = False",
    'S = "#include <torch/extension.h>\\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(0, &f); } // dlsym(h)"',
)


@pytest.mark.parametrize("text", REACHES)
def test_reaches(text: str) -> None:
    assert REACHES[text] in {one.construct for one in reaches(text)}


@pytest.mark.parametrize("text", STAYS)
def test_stays(text: str) -> None:
    assert reaches(text) == []
    assert finding(text, target="x") is None


TEST = "def {name}():\n    import time\n    print(time.time())\ndef forward(x):\n    return x\n"


@pytest.mark.parametrize(
    ("text", "entry", "found"),
    [
        (TEST.format(name="test1"), "forward", []),
        (TEST.format(name="bench_all") + "if __name__ == '__main__':\n    bench_all()", "forward", []),
        (TEST.format(name="test1") + "def test2():\n    test1()", "forward", []),
        (TEST.format(name="test1"), "test1", ["time.time"]),
        (TEST.format(name="test1").replace("return x", "return test1()"), "", ["time.time"]),
        (TEST.format(name="test1") + "f = 'test1()'", "", ["time.time"]),
        (TEST.format(name="test1") + "def test2():\n    test1()\ntest2()", "", ["time.time"]),
        (TEST.format(name="helper"), "", ["time.time"]),
        ("def test1(x=eval('1')): pass", "", ["eval"]),
        ("@run\ndef test1(): eval('1')", "", ["eval"]),
    ],
)
def test_a_test_that_nothing_names_is_not_run(text: str, entry: str, found: list[str]) -> None:
    assert [one.construct for one in reaches(text, entry)] == found


def test_finding_keeps_a_variant_from_passing() -> None:
    found = finding("import torch\nimport gc\ngc.collect()\n" + "import gc\n" * 50, target="x")
    assert found is not None
    assert (found.outcome, found.line, found.grade) == ("error", 2, None)
    assert "line 2: import gc reaches the process that checks it (52 found)" in found.summary
    assert len(found.evidence["lines"]) == MOST_NAMED  # type: ignore[arg-type]
    assert f"reach: {found.summary}" in evidence.missing([found])


def test_host_code_of_a_kernel_reaches_by_pythons_objects() -> None:
    found = finding_cuda(parse("void f() {\n  auto b = PyEval_GetBuiltins();\n}\n"), target="x")
    assert found is not None
    assert found.summary.startswith("line 2: PyEval_GetBuiltins reaches the process that checks it (1 found)")
    assert f"reach: {found.summary}" in evidence.missing([found])
    bound = '// PyEval_GetBuiltins\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f, py::arg("x")); }\n'
    assert finding_cuda(parse(bound), target="x") is None


def test_a_source_that_is_not_python_has_no_finding() -> None:
    assert finding("def f(:", target="x") is None
