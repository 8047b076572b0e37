"""Kernels that do not compile, crash, hang or return nonsense: each is a finding, and the rest of the audit goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.audit import Audit
from audit.build.emulated.device import EmulatedDevice
from audit.model import Finding, Record
from audit.report.progress import Progress
from audit.run.processes.pool import Workers

pytestmark = pytest.mark.audits

HEAD = """#include <torch/extension.h>
#include <cuda_runtime.h>
__global__ void twice(const float* x, float* y, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {kernel}
}}
torch::Tensor forward(torch::Tensor x) {{
    auto y = torch::empty_like(x);
    int n = x.numel();
    {host}
    twice<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("forward", &forward); }}
"""
RIGHT = "if (i < n) y[i] = 2.0f * x[i];"
BAD = {
    "right": {},
    "syntax": {"kernel": "if (i < n y[i] = 2.0f * x[i];"},
    "assembly": {"kernel": 'asm volatile("mbarrier.inval.b64 [%0];" ::"l"(y)); ' + RIGHT},
    "crash": {"host": "*(volatile int*)8 = 1;"},
    "aborts": {"host": "if (n != 0) abort();"},
    "raises": {"host": 'TORCH_CHECK(n == 0, "n must be zero");'},
    "endless": {"kernel": "volatile int go = 1; while (go) { }"},
    "absurd": {"host": "twice<<<dim3(65535, 65535, 64), 1024>>>(x.data_ptr<float>(), y.data_ptr<float>(), 0);"},
    "refused": {"host": "twice<<<1, 2048>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"},
    "exits": {"host": 'fprintf(stderr, "n must\\x1b[31m be zero\\n"); exit(4);'},
    "exits_after_a_fault": {
        "host": "twice<<<1, 64>>>(x.data_ptr<float>(), y.data_ptr<float>() + (1ll << 40), n);"
        'if (auto seen = cudaDeviceSynchronize()) { printf("%s", cudaGetErrorString(seen)); std::exit(EXIT_FAILURE); }'
    },
    "exits_in_silence": {
        "host": "twice<<<1, 2048>>>(x.data_ptr<float>(), y.data_ptr<float>(), n); if (cudaGetLastError()) exit(1);"
    },
    "large_shared": {
        "host": "cudaFuncSetAttribute(twice, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304);"
        "twice<<<1, 64, 98304>>>(x.data_ptr<float>(), y.data_ptr<float>(), 0);"
    },
}
OF_PYTHON = {
    "raises_once": 'if x.numel() <= 1: raise RuntimeError("n must be over 1")',
    "endless_host": "time.sleep(60)",
    "exits_in_a_child": """import ctypes, os
    if calls: return x * 2
    calls.append(None)
    if child := os.fork(): os.waitpid(child, 0)
    else: ctypes.CDLL(None).exit(5)""",
    "shape": "return (x * 2).repeat(2)",
    "dtype": "return (x * 2).double()",
    "device": 'return torch.empty_like(x, device="meta")',
    "no_tensor": "return x.numel()",
    "no_memory": """calls.append(None)
    if x.numel() > 1 and len(calls) > 1:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")""",
}
"""A line before the right one: of Python, as nothing has to be compiled for it."""
PYTHON = "import time\nimport torch\ncalls = []\ndef forward(x):\n    {line}\n    return x * 2\n"
DEFAULTS = {"kernel": RIGHT, "host": ""}
REFERENCE = """import torch
def inputs(shape, generator): return [torch.randn(shape["N"], generator=generator)]
def reference(x): return x * 2
def oracle(x): return x.double() * 2
def cost(shape): return {"flops": shape["N"], "bytes": 8 * shape["N"]}
"""
CLAIM = """name = "bad"
title = "t"
task = "y = 2x"
dtype = "float32"
baseline = "x * 2"
source = { title = "t", authors = "a", published = "2026", url = "u", fidelity = "verbatim", note = "n" }
protocol = { steps = ["s"] }
tolerance = { relative = 1e-5, reason = "r" }
shapes = { claimed = { N = 1000 }, others = [], emulated = [{ N = 1 }, { N = 100 }] }
"""


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory, workers: Workers) -> Record:
    folder = tmp_path_factory.mktemp("bad")
    text = CLAIM
    for name, parts in BAD.items():
        (folder / f"{name}.cu").write_text(HEAD.format(**{**DEFAULTS, **parts}))
        text += f'[[variant]]\nfile = "{name}.cu"\nrole = "repair"\ntechnique = "t"\n'
    for name, line in OF_PYTHON.items():
        (folder / f"{name}.py").write_text(PYTHON.format(line=line))
        text += f'[[variant]]\nfile = "{name}.py"\nrole = "repair"\ntechnique = "t"\n'
    (folder / "claim.toml").write_text(text)
    (folder / "reference.py").write_text(REFERENCE)
    device = EmulatedDevice(session_limit_s=5.0, kernel_limit_s=0.1)
    with Audit(claims.load(str(folder)), device, folder / "out", workers=workers, progress=Progress()) as audit:
        return audit.run()


