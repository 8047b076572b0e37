"""The allowlist of Python sources: what reaches the process that checks them, and ordinary modules, which do not."""

import pytest

from audit.judge import evidence
from audit.review.reach import MOST_NAMED, finding, reaches

REACHES = {
    "import ctypes": "import ctypes",
    "import audit.run.session": "import audit.run.session",
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
    'S = "#include <torch/extension.h>\\nTORCH_LIBRARY_IMPL(aten, CPU, m) {}"': "TORCH_LIBRARY_IMPL(aten",
}
STAYS = (
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


def test_finding_keeps_a_variant_from_passing() -> None:
    found = finding("import torch\nimport gc\ngc.collect()\n" + "import gc\n" * 50, target="x")
    assert found is not None
    assert (found.outcome, found.line, found.grade) == ("error", 2, None)
    assert "line 2: import gc reaches the process that checks it (52 found)" in found.summary
    assert len(found.evidence["lines"]) == MOST_NAMED  # type: ignore[arg-type]
    assert f"reach: {found.summary}" in evidence.missing([found])


def test_a_source_that_is_not_python_has_no_finding() -> None:
    assert finding("def f(:", target="x") is None
