"""Sessions of `.py` variants on the emulated device: what they find there, and what they do to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from audit.build.emulated.device import EmulatedDevice
from audit.model import Variant
from audit.run.messages.requests import Session, Step
from audit.run.processes.pool import Reply, Workers

REFERENCE = """
import torch
def get_init_inputs(): return [3]
def reference(x): return x.mul_(2)
"""
INLINE = """
from torch.utils.cpp_extension import load_inline
CUDA = '''
__global__ void twice(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
torch::Tensor run(torch::Tensor x) { TORCH_CHECK(x.is_cuda(), "no GPU"); auto y = x.clone();
  twice<<<1, 32>>>(y.data_ptr<float>(), y.numel()); return y; }
'''
"""


def asked(
    workers: Workers,
    folder: Path,
    text: str,
    *runs: str,
    memory: str = "plain",
    order: str = "forward",
    check: bool = False,
    capability: int = 75,
    fill: str | None = None,
) -> Reply:
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "claimed.py").write_text(text)
    torch.save([torch.arange(6.0)], folder / "0.pt")
    variant = Variant(file="claimed.py", role="claimed", technique="t")
    built = EmulatedDevice(compute_capability=capability).build(folder / "claimed.py", variant, optimisation="O2")
    request = Session(
        device=built.settings(memory=memory, order=order, check=check, fill=fill),
        entry="forward",
        reference=folder / "reference.py",
        inputs=(folder / "0.pt",),
        output_bytes=((24,),),
        steps=tuple(Step.model_validate({"run": run, "case": 0}) for run in runs or ("claim",)),
        folder=folder,
    )
    return workers.call(request, limit_s=30.0)


def value(folder: Path, step: int = 0) -> list[float]:
    found: list[float] = np.fromfile(folder / f"{step}.bin", dtype=np.float32).tolist()
    return found


@pytest.mark.parametrize(
    "text",
    [
        "def forward(x): return x * 2 if x.is_cuda and not x.is_cpu else x",
        "def forward(x): return x * 2 if x.device.type == 'cuda' else x",
        "import torch\ndef forward(x): return torch.full((6,), 2.0, device='cuda') * x",
        "import torch\ndef forward(x): return torch.full((6,), 2.0, device=x.device).to('cuda:0') * x.cuda()",
        "import torch\nassert torch.cuda.is_available()\ndef forward(x):\n  torch.cuda.synchronize()\n  return 2 * x",
        "import torch\nt = torch.tensor(2.0, device=torch.device('cuda'))\ndef forward(x): return x * t",
        "import torch\nd = torch.device('cuda:0')\ndef forward(x): return 2 * x if x.device == d else x",
        "import torch\nd = torch.device('cuda')\ntorch.set_default_device(d)\nt = torch.tensor(2.0)\n"
        "def forward(x):\n  with d: return x * t * torch.ones(6)",
        "import torch\nclass ModelNew(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.w = torch.nn.Parameter(torch.ones(6))\n        self.n = n\n"
        "    def forward(self, x): return x * self.w * (self.n - 1)",
    ],
)
def test_a_source_written_for_a_gpu_takes_its_gpu_path(workers: Workers, tmp_path: Path, text: str) -> None:
    reply = asked(workers, tmp_path, text)
    assert reply.finished, reply.detail
    assert "raised" not in reply.events[0]
    assert value(tmp_path) == [0, 2, 4, 6, 8, 10]
    assert (reply.events[0]["device"], reply.events[0]["returned"]) == ("cpu", "Tensor")


def test_a_cuda_text_runs_in_the_emulator(workers: Workers, tmp_path: Path) -> None:
    text = (
        f"{INLINE}e = load_inline('e', 'torch::Tensor run(torch::Tensor x);', CUDA, functions='run')\nforward = e.run\n"
    )
    reply = asked(workers, tmp_path, text)
    assert reply.finished, reply.detail
    assert value(tmp_path) == [0, 2, 4, 6, 8, 10]
    (launch,) = reply.events[0]["launches"]
    lines = text.splitlines()
    assert (launch["kernel"], "<<<" in lines[launch["line"] - 1]) == ("twice", True)


def test_a_text_made_at_run_time_is_not_run(workers: Workers, tmp_path: Path) -> None:
    text = f"{INLINE}CUDA_READ = ['', CUDA]\nif True:\n    CUDA_READ[0] = '//'\n"
    text += "load_inline('e', 'torch::Tensor run(torch::Tensor x);', CUDA_READ, functions='run')\n"
    reply = asked(workers, tmp_path, text)
    assert reply.ending == "raised"
    assert "the build stage read other texts" in reply.detail


@pytest.mark.parametrize(
    ("text", "ending", "detail"),
    [
        ("raise ValueError('not today')", "raised", "ValueError: not today"),
        ("def other(x): return x", "raised", "no function forward and no class ModelNew; the module has: other"),
        ("import sys\nsys.exit(0)", "ended", "ended itself with exit code 0"),
        ("import os\nprint('done')\nos._exit(0)", "ended", "ended itself with exit code 0"),
        ("class ModelNew:\n    def __init__(self): ...", "raised", "line 2: ModelNew does not take the 1 argument"),
    ],
)
def test_a_source_that_does_not_load_ends_its_session(
    workers: Workers, tmp_path: Path, text: str, ending: str, detail: str
) -> None:
    reply = asked(workers, tmp_path, text)
    assert (reply.ending, reply.events) == (ending, ())
    assert detail in reply.detail


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import time\ntime.perf_counter = lambda: 0.0\n", ["time.perf_counter"]),
        ("import torch\ntorch.Tensor.cpu = lambda x: x\n", ["torch.Tensor.cpu"]),
        ("import torch\ntorch.cuda.Event.elapsed_time = None\n", ["torch.cuda.Event.elapsed_time"]),
        ("import torch\ntorch.cuda.synchronize = print\n", ["torch.cuda.synchronize"]),
        ("import builtins\nbuiltins.open = None\n", ["builtins.open"]),
        ("import sys\nsys.setprofile(lambda *_: None)\n", ["sys.setprofile"]),
        ("import gc\ngc.callbacks.append(lambda *_: None)\n", ["gc.callbacks"]),
        ("from torch.overrides import TorchFunctionMode as M\nM().__enter__()\n", ["function modes"]),
        ("import time\nfrom time import perf_counter\n", []),
    ],
)
def test_what_a_source_replaces_is_told(workers: Workers, tmp_path: Path, text: str, names: list[str]) -> None:
    reply = asked(workers, tmp_path, f"{text}def forward(x): return x * 2\n")
    assert reply.finished, reply.detail
    assert reply.events[0]["replaced"] == names


FINDS = """
import gc
def forward(x):
    found = [each for each in gc.get_objects() if type(each) is type(forward) and each.__name__ == "reference"]
    return x * (1 if found else 2)
