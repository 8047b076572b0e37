"""Code in a process of its own: the emulated device replaces the allocator of the process that loads it.

The processes are forked from one that has imported torch, as those of an audit are (`audit/run/fork_server.py`).
"""

from __future__ import annotations

import json
import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
LIMIT_S = 120

_START = """
import json, torch
from pathlib import Path
torch.set_num_threads(1)
torch.manual_seed(1)
from audit.build.emulated.library import load
from audit.build.emulated.runtime import POISON_NAN, POISON_NUMBER, Runtime
early = torch.zeros(4)
runtime = Runtime(Path(RUNTIME))
functions = load(Path(LIBRARY), RUNG, prefix=runtime.prefix)
answer = {}
"""
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["torch", "audit.build.emulated.library", "audit.build.emulated.runtime"])


def run(built: Any, code: str) -> Any:
    """Run code that has `runtime` and `functions`; it fills `answer`, which comes back."""
    here, there = _FORKS.Pipe(duplex=False)
    names = {"RUNTIME": str(built.runtime), "LIBRARY": str(built.library), "RUNG": built.rung}
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


def _answer(sender: Connection, names: dict[str, Any], code: str) -> None:
    exec(compile(_START + code, "<child>", "exec"), names)
    sender.send_bytes(json.dumps(names["answer"]).encode())
