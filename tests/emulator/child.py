"""Runs in a process of its own: the emulated device replaces the allocator of the process that loads it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent

_START = """
import json, sys, torch
from pathlib import Path
torch.set_num_threads(1)
torch.manual_seed(1)
from audit.emulator.library import load
from audit.emulator.runtime import POISON_NAN, POISON_NUMBER, Runtime
early = torch.zeros(4)
runtime = Runtime(Path(sys.argv[1]))
functions = load(Path(sys.argv[2]), sys.argv[3])
answer = {}
"""


def run(built: Any, code: str) -> Any:
    """Run code that has `runtime` and `functions`; it fills `answer`, which comes back."""
    text = f"{_START}\n{code}\nprint(json.dumps(answer))\n"
    command = [sys.executable, "-c", text, str(built.runtime), str(built.library), built.rung]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