"""


def test_the_reference_is_in_the_process_only_where_it_is_called(workers: Workers, tmp_path: Path) -> None:
    assert asked(workers, tmp_path, FINDS, "claim").finished
    assert value(tmp_path) == [0, 2, 4, 6, 8, 10]
    assert asked(workers, tmp_path, FINDS, "claim", "reference").finished
    assert value(tmp_path) == [0, 1, 2, 3, 4, 5]


def test_a_call_in_place_does_not_change_what_the_next_is_asked(workers: Workers, tmp_path: Path) -> None:
    reply = asked(workers, tmp_path, "def forward(x): return x.mul_(2)", "reference", "claim", "claim")
    assert all(event["bytes_changed"][0] > 0 for event in reply.events)
    assert value(tmp_path, 0) == value(tmp_path, 1) == value(tmp_path, 2) == [0, 2, 4, 6, 8, 10]


def test_a_subclass_is_told_by_its_full_name(workers: Workers, tmp_path: Path) -> None:
    text = "import torch\nclass Tensor(torch.Tensor): late = 1\ndef forward(x): return x.as_subclass(Tensor)"
    assert asked(workers, tmp_path, text).events[0]["returned"] == "audited_claimed.Tensor"


SEEDS = """
import torch.cuda.random
torch.cuda.random.device_count = lambda: 1
torch.manual_seed(1)
def forward(x): return x * 2
"""


def test_seeding_does_not_reach_for_a_gpu_that_is_only_posed_for(workers: Workers, tmp_path: Path) -> None:
    reply = asked(workers, tmp_path, SEEDS)
    assert reply.finished, reply.detail


def test_a_comparison_that_a_source_replaces_is_told(workers: Workers, tmp_path: Path) -> None:
    text = "import torch\ntorch.equal = lambda *_: True\ndef forward(x): return x * 2"
    assert asked(workers, tmp_path, text).events[0]["replaced"] == ["torch.equal"]
    assert not asked(workers, tmp_path, text.replace("torch.equal", "equal")).events[0].get("replaced")


@pytest.mark.parametrize(
    ("returned", "sharing"),
    [
        ("x, x + 1", []),
        ("x, x", [[0, 1]]),
        ("x, x[2:], x + 1", [[0, 1]]),
        ("x + 1, x, x[2:], x[:1]", [[1, 2], [1, 3]]),
        ("*x.clone().split(3),", []),
        ("x, x[:0]", []),
        ("x[::2], x[1::2]", []),
    ],
)
def test_outputs_that_share_memory_are_named(
    workers: Workers, tmp_path: Path, returned: str, sharing: list[list[int]]
) -> None:
    (event,) = asked(workers, tmp_path, f"def forward(x):\n    return ({returned})\n").events
    assert event.get("sharing", []) == sharing


def test_a_module_of_other_arguments_is_one_sentence_with_its_line(workers: Workers, tmp_path: Path) -> None:
    text = "class ModelNew:\n    def __init__(self, n, scale): ...\n    def __call__(self, x): return x\n"
    reply = asked(workers, tmp_path, text)
    assert not reply.finished
    said = (
        "line 2: ModelNew does not take the 1 argument of the reference's get_init_inputs: missing a required argument"
    )
    assert said in reply.detail and "'scale'" in reply.detail
