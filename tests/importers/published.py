"""One claim of ours in every format: y = max(x * w, 0) over the rows of a matrix. Each writer fills a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

KERNEL = """#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void scale(const float* x, const float* w, float* y, int count, int features) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = fmaxf(x[i] * w[i % features], 0.0f);
}

"""
RETURNING = """torch::Tensor scaled(torch::Tensor x, torch::Tensor w) {
    auto y = torch::empty_like(x);
    int count = x.numel(), blocks = (count + 127) / 128;
    scale<<<blocks, 128>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), count, x.size(1));
    return y;
}
"""
WRITING = """void scaled(torch::Tensor x, torch::Tensor w, torch::Tensor y) {
    int count = x.numel(), blocks = (count + 127) / 128;
    scale<<<blocks, 128>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), count, x.size(1));
}
"""
BOUND = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("{name}", &scaled, "rows scaled"); }}\n'
CU = KERNEL + RETURNING + BOUND.format(name="forward")
DECLARED = "torch::Tensor scaled(torch::Tensor x, torch::Tensor w);"

TASK = '''import torch
import torch.nn as nn


class Model(nn.Module):
    """Scales the columns of a matrix and cuts what is below zero."""

    def __init__(self, features: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return torch.relu(x * self.weight)


batch_size = 4096
features = 24


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
'''
SOLUTION = f"""import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = '''{KERNEL + RETURNING}'''
module = load_inline(name="scaled", cpp_sources="{DECLARED}", cuda_sources=source, functions=["scaled"])


class ModelNew(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return module.scaled(x, self.weight)
"""
RESULT: dict[str, Any] = {
    "compiled": True,
    "correctness": True,
    "metadata": {"hardware": "NVIDIA H100 80GB HBM3"},
    "runtime": 1.42,
    "runtime_stats": {"mean": 1.42, "std": 0.1, "min": 1.3, "max": 2.0, "num_trials": 100},
    "ref_runtime": 3.1,
}
FUNCTIONAL = '''import torch
import torch.nn as nn


def module_fn(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Scaled rows."""
    return torch.relu(x * weight)


class Model(nn.Module):
    """Scales the columns of a matrix and cuts what is below zero."""

    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))

    def forward(self, x, fn=module_fn):
        return fn(x, self.weight)


batch_size = 4096
features = 24


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
'''
ARCHIVE_ROW: dict[str, Any] = {
    "Op_Name": "scaled_relu",
    "Level_ID": 1,
    "Task_ID": 7,
    "Kernel_Name": "scaled_relu_base",
    "CUDA_Runtime": 0.012,
    "PyTorch_Native_Runtime": 0.031,
    "PyTorch_Compile_Runtime": 0.055,
    "CUDA_Speedup_Native": 2.58,
    "CUDA_Speedup_Compile": 4.58,
    "CUDA_Code": CU,
    "PyTorch_Code_Module": TASK,
    "PyTorch_Code_Functional": FUNCTIONAL,
    "Correct": True,
    "Max_Diff": 0.0,
    "Error": None,
    "NCU_Profile": "{'metrics': {'Duration': {'value': 3.2}}, 'rules': {}}",
    "Torch_Profile": "{'aten::relu': {'cuda_time': 3}}",
    "Clang_Tidy": None,
    "__index_level_0__": 0,
}
ROBUST = FUNCTIONAL.replace("module_fn", "forward_fn").partition("batch_size = 4096")[0] + (
    "def get_inputs(batch_size: int = 128, features: int = 24):\n    return [torch.randn(batch_size, features)]\n\n\n"
    'input_names = ["x"]\n'
)
ROBUST_CONFIG = {
    "single_input_configs": [{"batch_size": 4096, "features": 24}],
    "single_init_configs": [{"features": 24}],
    "single_shared_configs": [{}],
    "multi_input_configs": [{"batch_size": 33, "features": 24}],
}
CUDA_L1_ROW: dict[str, Any] = {
    "level_id": 1,
    "task_id": 7,
    "ref_code": TASK,
    "custom_code": SOLUTION,
    "cuda_graph_code": None,
    "cudnn_code": None,
    "score_default": 2.5,
    "score_torch_compile_default": 1.4,
    "score_torch_compile_reduce_overhead": 1.3,
    "score_cuda_graph": 1.1,
    "score_cudnn": 2.4,
}
SUBMISSION = f"""#!POPCORN leaderboard scaled_rows
#!POPCORN gpu T4
import torch
from task import input_t, output_t
from torch.utils.cpp_extension import load_inline

source = '''{KERNEL + RETURNING}'''
module = load_inline(name="scaled", cpp_sources="{DECLARED}", cuda_sources=source, functions=["scaled"])


def custom_kernel(data: input_t) -> output_t:
    x, w = data
    return module.scaled(x, w)
"""
POPCORN_REFERENCE = '''import torch
from task import input_t, output_t
from utils import DeterministicContext, make_match_reference


