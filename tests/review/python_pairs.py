"""For every Python rule: sources in which it points at the lines marked HERE, and look-alikes where it is silent."""

from __future__ import annotations

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def forward(body: str, *, parameters: str = "x") -> str:
    """A module-level entry with this body; lines after the first are indented by four blanks in `body`."""
    return f"{HEAD}def forward({parameters}):\n    {body}\n"


def model(made: str, body: str) -> str:
    """A module with this line in its constructor and this body of `forward`."""
    return (
        f"{HEAD}class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {made}\n"
        f"    def forward(self, x):\n        {body}\n"
    )


def triton(body: str, launch: str) -> str:
    """A Triton kernel with this body and a launch with this grid."""
    return (
        "import torch, triton\nimport triton.language as tl\n"
        f"@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    {body}\n"
        f"def forward(x):\n    y = torch.empty_like(x); n = x.numel()\n    {launch}\n    return y\n"
    )


INLINE = "from torch.utils.cpp_extension import load_inline\n"
PLACE = "at = tl.program_id(0) * B + tl.arange(0, B)\n    "

KNOWN_BAD: dict[str, list[str]] = {
    "fallback": [
        forward("try:\n        return ext.run(x)\n    except Exception:  # HERE\n        return torch.relu(x)"),
        forward("try:\n        return ext.run(x)\n    except:  # HERE\n        return x * 2"),
        forward("try:\n        y = torch.mm(x, x)\n    except RuntimeError:  # HERE\n        pass\n    return y"),
    ],
    "undeclared_binding": [
        INLINE + "load_inline(name='m', cpp_sources='', cuda_sources='', functions=['run'])  # HERE\n",
        INLINE + "load_inline('m', '// int run();', TEXT, functions='run')  # HERE\n",
        INLINE
        + "def build():\n    cpp = ''\n    return load_inline(name='m', cpp_sources=cpp, functions=['run'])  # HERE\n",
    ],
    "second_module": [
        INLINE
        + "CPP = 'int run(); PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}'\n"
        + "load_inline(name='m', cpp_sources=CPP, functions=['run'])  # HERE\n",
        INLINE
        + "CUDA = ['int run() {}', 'PYBIND11_MODULE( TORCH_EXTENSION_NAME, m) {}']\n"
        + "load_inline('m', 'int run();', CUDA, functions='run')  # HERE\n",
    ],
    "library_operator": [
        forward("y = F.relu(x) @ x  # HERE\n    return y.matmul(x)  # HERE"),
        INLINE + "def unused(x):\n    return load_inline('m', '', '').run(x)\n" + forward("return x @ x  # HERE"),
        model("self.fc = nn.Linear(3, 3)", "return ext.run(self.fc(x))  # HERE"),
        forward("return torch.ops.aten.mm(x, x)  # HERE"),
    ],
    "library_part": [
        INLINE + "mine = load_inline('m', '', '')\n" + forward("return mine.run(x) @ x  # HERE"),
        triton("pass", "k[(1,)](x, y, n, B=1)\n    y = torch.relu(y)  # HERE"),
        "import theirs\n" + forward("return theirs.run(x @ x)  # HERE"),
        "SOURCE = '__global__ void k() {}'\nclass Built:\n    def __call__(self, x):\n        return make(SOURCE)(x)\n"
        + model("self.run = Built()", "return self.run(x).matmul(x)  # HERE"),
    ],
    "triton_grid": [
        triton(PLACE + "tl.store(y + at, 1, mask=at < n)", "k[(n // 256,)](x, y, n, B=256)  # HERE"),
        triton(PLACE + "tl.store(y + at, 1)", "grid = (x.shape[0] // 8, 1)  # HERE\n    k[grid](x, y, n, B=8)"),
    ],
    "tuning_trials": [
        "import triton\nimport triton.language as tl\n"
        "@triton.autotune(configs=[triton.Config({'B': 64}), triton.Config({'B': 128})], key=['n'])  # HERE\n"
        "@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    tl.atomic_add(y, tl.load(x))\n",
        "import triton\nimport triton.language as tl\n"
        "@triton.autotune(CONFIGS, key=['n'])  # HERE\n"
        "@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    tl.atomic_add(y, tl.load(x))\n",
    ],
    "unmasked_access": [
        triton(PLACE + "v = tl.load(x + at)  # HERE\n    tl.store(y + at, v)", "k[(triton.cdiv(n, 8),)](x, y, n, B=8)")
    ],
    "unused_input": [
        forward("return ext.run(x)", parameters="x, scale=1.0").replace("scale=1.0):", "scale=1.0):  # HERE"),
        "import torch\ndef forward(x, bias):  # HERE\n    y = torch.empty(bias.shape)\n    return ext.run(x, y)\n",
        model("self.weight = nn.Parameter(torch.ones(3))  # HERE", "return ext.run(x)"),
    ],
    "fresh_result": [
        forward("return torch.zeros_like(x)  # HERE"),
        forward("return x  # HERE"),
    ],
    "input_mutation": [
        forward("x.zero_()  # HERE\n    return ext.run(y)"),
        forward("x[0] = 1  # HERE\n    x *= 2  # HERE\n    return ext.run(y)"),
    ],
    "result_cache": [
        "kept = {}\n" + forward("return kept[x.data_ptr()]  # HERE"),
        "kept = {}\n" + forward("key = id(x)\n    y = kept.get(key)  # HERE\n    return y * 1"),
        "kept = {}\n" + forward("y = kept.get(x.shape)  # HERE\n    return y"),
        "kept = {}\n" + forward("key = tuple(x[:4].tolist())\n    return kept[key].clone()  # HERE"),
        "import functools\n@functools.lru_cache\ndef forward(x):  # HERE\n    return x * 2\n",
    ],
    "last_call": [
        model("self.x = self.y = None", "if x is self.x:  # HERE\n            return self.y\n        return run(x)"),
        "last = out = None\n" + forward("if x.data_ptr() == last:  # HERE\n        return out\n    return run(x)"),
        "last = out = None\n" + forward("if torch.equal(x, last):  # HERE\n        return out\n    return run(x)"),
    ],
    "call_count": [
        model(
            "self.n = 0",
            "self.n += 1\n        if self.n > 10:  # HERE\n            return self.y\n        return run(x)",
        ),
        "n = 0\n" + forward("global n\n    n += 1\n    return old if n > 9 else run(x)  # HERE"),
        "seen = {}\n" + forward('seen["n"] += 1\n    if seen["n"] > 3:  # HERE\n        return old\n    return run(x)'),
    ],
    "cuda_graph": [
        forward("g = torch.cuda.CUDAGraph()  # HERE\n    with torch.cuda.graph(g):  # HERE\n        run(x)")
    ],
    "file_cache": [forward('torch.save(x, "/tmp/x")  # HERE\n    return open("/tmp/y").read()  # HERE')],
    "seed_replay": [
        forward("torch.manual_seed(0)  # HERE\n    return torch.randn(3)"),
        forward("g = torch.Generator()\n    g.manual_seed(1)  # HERE\n    return torch.rand(3, generator=g)"),
    ],
    "shape_branch": [
        forward("if x.shape[0] == 4096:  # HERE\n        return fast(x)\n    return slow(x)"),
        forward("return fast(x) if x.shape == (1024, 1024) else slow(x)  # HERE"),
        forward("if x.size(0) in (512, 1024):  # HERE\n        return fast(x)\n    return slow(x)"),
    ],
    "value_branch": [
        forward("if x.abs().max() > 3:  # HERE\n        return slow(x)\n    return fast(x)"),
        forward("return a(x) if torch.any(x < 0).item() else b(x)  # HERE"),
    ],
    "training_branch": [
        model("self.a = 1", "if self.training:  # HERE\n            return fast(x)\n        return slow(x)"),
        forward("return fast(x) if torch.is_grad_enabled() else slow(x)  # HERE"),
    ],
    "loose_weights": [forward("model.load_state_dict(x, strict=False)  # HERE\n    return model(x)")],
    "narrow_dtype": [
        forward("y = run(x.half())  # HERE\n    return x.to(torch.bfloat16).float()  # HERE"),
        forward("with torch.autocast('cuda'):  # HERE\n        return run(x)"),
        triton("v = tl.dot(x, y, allow_tf32=True)  # HERE\n    w = v.to(tl.float16)  # HERE", "k[(1,)](x, y, n, B=1)"),
        triton('v = tl.dot(x, y, input_precision="tf32")  # HERE', "k[(1,)](x, y, n, B=1)"),
        forward("if fast:\n        x = x.half()  # HERE\n    return run(x)", parameters="x, fast=True"),
        forward("if x.numel() > 9:\n        x = x.half()  # HERE\n    return run(x)"),
    ],
    "backend_settings": [
        HEAD
        + "torch.backends.cuda.matmul.allow_tf32 = True  # HERE\ntorch.set_float32_matmul_precision('high')  # HERE\n",
        HEAD + "import torch.backends.cudnn as cudnn\ncudnn.benchmark = True  # HERE\n",
    ],
    "torch_stream": [
        forward("own = torch.cuda.Stream()\n    with torch.cuda.stream(own):  # HERE\n        run(x)\n    return y")
    ],
    "child_process": [
        "import threading, subprocess, os\n"
        + forward(
            "threading.Thread(target=run).start()  # HERE\n    subprocess.Popen(['a'])  # HERE\n    os.fork()  # HERE"
        ),
        "from multiprocessing import Process\n" + forward("Process(target=run).start()  # HERE"),
    ],
    "own_timing": [
        "import time\n" + forward("t = time.perf_counter()  # HERE\n    return run(x)"),
        forward("e = torch.cuda.Event(enable_timing=True)  # HERE\n    return e.elapsed_time(e)  # HERE"),
    ],
    "patched_names": [
        HEAD + "import time\ntorch.allclose = lambda *a, **k: True  # HERE\ntime.perf_counter = lambda: 0  # HERE\n",
        HEAD + "torch.cuda.Event.elapsed_time = short  # HERE\nsetattr(torch, 'equal', yes)  # HERE\n",
        "from unittest.mock import patch\npatch('torch.allclose', yes).start()  # HERE\n",
    ],
    "tensor_subclass": [
        HEAD + "class Lazy(torch.Tensor):  # HERE\n    @classmethod\n"
        "    def __torch_function__(cls, f, t):  # HERE\n        pass\n",
        forward("return torch.Tensor._make_subclass(Lazy, x)  # HERE"),
    ],
    "harness_sniffing": [
        "import inspect, sys, os\n"
        + forward(
            "a = inspect.stack()  # HERE\n    b = sys.modules  # HERE\n    c = os.getppid()  # HERE\n    return b"
        ),
        "import sys\n" + forward("return sys._getframe(1).f_code  # HERE"),
    ],
    "environment_variable": [
        "import os\n" + forward("fast = os.environ.get('CI')  # HERE\n    return os.getenv('A')  # HERE")
    ],
    "heap_scan": ["import gc\n" + forward("return [o for o in gc.get_objects() if torch.is_tensor(o)]  # HERE")],
    "dynamic_code": [
        "import importlib\n"
        + forward("exec(text)  # HERE\n    importlib.reload(torch)  # HERE\n    return eval(x)  # HERE")
    ],
}

