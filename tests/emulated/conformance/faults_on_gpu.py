"""Ask a GPU what it refuses and faults on: `python -m tests.emulated.conformance.faults_on_gpu OUT` (nvcc and a GPU)."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(__file__).with_name("faults.cu")
CASE_S = 60


def asked(program: Path, name: str) -> str:
    """What a case printed: the host call's code, the launch's, that after waiting, then words of the result."""
    try:
        done = subprocess.run([program, name], capture_output=True, text=True, check=False, timeout=CASE_S)
    except subprocess.TimeoutExpired:
        return "no answer in time"
    return done.stdout.strip() if done.returncode == 0 else f"ended with {done.returncode}"


def main() -> None:
    """Build the program, run every case in a process of its own, write `faults.json`."""
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        program = Path(work) / "faults"
        subprocess.run(["nvcc", "-arch=sm_90", "-std=c++17", "-w", "-o", program, SOURCE], check=True)
        names = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
        with ThreadPoolExecutor(4) as pool:
            answers = dict(zip(names, pool.map(lambda name: asked(program, name), names), strict=True))
    (out / "faults.json").write_text(json.dumps(answers, indent=0))
    print(
        f"{len(answers)} cases, {sum(each[0].isdigit() or each[0] == '-' for each in answers.values() if each)} answered"
    )


if __name__ == "__main__":
    main()
