"""Code in a process of its own: the emulated device replaces the allocator of the process that loads it.

The processes are forked from one that has imported torch, as those of an audit are (`run/processes/fork_server.py`).
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
LIMIT_S = 120
GPU_LIMIT_S = 500
DEVICES = ("emulated", pytest.param("cuda", marks=pytest.mark.skipif(not shutil.which("nvidia-smi"), reason="no GPU")))

_START = """
import json, torch
from pathlib import Path
torch.set_num_threads(1)
torch.manual_seed(1)
from audit.build.emulated.library import load
from audit.build.settings import POISON_NAN, POISON_NUMBER
from audit.build.emulated.runtime import Runtime
from audit.build.settings import Configuration
class Configured(Runtime):
    configure = lambda self, **settings: Runtime.configure(self, Configuration(**settings))
early = torch.zeros(4)
runtime = Configured(Path(RUNTIME))
functions = load(Path(LIBRARY), HEADER_SET, prefix=runtime.prefix)
answer = {}
"""
_START_ON_GPU = """
import json, torch
from torch.utils import cpp_extension
class Runtime:
    configure = reset = recover = lambda self, **settings: None
    reports = lambda self: []
runtime = Runtime()
flags = {"extra_cuda_cflags": ["-O3", "-std=c++17"], "extra_ldflags": ["-lcublas"]}
module = cpp_extension.load("asked", [SOURCE], **flags)
functions = {name: getattr(module, name) for name in dir(module)}
torch.set_default_device("cuda")
torch.manual_seed(1)
answer = {}
"""
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["torch", "audit.build.emulated.library", "audit.build.emulated.runtime"])


def run(built: Any, code: str) -> Any:
    """Run code that has `runtime` and `functions`; it fills `answer`, which comes back."""
    here, there = _FORKS.Pipe(duplex=False)
    names = {"RUNTIME": str(built.runtime), "LIBRARY": str(built.library), "HEADER_SET": built.header_set}
    child = _FORKS.Process(target=_answer, args=(there, names, code))
    child.start()
    there.close()
    assert here.poll(LIMIT_S), "no answer in time"
    try:
        result = here.recv_bytes()
    except EOFError:
        result = b""
    child.join(LIMIT_S)
    assert child.exitcode == 0, f"the process ended with {child.exitcode}"
    return json.loads(result)


def run_on_gpu(source: Path, code: str, work: Path) -> Any:
    """Run the same code on a GPU, the source built by torch into the folder `work`; a GPU reports nothing."""
    text = _START_ON_GPU.replace("SOURCE", repr(str(source))) + code + "\nprint(json.dumps(answer))"
    environment = {**os.environ, "TORCH_EXTENSIONS_DIR": str(work)}
    words = [sys.executable, "-c", text]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=GPU_LIMIT_S)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def _answer(sender: Connection, names: dict[str, Any], code: str) -> None:
    exec(compile(_START + code, "<child>", "exec"), names)
    sender.send_bytes(json.dumps(names["answer"]).encode())