def ref_kernel(data: input_t) -> output_t:
    """Scaled rows."""
    with DeterministicContext():
        x, w = data
        return torch.relu(x * w)


def generate_input(rows: int, features: int, seed: int) -> input_t:
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    x = torch.randn(rows, features, device="cuda", generator=gen)
    return x, torch.randn(features, device="cuda", generator=gen)


check_implementation = make_match_reference(ref_kernel, rtol=1e-4, atol=1e-4)
'''
POPCORN_TASK = """files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
lang: "py"
tests:
  - {"rows": 33, "features": 24, "seed": 4242}
  - {"rows": 128, "features": 24, "seed": 1}
benchmarks:
  - {"rows": 4096, "features": 24, "seed": 54352}
ranking_by: "geom"
"""
POPCORN_TYPES = (
    "from typing import TypeVar\n\nimport torch\n\n"
    'input_t = TypeVar("input_t", bound=tuple[torch.Tensor, torch.Tensor])\n'
    'output_t = TypeVar("output_t", bound=torch.Tensor)\n'
)
DEFINITION: dict[str, Any] = {
    "name": "scaled_rows_f24",
    "op_type": "scale",
    "axes": {"rows": {"type": "var"}, "features": {"type": "const", "value": 24}},
    "inputs": {
        "x": {"shape": ["rows", "features"], "dtype": "float32"},
        "w": {"shape": ["features"], "dtype": "float32"},
    },
    "outputs": {"y": {"shape": ["rows", "features"], "dtype": "float32"}},
    "reference": "import torch\n\ndef run(x, w):\n    return torch.relu(x * w)\n",
}
SOLUTION_JSON: dict[str, Any] = {
    "name": "scaled_rows_cuda",
    "definition": "scaled_rows_f24",
    "author": "somebody",
    "description": "rows scaled",
    "spec": {
        "language": "cuda",
        "target_hardware": ["NVIDIA_H100"],
        "entry_point": "src/kernel.cu::run",
        "dependencies": [],
        "destination_passing_style": True,
        "binding": "torch",
    },
    "sources": [{"path": "src/kernel.cu", "content": KERNEL + WRITING + BOUND.format(name="run")}],
}
WORKLOAD: dict[str, Any] = {
    "uuid": "one",
    "axes": {"rows": 4096},
    "inputs": {"x": {"type": "random"}, "w": {"type": "random"}},
}
TRACE: dict[str, Any] = {
    "definition": "scaled_rows_f24",
    "solution": "scaled_rows_cuda",
    "workload": WORKLOAD,
    "evaluation": {
        "status": "PASSED",
        "performance": {"latency_ms": 0.012, "reference_latency_ms": 0.031, "speedup_factor": 2.58},
        "environment": {"hardware": "NVIDIA H100 80GB HBM3"},
    },
}
SOL_DEFINITION = DEFINITION | {
    "axes": {
        "rows": {"type": "var"},
        "half": {"type": "const", "value": 12},
        "features": {"type": "expr", "expression": "half * 2"},
    }
}
SOL_SOLUTION = SOLUTION_JSON | {
    "spec": {
        "languages": ["cuda"],
        "target_hardware": ["B200"],
        "entry_point": "kernel.cu::forward",
        "destination_passing_style": False,
        "binding": "torch",
        "compile_options": {"cuda_cflags": ["-O3"]},
    },
    "sources": [{"path": "kernel.cu", "content": CU}],
}
SOL_WORKLOAD = WORKLOAD | {"tolerance": {"max_atol": 1e-3, "max_rtol": 1e-3, "required_matched_ratio": 1.0}}
COMPARED = "torch.allclose(kernel.forward(x, w), plain(x, w), rtol=1e-4)"
TIMED = "do_bench(lambda: plain(x, w)) / do_bench(lambda: kernel.forward(x, w))"
CELLS: list[tuple[str, str]] = [
    ("markdown", "# A fast kernel"),
    ("code", "!pip install ninja\n%matplotlib inline\nimport torch\nfrom torch.utils.cpp_extension import load"),
    ("code", f"source = r'''{CU}'''\nwith open('scaled.cu', 'w') as file:\n    file.write(source)"),
    ("code", "kernel = load(name='scaled', sources=['scaled.cu'], extra_cuda_cflags=['-O3', '--use_fast_math'])"),
    ("code", "rows = 4096\nx = torch.randn(rows, 24, device='cuda')\nw = torch.randn(24, device='cuda')"),
    ("code", f"def plain(x, w):\n    return torch.relu(x * w)\n\nprint({COMPARED})"),
    ("code", f"from triton.testing import do_bench\nprint({TIMED})"),
]  # fmt: skip
COM_SOLUTION = SOLUTION.replace("ModelNew", "Model").replace("torch.randn(features))", "torch.empty(features))")
COM_PROBLEM = "name: scaled\ntolerance:\n  bfloat16: 5e-2\n  torch.float32: 1.0e-3\nforbidden: []\n"
AGENT_KERNEL = SOLUTION.partition("class ModelNew")[0] + (
    "def kernel_function(x, weight, bias=None):\n    return module.scaled(x.float(), weight.float()).to(x.dtype)\n"
)
CUDA_L2 = (
    KERNEL
    + """#include <cuda_fp16.h>

__global__ void product(const half* a, const half* b, half* c, int m, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) sum += __half2float(a[i / n * k + p]) * __half2float(b[i % n * k + p]);
    c[i] = __float2half(sum);
}

void cuda_l2_a100_fp32(torch::Tensor a, torch::Tensor b, torch::Tensor b_col_major, torch::Tensor c) {
    int m = a.size(0), k = a.size(1), n = b.size(1);
    half *x = (half*)a.data_ptr(), *y = (half*)b_col_major.data_ptr(), *z = (half*)c.data_ptr();
    product<<<(m * n + 127) / 128, 128>>>(x, y, z, m, n, k);
}
"""
)
CUDA_L2_RATIOS = "mnk,torch.matmul,cuBLAS-tn\n16_8_24,1.25,1.5\n24_24_24,2.5,2.5\n"
PLAIN_KERNEL = f"""import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r'''{KERNEL}{RETURNING}'''
extension = load_inline("scaled", cpp_sources="{DECLARED}", cuda_sources=SOURCE, functions=["scaled"])


def kernel(x, w):
    return extension.scaled(x, w)
"""
REFERENCE = """import torch

RTOL = 1e-4
rows = 4096


def reference(x, w):
    return torch.relu(x * w)


def get_inputs():
    return [torch.randn(rows, 24), torch.randn(24)]
"""
HUB_BUILD = """[general]
name = "scaled-rows"
backends = ["cuda", "cpu"]

[torch]
src = ["torch-ext/torch_binding.cpp"]

[kernel.scaled]
backend = "cuda"
depends = ["torch"]
cuda-flags = ["-O3", "-DLEAST=0"]
src = ["scaled/scaled.cu"]

[kernel.scaled_cpu]
backend = "cpu"
src = ["scaled/scaled_cpu.cpp"]
"""
HUB_BINDING = """#include <torch/library.h>
#include "registration.h"

void scaled(torch::Tensor x, torch::Tensor w, torch::Tensor y);
int64_t answer() { return 42; }

TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
    ops.def("scaled(Tensor x, Tensor w, "
            "Tensor! y) -> ()");
#if defined(CPU_KERNEL)
    ops.impl("scaled", torch::kCPU, &scaled_on_cpu);
#elif defined(CUDA_KERNEL)
    ops.impl("scaled", torch::kCUDA, &scaled);
#endif
    ops.def("answer() -> int", &answer);
    ops.def("again() -> int");
    ops.impl("again", &answer);
}

REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
"""
HUB_PACKAGE = """import torch

from . import layers
from ._ops import ops


def scaled_rows(x, w, y=None):
    y = torch.empty_like(x) if y is None else y
    ops.scaled(x, w, y=y)
    return y


def in_a_layer(x):
    return layers.scaled(x)
"""
HUB_BENCHMARK = """import torch

from kernels.benchmark import Benchmark


class ScaledRows(Benchmark):
    seed: int = 42

    def setup(self):
        self.w = torch.randn(24, device=self.device)
        self.x = torch.randn(33, 24, device=self.device)
        self.out = torch.empty(33, 24, device=self.device)

    def benchmark_small(self):
        self.out = self.kernel.scaled_rows(self.x, self.w)

    def verify_small(self) -> torch.Tensor:
        return torch.relu(self.x * self.w)

    def setup_large(self):
        self.w = torch.randn(24, device=self.device)
        self.x = torch.randn(4096, 24, device=self.device)

    def benchmark_large(self):
        self.out = self.kernel.scaled_rows(self.x, self.w)

    def verify_large(self) -> torch.Tensor:
        return torch.relu(self.x * self.w)

    def benchmark_ones(self):
        self.out = self.kernel.scaled_rows(torch.ones_like(self.x), self.w)

    def verify_ones(self) -> torch.Tensor:
        return torch.relu(self.w).expand_as(self.x)
"""


def notebook(cells: list[tuple[str, str]], printed: str = "") -> dict[str, Any]:
    """A notebook of format 4.5 with those cells; the last one printed that."""
    stream = [{"output_type": "stream", "name": "stdout", "text": printed.splitlines(keepends=True)}]
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
            | ({"outputs": stream if text == cells[-1][1] else [], "execution_count": None} if kind == "code" else {})
            for kind, text in cells
        ],
    }


def file_of(key: str) -> str:
    """The file that a key of a fixture means: `task__py` is `task.py`, `__init____py` is `__init__.py`."""
    return ".".join(key.rsplit("__", 1))


def write(folder: Path, **files: Any) -> Path:
    """Fills a folder; `name__ext` is a file `name.ext`, and what is no text is written as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / file_of(name)).write_text(text, encoding="utf-8")
    return folder


def lines(*rows: dict[str, Any]) -> str:
    """JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


FORMATS: dict[str, dict[str, Any]] = {
    "kernelbench": {"task__py": TASK, "solution__py": SOLUTION, "result__json": RESULT},
    "archive": {"level_1__jsonl": lines(ARCHIVE_ROW)},
    "robust_kbench": {"func_forward__py": ROBUST, "config_forward__json": ROBUST_CONFIG, "forward__cu": CU},
    "cuda_l1": {"h100__jsonl": lines(CUDA_L1_ROW)},
    "popcorn": {
        "submission__py": SUBMISSION,
        "reference__py": POPCORN_REFERENCE,
        "task__yml": POPCORN_TASK,
        "task__py": POPCORN_TYPES,
    },
    "flashinfer_bench": {
        "solution__json": SOLUTION_JSON,
        "definition__json": DEFINITION,
        "traces__jsonl": lines(TRACE),
    },
    "sol_execbench": {
        "solution__json": SOL_SOLUTION,
        "definition__json": SOL_DEFINITION,
        "workload__jsonl": lines(SOL_WORKLOAD),
    },
    "notebook": {"claim__ipynb": notebook(CELLS, "Tesla T4\nspeedup: 12.5x\n")},
    "cuda_l2": {"16_8_24__cu": CUDA_L2, "ratios__csv": CUDA_L2_RATIOS},
    "kernelbench_com": {"solution__py": COM_SOLUTION, "reference__py": TASK, "problem__yaml": COM_PROBLEM},
    "kernelagent": {"problem__py": TASK, "input_kernel__py": AGENT_KERNEL},
    "hugging_face": {
        "build__toml": HUB_BUILD,
        "benchmark__py": HUB_BENCHMARK,
        "__init____py": HUB_PACKAGE,
        "torch_binding__cpp": HUB_BINDING,
        "scaled__cu": KERNEL + WRITING,
    },
    "bare_cu": {"scaled__cu": CU, "reference__py": REFERENCE},
    "plain_python": {"scaled__py": PLAIN_KERNEL, "reference__py": REFERENCE},
}
"""The files of every format."""