KNOWN_GOOD: dict[str, list[str]] = {
    "fallback": [
        forward("try:\n        return ext.run(x)\n    except Exception as e:\n        raise RuntimeError('no') from e"),
        forward("try:\n        return kept[x]\n    except KeyError:\n        return torch.relu(x)"),
        "try:\n    import triton\nexcept ImportError:\n    triton = None\n",
        forward("try:\n        return read(x)\n    except OSError:\n        return None"),
    ],
    "undeclared_binding": [
        INLINE + "load_inline(name='m', cpp_sources='int run();', cuda_sources='', functions=['run'])\n",
        INLINE + "load_inline(name='m', cpp_sources='#include \"run.h\"', functions=['run'])\n",
        INLINE + "load_inline(name='m', cpp_sources='PYBIND11_MODULE(m, n) {}')\n",
        INLINE + "def build(text):\n    return load_inline(name='m', cpp_sources=text, functions=['run'])\n",
    ],
    "second_module": [
        INLINE + "load_inline(name='m', cpp_sources='PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}')\n",
        INLINE + "load_inline('m', 'int run(); // PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}', functions=['run'])\n",
        INLINE + "load_inline('m', 'int run(); PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}', functions=None)\n",
        INLINE + "load_inline('m', 'int run(); PYBIND11_MODULE(other, m) {}', functions=['run'])\n",
    ],
    "library_part": [forward("return x @ x"), INLINE + forward("return load_inline('m', '', '').run(x)")],
    "library_operator": [
        INLINE + "mine = load_inline('m', '', '')\n" + forward("return mine.run(x) @ x"),
        forward("y = torch.empty_like(x).contiguous().view(-1)\n    ext.run(x, y)\n    return y.clone()"),
        forward("return x") + "if __name__ == '__main__':\n    print(torch.allclose(forward(a), torch.relu(a)))\n",
        "def get_inputs():\n    import torch\n    return [torch.relu(torch.randn(3))]\n",
        "from torch.utils.cpp_extension import load_inline\nmine = load_inline('m', '', '')\n"
        + forward("return mine.softmax(x)"),
    ],
    "triton_grid": [
        triton(PLACE + "tl.store(y + at, 1, mask=at < n)", "k[(triton.cdiv(n, 256),)](x, y, n, B=256)"),
        triton(PLACE + "tl.store(y + at, 1, mask=at < n)", "k[((n + 255) // 256,)](x, y, n, B=256)"),
        triton(PLACE + "tl.store(y + at, 1)", "assert n % 256 == 0\n    k[(n // 256,)](x, y, n, B=256)"),
    ],
    "tuning_trials": [
        "import triton\nimport triton.language as tl\n"
        "@triton.autotune(CONFIGS, key=['n'], reset_to_zero=['y'])\n"
        "@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    tl.atomic_add(y, tl.load(x))\n",
        "import triton\nimport triton.language as tl\n"
        "@triton.autotune(CONFIGS, key=['n'], **OPTIONS)\n"
        "@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    tl.atomic_add(y, tl.load(x))\n",
        "import triton\nimport triton.language as tl\n"
        "@triton.autotune([triton.Config({'B': 64}, pre_hook=zero), triton.Config({'B': 128}, pre_hook=zero)], ['n'])\n"
        "@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    tl.atomic_add(y, tl.load(x))\n",
        "import triton\nimport triton.language as tl\n"
        "@triton.autotune([triton.Config({'B': 64})], ['n'])\n"
        "@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    tl.atomic_add(y, tl.load(x))\n",
        "import triton\nimport triton.language as tl\n"
        "@triton.autotune(CONFIGS, key=['n'])\n"
        "@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    tl.atomic_max(y, tl.load(x))\n",
    ],
    "unmasked_access": [
        triton(PLACE + "tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)", "k[(9,)](x, y, n, B=8)"),
        triton(PLACE + "tl.store(y + at, tl.load(x + at, at < n), at < n)", "k[(9,)](x, y, n, B=8)"),
        triton(PLACE + "tl.store(y + at, 1)", "assert n % 8 == 0\n    k[(9,)](x, y, n, B=8)"),
    ],
    "unused_input": [
        forward("return ext.run(x, bias)", parameters="x, bias"),
        forward("return ext.run(x)", parameters="x, _unused"),
        forward("return ext.run(x)", parameters="x, mask=None"),
        model("self.weight = nn.Parameter(torch.ones(3))", "return ext.run(x, self.weight)"),
        model("self.fc = nn.Linear(3, 3)", "return ext.run(x, *self.parameters())"),
        forward("raise NotImplementedError"),
    ],
    "fresh_result": [
        forward("y = torch.zeros_like(x)\n    ext.run(x, y)\n    return y"),
        forward("ext.run(x)\n    return x"),
    ],
    "input_mutation": [
        forward("x.zero_()\n    return x"),
        forward("x = x.clone()\n    x[0] = 1\n    return x + 1"),
        forward("y = torch.empty_like(x)\n    y[0] = x[0]\n    y += 1\n    return y"),
    ],
    "result_cache": [
        "streams = {}\n" + forward("s = streams[x.device]\n    return run(x, s)"),
        "scratch = {}\n" + forward("s = scratch[x.shape]\n    return run(x, s)"),
        forward("return x[x.shape[0] // 2:]"),
        "graphs = {}\n" + forward("g = graphs[x.data_ptr()]\n    g.replay()\n    return g.y"),
        "graphs = {}\n" + forward("return graphs.get(x.data_ptr())"),
        "plans = {}\n" + forward("plan = plans[x.data_ptr()]\n    return run(x, plan)"),
    ],
    "last_call": [
        forward("if x is None:\n        return other\n    return run(x)"),
        forward("if self.graph is None:\n        return self.y\n    return run(x)"),
        model(
            "self.x = self.y = None",
            "if x is self.x:\n            self.launch()\n            return self.y\n        return run(x)",
        ),
    ],
    "call_count": [
        model("self.n = 0", "self.n += 1\n        return run(x)"),
        model(
            "self.n = 0", "self.n += 1\n        if self.n % 10 == 0:\n            print(self.n)\n        return run(x)"
        ),
        forward("n = 0\n    for i in x:\n        n += 1\n    return a if n > 3 else b"),
    ],
    "cuda_graph": [forward("return slow(x) if torch.cuda.is_current_stream_capturing() else run(x)")],
    "file_cache": [
        forward("return load_inline(name='a', cuda_sources=text)"),
        "import os\nwith open(os.path.join(folder, 'kernel.cu'), 'w') as file:\n    file.write(text)\n",
        "def build(text):\n    path = place + '/kernel.cu'\n    if open(path).read() != text:\n        save(path)\n",
    ],
    "seed_replay": [
        model("torch.manual_seed(0); self.w = torch.randn(3)", "return run(x, self.w)"),
        "import torch\ndef init_state(config, seed):\n    g = torch.Generator().manual_seed(seed)\n"
        "    return torch.randn(3, generator=g)\n",
        "def get_inputs():\n    import torch\n    torch.manual_seed(0)\n    return [torch.randn(3)]\n",
    ],
    "shape_branch": [
        forward("assert x.shape[0] == 4096\n    return run(x)"),
        forward("if x.shape[0] != 4096:\n        raise ValueError\n    return run(x)"),
        forward("return a(x) if x.dim() == 2 or x.shape[0] == 1 else b(x)"),
        forward("return a(x) if x.shape[0] > 4096 else b(x)"),
    ],
    "value_branch": [
        forward("if x.shape[0] > max(3, 4):\n        return slow(x)\n    return fast(x)"),
        forward("if torch.isnan(x).any():\n        raise ValueError\n    return fast(x)"),
        forward("return run(x, x.max().item())"),
        forward(
            "for e in range(8):\n        if not (ids == e).any():\n            continue\n        run(e)\n    return y"
        ),
    ],
    "training_branch": [
        model(
            "self.p = 0.5", "if self.training and self.dropout_p:\n            return drop(x)\n        return run(x)"
        ),
        model("self.p = 0.5", "return F.dropout(x, self.p, self.training)"),
    ],
    "loose_weights": [
        forward("model.load_state_dict(x)\n    return model(x)"),
        model("self.packed = None", "return run(x)")
        + "    def load_state_dict(self, *given):\n        self.packed = None\n"
        "        return super().load_state_dict(*given)\n",
    ],
    "narrow_dtype": [
        forward("return run(x.float()) if x.dtype == torch.float16 else run(x.to(torch.float32))"),
        triton("v = tl.dot(x, y, input_precision='ieee').to(tl.float32)", "k[(1,)](x, y, n, B=1)"),
        triton("v = tl.load(x).to(tl.float32) * 2\n    tl.store(y, v.to(tl.bfloat16))", "k[(1,)](x, y, n, B=1)"),
        forward("y = torch.empty(3, dtype=torch.bfloat16)\n    return run(x, y).to(torch.bfloat16)"),
        forward("return run(torch.randn(3, 3).mul(2).half())"),
        forward("if fp16:\n        x = x.half()\n    return run(x)", parameters="x, fp16"),
        forward("if fp16:\n        x = x.half()\n    return run(x)", parameters="x, fp16=False"),
        forward("if torch.is_autocast_enabled():\n        x = x.half()\n    return run(x)"),
    ],
    "backend_settings": [
        forward("return run(x, torch.backends.cuda.matmul.allow_tf32)"),
        forward(
            "old = torch.backends.cudnn.benchmark\n    torch.backends.cudnn.benchmark = True\n    y = run(x)\n"
            "    torch.backends.cudnn.benchmark = old\n    return y"
        ),
    ],
    "torch_stream": [
        forward(
            "own.wait_stream(s)\n    with torch.cuda.stream(own):\n        run(x)\n    s.wait_stream(own)\n    return y"
        ),
        forward("return run(x, torch.cuda.current_stream())"),
        forward("with torch.cuda.stream(given):\n        run(x)\n    return y"),
    ],
    "child_process": [
        "import threading, subprocess\n" + forward("with threading.Lock():\n        return run(x)"),
        "import threading\n" + forward("t = threading.Thread(target=run)\n    t.start()\n    t.join()\n    return y"),
    ],
    "own_timing": [
        forward("e = torch.cuda.Event()\n    return run(x, e)"),
        forward("return run(x)") + "if __name__ == '__main__':\n    import time\n    print(time.time())\n",
        "import time\ndef bench_it():\n    return time.time()\n" + forward("return run(x)"),
        "import time\n" + forward("times = {t: time.perf_counter() - run(x, t) for t in tiles}\n    return min(times)"),
    ],
    "patched_names": [
        HEAD + "import os\nos.environ['A'] = '1'\ntorch.backends.cudnn.benchmark = True\nclass A: pass\nA.b = 1\n",
        model("self.allclose = 3", "x.flag = 1\n        return run(x)"),
        forward("nn = x * 2\n    return run(nn)"),
    ],
    "tensor_subclass": [
        HEAD
        + "class Op(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return run(x)\n",
        model("self.w = nn.Parameter(torch.ones(3))", "return run(x, self.w)"),
    ],
    "harness_sniffing": [
        "import os\nos.environ['TORCH_CUDA_ARCH_LIST'] = '7.5'\nos.environ.setdefault('A', '1')\n"
        + forward("return run(x)"),
        "import inspect\n" + forward("return run(x, inspect.signature)"),
    ],
    "environment_variable": [
        "import os\nhome = os.environ.get('CUDA_HOME')\nos.environ['PATH'] = '/bin:' + os.environ['PATH']\n",
    ],
    "heap_scan": ["import gc\n" + forward("gc.collect()\n    return run(x)")],
    "dynamic_code": [forward("return run(eval('3'), torch.compile(x), re.compile(x))")],
}