def found(record: Record, variant: str, probe: str) -> Finding:
    (finding,) = [one for one in record.findings if (one.target, one.probe) == (variant, probe)]
    return finding


def test_the_right_one_is_cleared_among_all_the_others(record: Record) -> None:
    assert {rung.variant for rung in record.ladder if rung.state == "passed"} == {"right"}


@pytest.mark.parametrize(
    ("variant", "probe", "outcome", "words"),
    [
        ("syntax", "build", "error", "does not compile"),
        ("assembly", "build", "skip", "inline PTX with mbarrier.inval.b64"),
        ("crash", "contract", "error", "SIGSEGV"),
        ("aborts", "contract", "error", "the process died of SIGABRT, which its code or a library raised by abort()"),
        ("raises", "contract", "error", "n must be zero"),
        ("raises_once", "contract", "error", "N=1: the call raised RuntimeError: n must be over 1"),
        ("raises_once", "agreement", "pass", "right at 1 shape in"),
        ("no_memory", "contract", "error", "other processes and the audit use too, is full: CUDA out of memory. Tried"),
        ("endless", "contract", "error", "stopped the kernel"),
        ("endless_host", "contract", "error", "did not finish within 5 s"),
        ("absurd", "contract", "error", "stopped the kernel"),
        ("refused", "contract", "fail", "refused"),
        ("exits", "contract", "error", "raised Exit: the source called exit(4); it had printed: n must be zero"),
        ("exits_after_a_fault", "contract", "fail", "exit(1); it had printed: an illegal memory access was"),
        ("exits_after_a_fault", "memory_access", "fail", "illegal-address in line 5 of twice"),
        ("exits_in_silence", "contract", "fail", "exit(1); the device had reported: launch-refused: the GPU refuses"),
        ("exits_in_a_child", "contract", "pass", "every call ended"),
        ("large_shared", "contract", "skip", "a newer GPU allows that much"),
        ("shape", "contract", "fail", "got a float32 tensor of shape [2]"),
        ("dtype", "contract", "fail", "got a float64 tensor"),
        ("device", "contract", "fail", "on meta"),
        ("no_tensor", "contract", "fail", "no tensor but int"),
    ],
)
def test_each_defect_is_a_finding(record: Record, variant: str, probe: str, outcome: str, words: str) -> None:
    finding = found(record, variant, probe)
    assert (finding.outcome, words in finding.summary) == (outcome, True), finding.summary


def test_a_compile_error_keeps_the_compilers_words(record: Record) -> None:
    (note,) = [note for note in record.environment.builds if note.variant == "syntax"]
    assert "error:" in note.log
    assert note.outcome == "does not compile"


def test_crashes_and_hangs_fail_no_kernel(record: Record) -> None:
    for variant in ("syntax", "assembly", "crash", "raises", "exits", "no_memory", "endless", "endless_host", "absurd"):
        assert not [finding for finding in record.findings if finding.target == variant and finding.fails_kernel]


@pytest.mark.parametrize(
    ("shapes", "check", "probe"),
    [
        ("[{ N = 10 }, { N = 1000 }]", "n <= 64", "contract"),
        ("[{ N = 1000 }, { N = 10 }]", "n <= 64", "claimed_launches"),
        ("[{ N = 1000 }, { N = 20 }]", "n == 10", "contract"),
    ],
    ids=["the claimed shape is run", "a smaller one is run", "one size alone is taken"],
)
def test_a_source_that_refuses_its_claimed_size_is_wrong_there(
    shapes: str, check: str, probe: str, tmp_path: Path, workers: Workers
) -> None:
    host = f'TORCH_CHECK({check}, "other rows than one block takes");'
    (tmp_path / "claimed.cu").write_text(HEAD.format(**{**DEFAULTS, "host": host}))
    text = CLAIM.replace("[{ N = 1 }, { N = 100 }]", f'{shapes}, emulated_by = "importer"')
    (tmp_path / "claim.toml").write_text(text + '[[variant]]\nfile = "claimed.cu"\nrole = "claimed"\ntechnique = "t"\n')
    (tmp_path / "reference.py").write_text(REFERENCE)
    device = EmulatedDevice(session_limit_s=20.0, kernel_limit_s=5.0)
    with Audit(claims.load(str(tmp_path)), device, tmp_path / "out", workers=workers, progress=Progress()) as audit:
        record = audit.run()
    words = "N=1000, the claimed shape, is refused: RuntimeError: other rows than one block takes; N=10 comes back"
    assert record.verdict.name == "wrong"
    assert record.verdict.reasons[0].startswith(f"{probe}: {words}")
