"""Choices of Triton's autotuner, kept for the sessions of an audit, with kernels that need no GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, sys
from pathlib import Path
import triton
from triton.runtime.autotuner import Autotuner
from audit.run.devices import tuned

def scale(x, n): ...

class Kernel:
    fn, ran = staticmethod(scale), []
    def run(self, *args, **named):
        self.ran.append(named)

configs = [triton.Config({"block": 64}, num_warps=2), triton.Config({"block": 128}, num_stages=5, maxnreg=40)]
configs[1].pre_hook = lambda given: None
fastest = iter(map(float, sys.argv[2].split(",")))
benched = []

def bench(call, quantiles):
    benched.append(call())
    return [next(fastest)] * 3

tuned.keep(Path(sys.argv[1]))
tuned.keep(Path(sys.argv[1]))
tuner = Autotuner(Kernel(), ["x", "n"], configs, ["n"], None, None, do_bench=bench, cache_results=True)
before = tuned.taken(tuned.of_this_process())
tuner.run(1, 8)
tuner.run(1, 8)
print(json.dumps({"before": before, "taken": tuned.taken(tuned.of_this_process()), "trials": len(benched)}))
"""
FIRST = "block=64, num_warps=2, num_stages=3"
SECOND = "block=128, num_warps=4, num_stages=5, maxnreg=40"


def session(folder: Path, times: str) -> dict[str, object]:
    words = [sys.executable, "-c", SCRIPT, str(folder), times]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_later_sessions_take_the_choice_of_the_first_where_configurations_have_hooks(tmp_path: Path) -> None:
    first, later = session(tmp_path, "2,1"), session(tmp_path, "1,2")
    assert (first["before"], first["trials"], later["trials"]) == ([], 2, 0)
    assert first["taken"] == later["taken"] == [{"kernel": "scale", "configuration": SECOND, "of": 2}]
    (tmp_path / "other").mkdir()
    assert session(tmp_path / "other", "1,2")["taken"] == [{"kernel": "scale", "configuration": FIRST, "of": 2}]
